//! What holds for every text.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]
#![expect(clippy::disallowed_types, reason = "a law about time needs a clock")]

use std::time::{Duration, Instant};

use countersign_contract::contract::{Contract, load_inline_contract};
use countersign_contract::json::{self, RepairLevel};
use countersign_contract::reply::{
    AdmissionOptions, FinishReason, IntakeMode, RuleContext, render_reask,
};
use proptest::prelude::*;
use serde_json::Value;

fn contract() -> Contract {
    load_inline_contract(
        "id: law\nversion: 1.0.0\nschema:\n  type: object\n  required: [a, b]\n  properties:\n    a: {type: integer}\n    b: {enum: [x, y]}\n    c: {default: 1}\n",
    )
    .unwrap()
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        proptest::num::f64::NORMAL.prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(".*", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Pieces that texts around JSON are made of.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just("\""),
        Just("'"),
        Just("\\"),
        Just(","),
        Just(":"),
        Just("\"a\""),
        Just("\"a\": 1"),
        Just("\"b\": \"x\""),
        Just("{\"a\": 1, \"b\": \"x\"}"),
        Just("```json\n"),
        Just("```"),
        Just("<think>"),
        Just("</think>"),
        Just("//"),
        Just("/*"),
        Just("*/"),
        Just("\n"),
        Just(" "),
        Just("True"),
        Just("nul"),
        Just("1e999"),
        Just("\\ud800"),
        Just("проза"),
        Just("“"),
        Just("”"),
        Just("\u{feff}"),
        Just("\0"),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// What `serde_json` writes, the reader reads back unchanged, at every level, with no mend.
    #[test]
    fn json_comes_back_equal(value in value()) {
        for text in [value.to_string(), format!("{value:#}")] {
            for level in RepairLevel::ALL {
                let reading = json::parse_json(&text, level).unwrap();
                prop_assert_eq!(&reading.value, &value);
                prop_assert!(reading.repairs.is_empty());
                prop_assert!(reading.data_losses.is_empty());
            }
        }
    }

    /// The reader and `serde_json` agree on what JSON is.
    #[test]
    fn the_reader_takes_what_json_is(text in soup()) {
        let ours = json::parse_json(&text, RepairLevel::None);
        let theirs = serde_json::from_str::<Value>(&text);
        match (ours, theirs) {
            (Ok(reading), Ok(value)) if reading.data_losses.is_empty() => prop_assert_eq!(reading.value, value),
            (Ok(reading), _) => prop_assert!(!reading.data_losses.is_empty()),
            (Err(_), theirs) => prop_assert!(theirs.is_err()),
        }
    }

    /// No text panics; what is accepted is valid; what is refused says why, inside the text.
    #[test]
    fn every_text_gets_a_verdict(text in soup()) {
        let contract = contract();
        for intake in IntakeMode::ALL {
            for repairs in RepairLevel::ALL {
                for finish in [FinishReason::Stop, FinishReason::Length] {
                    let terms = AdmissionOptions { intake, repairs, finish };
                    let verdict = contract.admit_bytes(text.as_bytes(), terms, &RuleContext::default());
                    if let Some(accepted) = verdict.as_accepted() {
                        prop_assert!(contract.schema.is_valid(accepted.value()));
                        for repair in accepted.repairs() {
                            prop_assert!(repairs.allows(repair.class) || intake != IntakeMode::Strict);
                            prop_assert!(text.get(repair.span.range()).is_some());
                        }
                    } else {
                        prop_assert!(!verdict.violations().is_empty());
                        for violation in verdict.violations() {
                            let span = violation.span.unwrap_or_default();
                            prop_assert!(text.get(span.range()).is_some(), "{violation} at {span:?}");
                        }
                        let again = render_reask(&contract, verdict.violations());
                        prop_assert!(again.len() < 4_000);
                        prop_assert_eq!(again, render_reask(&contract, verdict.violations()));
                    }
                }
            }
        }
    }

    /// A lower level accepts nothing that a higher one would read otherwise.
    #[test]
    fn whole_json_means_the_same_at_every_level(value in value(), before in "[a-zа-я .]{0,20}") {
        let object = serde_json::json!({"a": 1, "b": "x", "more": value});
        let text = format!("{before}.\n\n{object}");
        let contract = contract();
        let verdicts = RepairLevel::ALL.map(|repairs| {
            let terms = AdmissionOptions { intake: IntakeMode::Tolerant, repairs, finish: FinishReason::Stop };
            contract.admit_bytes(text.as_bytes(), terms, &RuleContext::default())
        });
        let first = verdicts[0].as_accepted().unwrap().value();
        for verdict in &verdicts {
            prop_assert_eq!(verdict.as_accepted().unwrap().value(), first);
        }
    }
}

/// Hostile text of every make is answered at once. Quadratic work on 100 KB would take minutes.
#[test]
fn hostile_text_costs_linear_time() {
    let contract = contract();
    for text in testkit::generate_hostile_texts(100_000) {
        for repairs in RepairLevel::ALL {
            let terms = AdmissionOptions {
                intake: IntakeMode::Tolerant,
                repairs,
                finish: FinishReason::Stop,
            };
            let started = Instant::now();
            let verdict = contract.admit_bytes(text.as_bytes(), terms, &RuleContext::default());
            let took = started.elapsed();
            assert!(verdict.as_accepted().is_none());
            assert!(took < Duration::from_secs(2), "{:?}… {repairs:?}: {took:?}", &text[..12]);
        }
    }
}
