//! Checks three replies against a contract: one is accepted, one is repaired, one is refused.
//!
//! ```sh
//! cargo run -p countersign --example admit
//! ```

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;

use countersign::contract::reply::render_reask;
use countersign::prelude::*;

const CONTRACT: &str = "
id: triage
version: 1.0.0
intake: tolerant                # text may surround the object
repairs: lossless               # repairs that cannot change the value
schema:
  type: object
  additionalProperties: false
  required: [severity, summary]
  properties:
    severity: { type: integer, minimum: 1, maximum: 5 }
    summary: { type: string, minLength: 10 }
    page: { type: boolean, default: false }
rules:
  - id: severe_reports_page
    when: reply.severity === 5
    then: reply.page
    at: /page
    says: a report of severity 5 pages the engineer on call
";

const REPLIES: [(&str, &str); 3] = [
    ("a plain reply", r#"{ "severity": 2, "summary": "The export is slow." }"#),
    (
        "a reply with a code fence and a trailing comma",
        "Here it is:\n```json\n{ \"severity\": 3, \"summary\": \"The export fails.\", }\n```\n",
    ),
    ("a reply that breaks a rule", r#"{ "severity": 5, "summary": "Nobody can log in." }"#),
];

fn main() -> Result<(), Box<dyn Error>> {
    let contract = load_inline_contract(CONTRACT).map_err(DiagnosticList)?;
    let mut outcomes = Vec::new();
    for (title, reply) in REPLIES {
        println!("== {title}");
        let verdict = contract.admit(reply, FinishReason::Stop, &RuleContext::default());
        match verdict {
            AdmissionVerdict::Accepted(accepted) => {
                println!("accepted: {}", accepted.value());
                for repair in accepted.repairs() {
                    println!("  repaired: {}", repair.kind.as_str());
                }
                for pointer in accepted.defaults() {
                    println!("  default filled in: {pointer}");
                }
                outcomes.push(if accepted.repairs().is_empty() { "accepted" } else { "repaired" });
            }
            AdmissionVerdict::Refused(violations) => {
                // Send this text to the model as the next message.
                println!(
                    "refused; the model is asked again:\n{}",
                    render_reask(&contract, &violations)
                );
                outcomes.push("refused");
            }
        }
    }
    if outcomes != ["accepted", "repaired", "refused"] {
        return Err(format!("unexpected outcomes: {outcomes:?}").into());
    }
    Ok(())
}
