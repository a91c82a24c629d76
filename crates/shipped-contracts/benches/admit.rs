//! What admitting a reply costs, beside the bare work nobody can avoid.
//!
//! `cargo bench -p countersign-shipped-contracts` prints the divan table and then the ratio of the two, taken
//! in turns in one run; it fails where the ratio is above three. With `-- --emit DIR` it writes the
//! reply and the schema there and prints only its own best time, in nanoseconds: `trials/admission`
//! compares that with other languages' libraries.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use countersign_contract::reply::{FinishReason, RuleContext};
use countersign_shipped_contracts::load_shipped_contracts;
use serde_json::{Value, json};

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What the design allows.
const BOUND: f64 = 3.0;

fn main() -> ExitCode {
    if let Some(folder) = std::env::args().skip_while(|argument| argument != "--emit").nth(1) {
        return emit(&folder);
    }
    divan::main();
    let text = reply();
    let registry = load_shipped_contracts();
    let contract = registry.find("llm_step_output").expect("it ships");
    let bare = jsonschema::validator_for(contract.schema.source()).expect("it compiles");
    let ours = || {
        contract
            .admit(black_box(&text), FinishReason::Stop, &RuleContext::default())
            .as_accepted()
            .is_some()
    };
    let theirs =
        || bare.validate(&serde_json::from_str::<Value>(black_box(&text)).expect("JSON")).is_ok();
    let (ours, theirs) = in_turns(&ours, &theirs);
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("\nllm_step_output, {} bytes, best of 2000 in turns:", text.len());
    println!("  admit                                {ours:>10.1?}");
    println!("  serde_json parse + jsonschema check  {theirs:>10.1?}");
    println!("  ratio                                {ratio:>9.2}  (at most {BOUND})");
    if ratio <= BOUND { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Writes what others are to be measured with, and measures ourselves.
fn emit(folder: &str) -> ExitCode {
    let text = reply();
    let registry = load_shipped_contracts();
    let contract = registry.find("llm_step_output").expect("it ships");
    let schema = contract.schema.source().to_string();
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(format!("{folder}/reply.json"), &text))
        .and_then(|()| std::fs::write(format!("{folder}/schema.json"), schema));
    if written.is_err() {
        return ExitCode::FAILURE;
    }
    let ours = || {
        contract
            .admit(black_box(&text), FinishReason::Stop, &RuleContext::default())
            .as_accepted()
            .is_some()
    };
    let (best, _) = in_turns(&ours, &|| true);
    println!("{}", best.as_nanos());
    ExitCode::SUCCESS
}

fn in_turns(left: &dyn Fn() -> bool, right: &dyn Fn() -> bool) -> (Duration, Duration) {
    let time = |work: &dyn Fn() -> bool| {
        let started = Instant::now();
        assert!(work());
        started.elapsed()
    };
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..2000 {
        best = (best.0.min(time(left)), best.1.min(time(right)));
    }
    best
}

/// A step of an interview: a patch, issues, a question; about 5 KB.
fn reply() -> String {
    let ops: Vec<Value> = (0..8)
        .map(|index| {
            json!({
                "op": "add",
                "path": format!("/domain/facts/confirmed/clause_{index}"),
                "value": {
                    "text": "Поставщик передаёт товар в течение десяти дней со дня оплаты.",
                    "party": "supplier",
                    "amount": 1250.5 * f64::from(index),
                    "confirmed": true,
                }
            })
        })
        .collect();
    let issues: Vec<Value> = (0..5)
        .map(|index| {
            json!({
                "op": "upsert",
                "issue": {
                    "id": format!("issue-{index}"),
                    "severity": "high",
                    "title": "The term of delivery is open",
                    "status": "open",
                    "why_it_matters": "Without a term the obligation cannot be enforced on time.",
                    "resolution_hint": "Ask for a date or a number of days.",
                }
            })
        })
        .collect();
    let value = json!({
        "output_id": "out-42",
        "step": "INTERPRET",
        "patch": { "format": "json_patch", "ops": ops },
        "issue_updates": issues,
        "next_action": {
            "kind": "ask_user",
            "ask_user": {
                "question_id": "q-7",
                "question_text": "В какой срок должен быть передан товар?",
                "answer_format": "choices",
                "choices": [
                    { "id": "a", "label": "Десять дней", "value": 10 },
                    { "id": "b", "label": "Тридцать дней", "value": 30 }
                ],
                "links_to_issue_ids": ["issue-0"]
            }
        },
        "rationale": "The user named the goods and the price; the term is missing.",
        "safety": { "has_unconfirmed_assumptions": false, "detected_conflict": false }
    });
    format!("{value:#}")
}

#[divan::bench]
fn admit(bencher: divan::Bencher<'_, '_>) {
    let (registry, text) = (load_shipped_contracts(), reply());
    let contract = registry.find("llm_step_output").expect("it ships");
    bencher.bench(|| contract.admit(&text, FinishReason::Stop, &RuleContext::default()));
}

#[divan::bench]
fn bare_parse_and_check(bencher: divan::Bencher<'_, '_>) {
    let (registry, text) = (load_shipped_contracts(), reply());
    let contract = registry.find("llm_step_output").expect("it ships");
    let bare = jsonschema::validator_for(contract.schema.source()).expect("it compiles");
    bencher.bench(|| bare.is_valid(&serde_json::from_str::<Value>(&text).expect("JSON")));
}

#[divan::bench]
fn refuse_and_ask_again(bencher: divan::Bencher<'_, '_>) {
    let (registry, text) = (
        load_shipped_contracts(),
        reply().replace("INTERPRET", "INTERPRETT").replace("\"add\"", "\"put\""),
    );
    let contract = registry.find("llm_step_output").expect("it ships");
    bencher.bench(|| {
        let verdict = contract.admit(&text, FinishReason::Stop, &RuleContext::default());
        countersign_contract::reply::render_reask(contract, verdict.violations())
    });
}
