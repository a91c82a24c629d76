//! The corpus of hard replies: each file says what must become of it, and the text of every
//! violation is under snapshot, one snapshot a group.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use countersign_contract::contract::Contract;
use countersign_contract::json::RepairLevel;
use countersign_contract::reply::{
    AdmissionOptions, AdmissionVerdict, FinishReason, IntakeMode, RuleContext,
};
use countersign_shipped_contracts::load_shipped_contracts;

struct Case {
    name: String,
    contract: String,
    intake: Option<IntakeMode>,
    repairs: Option<RepairLevel>,
    finish: FinishReason,
    accepted: bool,
    codes: BTreeSet<String>,
    repairs_made: Option<Vec<String>>,
    reply: Vec<u8>,
}

macro_rules! groups {
    ($($group:ident)*) => {
        $(#[test]
        fn $group() {
            let shown = run(stringify!($group));
            insta::assert_snapshot!(stringify!($group), shown);
        })*

        #[test]
        fn every_folder_is_a_group() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/replies");
            let folders: BTreeSet<String> = fs::read_dir(folder).unwrap()
                .map(|entry| entry.unwrap())
                .filter(|entry| entry.file_type().unwrap().is_dir())
                .map(|entry| entry.file_name().into_string().unwrap())
                .collect();
            assert_eq!(folders, BTreeSet::from([$(stringify!($group).to_owned()),*]));
        }
    };
}

groups! { strict fenced tolerant decoys syntax limits numbers unicode schema rules truncated }

/// Runs a group; gives what a person would read, case by case.
fn run(group: &str) -> String {
    let registry = load_shipped_contracts();
    let mut shown = String::new();
    let mut wrong = Vec::new();
    for case in cases(group) {
        let contract = registry.find(&case.contract).unwrap();
        let terms = terms(contract, &case);
        let verdict = contract.admit_bytes(&case.reply, terms, &RuleContext::default());
        wrong.extend(judge(&case, &verdict));
        let _ = writeln!(shown, "{}:", case.name);
        match &verdict {
            AdmissionVerdict::Accepted(accepted) => {
                let repairs = accepted.repairs().iter().map(|repair| {
                    format!(" +{}@{}-{}", repair.kind.as_str(), repair.span.start, repair.span.end)
                });
                let _ = writeln!(shown, "  accepted{}", repairs.collect::<String>());
            }
            AdmissionVerdict::Refused(violations) => {
                for violation in violations {
                    let _ = writeln!(shown, "  {violation}");
                    if let Some(hint) = &violation.hint {
                        let _ = writeln!(shown, "    hint: {hint}");
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases went wrong:\n{}", wrong.len(), wrong.join("\n"));
    shown
}

fn judge(case: &Case, verdict: &AdmissionVerdict) -> Option<String> {
    let name = &case.name;
    match verdict {
        AdmissionVerdict::Accepted(accepted) => {
            let made: Vec<String> =
                accepted.repairs().iter().map(|repair| repair.kind.as_str().to_owned()).collect();
            // In this group the quoted verdict always says PASS, the real one never.
            let decoy = name.starts_with("decoys/") && accepted.value()["verdict"] == "PASS";
            if !case.accepted {
                Some(format!("{name}: accepted, should be refused with {:?}", case.codes))
            } else if decoy {
                Some(format!("{name}: took the decoy"))
            } else if case.repairs_made.as_ref().is_some_and(|expected| *expected != made) {
                Some(format!("{name}: repairs {made:?}, should be {:?}", case.repairs_made))
            } else {
                None
            }
        }
        AdmissionVerdict::Refused(violations) => {
            let codes: BTreeSet<String> =
                violations.iter().map(|violation| violation.code.to_string()).collect();
            if case.accepted {
                Some(format!("{name}: refused with {codes:?}, should be accepted"))
            } else {
                (codes != case.codes)
                    .then(|| format!("{name}: {codes:?}, should be {:?}", case.codes))
            }
        }
    }
}

/// The terms the case asks for, where it asks.
fn terms(contract: &Contract, case: &Case) -> AdmissionOptions {
    let mut terms = contract.admission_options(case.finish);
    if let Some(intake) = case.intake {
        terms.intake = intake;
        terms.repairs = intake.default_repairs();
    }
    terms.repairs = case.repairs.unwrap_or(terms.repairs);
    terms
}

fn cases(group: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/replies").join(group);
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| case(group, file)).collect()
}

fn case(group: &str, file: &Path) -> Case {
    let name = format!("{group}/{}", file.file_stem().unwrap().to_str().unwrap());
    let bytes = fs::read(file).unwrap();
    let rule = bytes.windows(5).position(|window| window == b"\n---\n").expect("a line `---`");
    let header = std::str::from_utf8(&bytes[..rule]).unwrap();
    let body = bytes[rule + 5..].strip_suffix(b"\n").unwrap_or(&bytes[rule + 5..]);
    let mut reply = Vec::new();
    let mut fields = std::collections::BTreeMap::new();
    for line in header.lines() {
        let (key, value) = line.split_once(':').unwrap_or_else(|| panic!("{name}: {line}"));
        let value = value.trim();
        if key == "repeat" {
            let (times, text) = value.split_once(' ').unwrap();
            let text: String = serde_json::from_str(text).unwrap();
            reply.extend(text.repeat(times.parse().unwrap()).into_bytes());
        } else {
            fields.insert(key, value);
        }
    }
    reply.extend(if fields.get("escapes") == Some(&"yes") {
        unescape(body)
    } else {
        body.to_vec()
    });
    let list = |key: &str| -> Option<Vec<String>> {
        let value = fields.get(key)?;
        Some(
            value
                .split(',')
                .map(|item| item.trim().to_owned())
                .filter(|item| !item.is_empty())
                .collect(),
        )
    };
    Case {
        contract: fields["contract"].to_owned(),
        intake: fields.get("intake").map(|name| IntakeMode::parse(name).unwrap()),
        repairs: fields.get("repairs").map(|name| RepairLevel::parse(name).unwrap()),
        finish: if fields.get("finish") == Some(&"length") {
            FinishReason::Length
        } else {
            FinishReason::Stop
        },
        accepted: fields["expect"] == "accepted",
        codes: list("codes").unwrap_or_default().into_iter().collect(),
        repairs_made: list("repairs_made"),
        reply,
        name,
    }
}

/// `\xNN` is a byte, `\u{…}` a code point, `\\` a backslash.
fn unescape(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = body;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after.first()) {
            (b'\\', Some(b'\\')) => {
                bytes.push(b'\\');
                rest = &after[1..];
            }
            (b'\\', Some(b'x')) => {
                let digits = std::str::from_utf8(&after[1..3]).unwrap();
                bytes.push(u8::from_str_radix(digits, 16).unwrap());
                rest = &after[3..];
            }
            (b'\\', Some(b'u')) if after.get(1) == Some(&b'{') => {
                let end = after.iter().position(|&byte| byte == b'}').unwrap();
                let digits = std::str::from_utf8(&after[2..end]).unwrap();
                let character = char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap();
                bytes.extend(character.to_string().bytes());
                rest = &after[end + 1..];
            }
            _ => bytes.push(byte),
        }
    }
    bytes
}

/// Whatever is cut off a whole reply, none of what remains is accepted, at any level, when the
/// provider says that it was cut; and never without a guess when nobody says so.
#[test]
fn a_reply_cut_at_any_byte_is_never_accepted() {
    let reply = "{\"verdict\": \"RETRY\", \"reasons\": [\"не хватает «данных» \\\"x\\\" 数据\"], \
                 \"required_actions\": [\"RETRIEVE_DB\"], \"risk_level\": \"low\"}";
    let registry = load_shipped_contracts();
    let contract = registry.find("guardian_report").unwrap();
    let accepted = |bytes: &[u8], terms| {
        contract.admit_bytes(bytes, terms, &RuleContext::default()).as_accepted().is_some()
    };
    for intake in IntakeMode::ALL {
        for repairs in RepairLevel::ALL {
            let cut_off = AdmissionOptions { intake, repairs, finish: FinishReason::Length };
            let unknown = AdmissionOptions { finish: FinishReason::Stop, ..cut_off };
            assert!(accepted(reply.as_bytes(), cut_off), "{cut_off:?}");
            for cut in 0..reply.len() {
                let bytes = &reply.as_bytes()[..cut];
                assert!(!accepted(bytes, cut_off), "{cut_off:?} cut at {cut}");
                let guessed = repairs == RepairLevel::Guess;
                assert!(guessed || !accepted(bytes, unknown), "{unknown:?} cut at {cut}");
            }
        }
    }
}
