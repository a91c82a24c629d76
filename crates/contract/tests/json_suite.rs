//! JSONTestSuite: what must be read is read, what must be refused is refused, nothing crashes.

#![expect(clippy::disallowed_methods, reason = "tests read their data from files")]
#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;

use countersign_contract::contract::{Contract, load_inline_contract};
use countersign_contract::json::{self, JsonDataLossKind, RepairLevel};
use countersign_contract::reply::{AdmissionOptions, FinishReason, RuleContext, ViolationCode};

/// The files of one kind: name and bytes.
fn files(kind: &str, test: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let Some(folder) = testkit::find_data("json-parsing/test_parsing") else {
        testkit::report_not_run(test, "no folder json-parsing in the test data");
        return None;
    };
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .filter(|(name, _)| name.starts_with(kind))
        .collect();
    files.sort();
    Some(files)
}

fn anything() -> Contract {
    load_inline_contract("id: anything\nversion: 1.0.0\nschema: true").unwrap()
}

#[test]
fn what_must_be_read_is_read() {
    let Some(files) = files("y_", "json_suite::what_must_be_read_is_read") else { return };
    assert_eq!(files.len(), 95);
    for (name, bytes) in files {
        let text = std::str::from_utf8(&bytes).unwrap();
        let reading = json::parse_json(text, RepairLevel::None)
            .unwrap_or_else(|stop| panic!("{name}: {stop:?}"));
        assert!(reading.repairs.is_empty(), "{name}");
        // The same value as everybody else reads, but for what we refuse to lose.
        assert_eq!(
            reading.value,
            serde_json::from_str::<serde_json::Value>(text).unwrap(),
            "{name}"
        );
        let twice = name.contains("duplicated_key");
        let flaws: Vec<JsonDataLossKind> =
            reading.data_losses.iter().map(|flaw| flaw.kind).collect();
        assert_eq!(
            flaws,
            if twice { vec![JsonDataLossKind::DuplicateKey] } else { vec![] },
            "{name}"
        );
        if twice {
            let verdict = anything().admit(text, FinishReason::Stop, &RuleContext::default());
            assert_eq!(verdict.violations()[0].code, ViolationCode::DuplicateKey, "{name}");
        }
    }
}

#[test]
fn what_must_be_refused_is_refused() {
    let Some(files) = files("n_", "json_suite::what_must_be_refused_is_refused") else { return };
    assert_eq!(files.len(), 188);
    for (name, bytes) in files {
        if let Ok(text) = std::str::from_utf8(&bytes) {
            assert!(json::parse_json(text, RepairLevel::None).is_err(), "{name}");
        }
        let verdict =
            anything().admit_bytes(&bytes, AdmissionOptions::default(), &RuleContext::default());
        assert!(verdict.as_accepted().is_none(), "{name}");
    }
}

#[test]
fn nothing_crashes_at_any_level() {
    for kind in ["i_", "n_", "y_"] {
        let Some(files) = files(kind, "json_suite::nothing_crashes_at_any_level") else { return };
        for (name, bytes) in files {
            for intake in countersign_contract::reply::IntakeMode::ALL {
                for repairs in RepairLevel::ALL {
                    let terms = AdmissionOptions { intake, repairs, finish: FinishReason::Stop };
                    let verdict = anything().admit_bytes(&bytes, terms, &RuleContext::default());
                    let decided =
                        verdict.as_accepted().is_some() || !verdict.violations().is_empty();
                    assert!(decided, "{name}");
                }
            }
        }
    }
}
