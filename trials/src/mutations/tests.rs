//! A short trial as a test, and checks of the generator.

use countersign_contract::json::RepairLevel;
use countersign_contract::reply::FinishReason;
use serde_json::Value;

use super::case::MutationCase;
use super::generate::{self, CONTRACTS};
use super::judge::{CaseJudge, CaseOutcome};
use super::mutation_report::CaseFailureKind;
use super::mutation_trial;
use super::text_pieces::{TextLayout, TextPieces};
use testkit::SeededRng;

const SEED: u64 = 7;

#[test]
fn the_promises_hold_in_a_short_trial() {
    let court = CaseJudge::load().unwrap();
    let cases: Vec<MutationCase> =
        (0..5_000).map(|number| MutationCase::generate(SEED, number)).collect();
    for level in RepairLevel::ALL {
        let one = mutation_trial::run_at_level(&court, &cases, level);
        let numbers: Vec<u64> = one.faults.iter().map(|fault| fault.case.number).collect();
        assert!(one.keeps_promise(), "at {}: cases {numbers:?}", level.as_str());
        // A trial that refuses everything would keep every guarantee.
        assert!(one.tally.recoverable.right > 400, "{:?}", one.tally.recoverable);
        assert!(one.tally.decoys.right > 30, "{:?}", one.tally.decoys);
    }
}

/// What a contract risks that leaves extra fields out, as the shipped ones say: a text with a bare
/// quote, and nothing else. An extra field itself changes nothing.
#[test]
fn where_extra_fields_are_left_out_only_a_bare_quote_misleads() {
    let court = CaseJudge::load_with(|_| {}).unwrap();
    let cases: Vec<MutationCase> =
        (0..5_000).map(|number| MutationCase::generate(SEED, number)).collect();
    let one = mutation_trial::run_at_level(&court, &cases, RepairLevel::None);
    let (mut extra, mut misled) = (0, 0);
    for fault in &one.faults {
        let MutationCase { number, labels, truth, .. } = &fault.case;
        let CaseFailureKind::Wrong(accepted) = &fault.kind else {
            panic!("case {number}: {:?}", fault.kind)
        };
        if is_without_fields(accepted, truth) {
            extra += 1;
        } else {
            let quoted = labels.iter().any(|label| label.contains("inner quote"));
            assert!(quoted, "case {number}, {labels:?}: {accepted}\n{truth}");
            misled += 1;
        }
    }
    assert!(extra > 0 && misled > 0, "{extra} extra fields, {misled} bare quotes");
    assert!(misled <= 3, "{misled} of 5,000 replies were misread");
}

/// Whether the value is the other one without some fields of its objects.
fn is_without_fields(value: &Value, whole: &Value) -> bool {
    match (value, whole) {
        (Value::Object(value), Value::Object(whole)) => value.iter().all(|(name, value)| {
            whole.get(name).is_some_and(|whole| is_without_fields(value, whole))
        }),
        (Value::Array(value), Value::Array(whole)) => {
            value.len() == whole.len()
                && value.iter().zip(whole).all(|(value, whole)| is_without_fields(value, whole))
        }
        _ => value == whole,
    }
}

#[test]
fn uncorrupted_replies_are_accepted_as_they_are() {
    let court = CaseJudge::load().unwrap();
    for number in 0..600 {
        let mut rng = SeededRng::for_case(SEED, number);
        let contract = CONTRACTS[number as usize % CONTRACTS.len()];
        let truth = generate::generate_reply(&mut rng, contract);
        let text = TextPieces::from_value(&truth, TextLayout::random(&mut rng)).to_text();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), truth);
        let case = MutationCase {
            number,
            contract,
            text,
            finish: FinishReason::Stop,
            truth,
            recoverable: true,
            decoy: None,
            labels: Vec::new(),
        };
        for level in RepairLevel::ALL {
            let accepted = court.admit_case(&case, level).unwrap();
            assert_eq!(
                court.judge_outcome(&case, accepted.as_ref()),
                CaseOutcome::Right,
                "{} at {level:?}",
                case.text
            );
        }
    }
}

#[test]
fn a_spoiled_value_never_fits_its_contract() {
    let court = CaseJudge::load().unwrap();
    let cases = (0..4_000).map(|number| MutationCase::generate(SEED, number));
    let spoiled = ["enum typo", "wrong type", "dropped field", "extra field"];
    let mut seen = 0;
    for case in cases.filter(|case| case.labels.iter().any(|label| spoiled.contains(label))) {
        assert!(!case.recoverable);
        // The truth of such a case is the generated value, before its text was damaged further.
        assert_eq!(court.validate_value(&case, &case.truth), None, "case {}", case.number);
        seen += 1;
    }
    assert!(seen > 200, "{seen}");
}

#[test]
fn the_same_seed_gives_the_same_cases() {
    for number in 0..200 {
        assert_eq!(
            MutationCase::generate(SEED, number).text,
            MutationCase::generate(SEED, number).text
        );
    }
    assert_ne!(MutationCase::generate(SEED, 0).text, MutationCase::generate(SEED + 1, 0).text);
}
