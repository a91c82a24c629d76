//! A short trial as a test, and the truths of the generator.

use countersign_core::json::RepairLevel;
use countersign_core::reply::Finish;

use super::case::Case;
use super::generate::{self, CONTRACTS};
use super::judge::{Court, Outcome};
use super::pieces::{Layout, Pieces};
use super::trial;
use testkit::Chance;

const SEED: u64 = 7;

#[test]
fn the_promises_hold_in_a_short_trial() {
    let court = Court::open().unwrap();
    let cases: Vec<Case> = (0..5_000).map(|number| Case::make(SEED, number)).collect();
    for level in RepairLevel::ALL {
        let one = trial::at_level(&court, &cases, level);
        let numbers: Vec<u64> = one.faults.iter().map(|fault| fault.case.number).collect();
        assert!(one.holds(), "at {}: cases {numbers:?}", level.as_str());
        // A trial in which everything is refused would hold every promise.
        assert!(one.tally.recoverable.right > 400, "{:?}", one.tally.recoverable);
        assert!(one.tally.decoys.right > 30, "{:?}", one.tally.decoys);
    }
}

#[test]
fn uncorrupted_replies_are_accepted_as_they_are() {
    let court = Court::open().unwrap();
    for number in 0..600 {
        let mut rng = Chance::for_case(SEED, number);
        let contract = CONTRACTS[number as usize % CONTRACTS.len()];
        let truth = generate::reply(&mut rng, contract);
        let text = Pieces::of(&truth, Layout::any(&mut rng)).text();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), truth);
        let case = Case {
            number,
            contract,
            text,
            finish: Finish::Stop,
            truth,
            tolerable: true,
            decoy: None,
            labels: Vec::new(),
        };
        for level in RepairLevel::ALL {
            let accepted = court.admit(&case, level).unwrap();
            assert_eq!(
                court.judge(&case, accepted.as_ref()),
                Outcome::Right,
                "{} at {level:?}",
                case.text
            );
        }
    }
}

#[test]
fn a_spoiled_value_never_fits_its_contract() {
    let court = Court::open().unwrap();
    let cases = (0..4_000).map(|number| Case::make(SEED, number));
    let spoiled = ["enum typo", "wrong type", "dropped field", "extra field"];
    let mut seen = 0;
    for case in cases.filter(|case| case.labels.iter().any(|label| spoiled.contains(label))) {
        assert!(!case.tolerable);
        // The truth of such a case is the value as it was made, before its text was damaged further.
        assert_eq!(court.validated(&case, &case.truth), None, "case {}", case.number);
        seen += 1;
    }
    assert!(seen > 200, "{seen}");
}

#[test]
fn the_same_seed_gives_the_same_cases() {
    for number in 0..200 {
        assert_eq!(Case::make(SEED, number).text, Case::make(SEED, number).text);
    }
    assert_ne!(Case::make(SEED, 0).text, Case::make(SEED + 1, 0).text);
}
