//! Ordinary noisy replies, and quotations that are no replies, at the default level: how many are
//! taken right, and that nothing is taken wrong.
//!
//! `noise/truths.json` names the values. Each entry of `noise/*.txt` begins with `== NAME TRUTH` and
//! runs to the next such line. In the text `@@NAME@@` is a value on one line, `@@NAME+@@` the same on
//! several, `@@U+00A0@@` that character. The files `*_held.txt` were written together with the others
//! and were not looked at while the door was tuned.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use countersign_contract::contract::{Contract, load_inline_contract};
use countersign_contract::reply::{
    AdmissionOptions, AdmissionVerdict, FinishReason, IntakeMode, RuleContext,
};
use countersign_shipped_contracts::load_shipped_contracts;
use serde_json::Value;

const TICKET: &str = "id: ticket\nversion: 1.0.0\nintake: tolerant\nschema:\n  type: object\n  \
    required: [queue, priority, summary]\n  additionalProperties: false\n  properties:\n    \
    queue: { enum: [billing, sales, spam] }\n    priority: { type: integer, minimum: 1, maximum: 5 }\n    \
    refund: { type: number }\n    summary: { type: string }\n";

const PERSON: &str = "id: person\nversion: 1.0.0\nintake: tolerant\nschema:\n  type: object\n  \
    required: [name, age]\n  additionalProperties: false\n  properties:\n    name: { type: string }\n    \
    age: { type: integer }\n    email: { type: [string, 'null'] }\n    active: { type: boolean }\n    \
    tags: { type: array, items: { type: string } }\n";

const MOOD: &str = "id: mood\nversion: 1.0.0\nintake: tolerant\nschema:\n  type: object\n  \
    required: [label, score]\n  properties:\n    label: { enum: [positive, neutral, negative] }\n    \
    score: { type: number, minimum: 0, maximum: 1 }\n";

/// The share of ordinary replies that must be taken, and taken right.
const LEAST_RIGHT: f64 = 0.96;

struct Truth {
    contract: String,
    value: Value,
}

struct Entry {
    name: String,
    truth: String,
    text: String,
}

#[test]
fn ordinary_noisy_replies_are_taken_right() {
    for file in ["ordinary_tuned.txt", "ordinary_held.txt"] {
        let mut wrong = String::new();
        let mut refused = String::new();
        let entries = entries(file);
        let mut right = 0;
        for entry in &entries {
            let expected = &truths()[&entry.truth].value;
            match admit(entry) {
                AdmissionVerdict::Accepted(accepted) if accepted.value() == expected => right += 1,
                AdmissionVerdict::Accepted(accepted) => {
                    let _ = writeln!(wrong, "  {}: {}", entry.name, accepted.value());
                }
                AdmissionVerdict::Refused(violations) => {
                    let _ = writeln!(refused, "  {}: {}", entry.name, violations[0]);
                }
            }
        }
        let share = f64::from(right) / entries.len() as f64;
        println!("{file}: {right} of {} right, {:.1} %", entries.len(), share * 100.0);
        println!("refused:\n{refused}");
        assert!(wrong.is_empty(), "{file}: taken wrong:\n{wrong}");
        assert!(share >= LEAST_RIGHT, "{file}: {right} of {} right", entries.len());
    }
}

#[test]
fn no_decoy_and_no_lone_quotation_is_taken() {
    for file in ["decoys_tuned.txt", "decoys_held.txt"] {
        let mut taken = String::new();
        let entries = entries(file);
        for entry in &entries {
            let lone = entry.name.starts_with("lone.");
            match admit(entry) {
                AdmissionVerdict::Accepted(accepted)
                    if lone || *accepted.value() == truths()[&entry.truth].value =>
                {
                    let _ = writeln!(taken, "  {}: {}", entry.name, accepted.value());
                }
                AdmissionVerdict::Accepted(_) => println!("{}: the real one", entry.name),
                AdmissionVerdict::Refused(violations) => {
                    println!("{}: {}", entry.name, violations[0]);
                }
            }
        }
        println!("{file}: {} of {} taken", taken.lines().count(), entries.len());
        assert!(taken.is_empty(), "{file}: taken:\n{taken}");
    }
}

/// Tolerant intake with the repairs that a contract allows when it says nothing.
fn admit(entry: &Entry) -> AdmissionVerdict {
    let intake = IntakeMode::Tolerant;
    let terms =
        AdmissionOptions { intake, repairs: intake.default_repairs(), finish: FinishReason::Stop };
    let id = &truths()[&entry.truth].contract;
    let admit = |contract: &Contract| {
        contract.admit_bytes(entry.text.as_bytes(), terms, &RuleContext::default())
    };
    match id.as_str() {
        "ticket" => admit(&load_inline_contract(TICKET).unwrap()),
        "person" => admit(&load_inline_contract(PERSON).unwrap()),
        "mood" => admit(&load_inline_contract(MOOD).unwrap()),
        shipped => admit(load_shipped_contracts().find(shipped).unwrap()),
    }
}

fn truths() -> BTreeMap<String, Truth> {
    let truths: BTreeMap<String, Value> =
        serde_json::from_str(include_str!("noise/truths.json")).unwrap();
    let truth = |truth: &Value| Truth {
        contract: truth["contract"].as_str().unwrap().to_owned(),
        value: truth["value"].clone(),
    };
    truths.iter().map(|(name, value)| (name.clone(), truth(value))).collect()
}

fn entries(file: &str) -> Vec<Entry> {
    let path = format!("{}/tests/noise/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let bodies = text.strip_prefix("== ").unwrap().split("\n== ");
    bodies
        .map(|entry| {
            let (head, body) = entry.split_once('\n').unwrap();
            let (name, truth) = head.split_once(' ').unwrap();
            let body = body.strip_suffix('\n').unwrap_or(body);
            Entry { name: name.to_owned(), truth: truth.to_owned(), text: expand(body) }
        })
        .collect()
}

fn expand(body: &str) -> String {
    let mut text = String::new();
    for (index, piece) in body.split("@@").enumerate() {
        match (index % 2, piece.strip_prefix("U+")) {
            (0, _) => text.push_str(piece),
            (_, Some(code)) => {
                text.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
            }
            (_, None) => {
                let name = piece.trim_end_matches('+');
                let value = &truths()[name].value;
                let _ = if piece.ends_with('+') {
                    write!(text, "{value:#}")
                } else {
                    write!(text, "{value}")
                };
            }
        }
    }
    text
}
