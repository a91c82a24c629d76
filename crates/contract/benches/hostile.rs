//! What hostile text costs: brackets, quotes and backslashes in every order, at every repair level.
//!
//! `cargo bench -p countersign-contract --bench hostile` prints the slowest text of each size; time a byte
//! must not grow with the size.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_types, reason = "a benchmark needs a clock")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use countersign_contract::contract::{Contract, load_inline_contract};
use countersign_contract::json::RepairLevel;
use countersign_contract::reply::{AdmissionOptions, FinishReason, IntakeMode, RuleContext};

/// A thousand times more text may take this many times longer a byte: room for caches and noise,
/// none for a second look at everything.
const MOST_GROWTH: f64 = 20.0;

fn main() -> ExitCode {
    let contract = load_inline_contract(
        "id: hostile\nversion: 1.0.0\nschema: { type: object, required: [a, b], properties: { a: { type: integer } } }",
    )
    .expect("the contract loads");
    println!("tolerant intake, every repair level, best of three; the slowest text of each size");
    println!("{:>9}  {:>12}  {:>12}  text", "bytes", "time", "ns a byte");
    let mut rates = Vec::new();
    for bytes in [1_000, 100_000, 1_000_000] {
        let (time, text) = slowest(&contract, bytes);
        let rate = time.as_secs_f64() * 1e9 / text.len() as f64;
        let begin: String = text.chars().take(16).collect();
        println!("{bytes:>9}  {time:>12.1?}  {rate:>12.1}  {begin:?}…");
        rates.push(rate);
    }
    let growth = rates[2] / rates[0];
    println!("time a byte at 1 MB is {growth:.2} times that at 1 KB (at most {MOST_GROWTH})");
    if growth <= MOST_GROWTH { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn slowest(contract: &Contract, bytes: usize) -> (Duration, String) {
    let mut worst = (Duration::ZERO, String::new());
    for text in testkit::generate_hostile_texts(bytes) {
        for repairs in RepairLevel::ALL {
            let terms = AdmissionOptions {
                intake: IntakeMode::Tolerant,
                repairs,
                finish: FinishReason::Stop,
            };
            let time = (0..3).map(|_| once(contract, &text, terms)).min().unwrap_or_default();
            if time > worst.0 {
                worst = (time, text.clone());
            }
        }
    }
    worst
}

fn once(contract: &Contract, text: &str, terms: AdmissionOptions) -> Duration {
    let started = Instant::now();
    let verdict = contract.admit_bytes(text.as_bytes(), terms, &RuleContext::default());
    let time = started.elapsed();
    assert!(verdict.as_accepted().is_none());
    time
}
