//! Derives a contract from a Rust struct, and deserializes the accepted value into that struct.
//!
//! ```sh
//! cargo run -p countersign --example typed_contract
//! ```

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;

use countersign::prelude::*;
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::json;

/// A ticket that a model extracts from an e-mail.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ticket {
    /// One line for lists.
    #[schemars(length(min = 5, max = 80))]
    title: String,
    /// 1 is the most urgent.
    #[schemars(range(min = 1, max = 5))]
    priority: u8,
    area: Area,
    /// Empty if the e-mail names nobody.
    #[serde(default)]
    people: Vec<String>,
}

/// The part of the product that a ticket is about.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Area {
    Billing,
    Login,
}

fn main() -> Result<(), Box<dyn Error>> {
    let contract = load_contract_value(&json!({
        "id": "ticket",
        "version": "1.0.0",
        "intake": "tolerant",
        "schema": schema_for!(Ticket),
        "rules": [{
            "id": "login_is_urgent",
            "when": "reply.area === 'login'",
            "then": "reply.priority <= 2",
            "at": "/priority",
            "says": "a ticket about login has priority 1 or 2",
        }],
    }))
    .map_err(DiagnosticList)?;

    let reply = r#"Done: {"title": "Password reset fails", "priority": 1, "area": "login"}"#;
    let verdict = contract.admit(reply, FinishReason::Stop, &RuleContext::default());
    let Some(accepted) = verdict.as_accepted() else {
        return Err(format!("refused: {:?}", verdict.violations()).into());
    };
    // The schema comes from this struct, so a value that the contract accepts fits into it.
    let Ticket { title, priority, area, people } = Ticket::deserialize(accepted.value())?;
    println!("accepted: {title} (priority {priority}, {area:?}, {} people)", people.len());

    let wrong = r#"{"title": "Reset", "priority": 9, "area": "logon"}"#;
    let verdict = contract.admit(wrong, FinishReason::Stop, &RuleContext::default());
    for violation in verdict.violations() {
        println!("refused: {violation}");
    }
    if verdict.violations().len() != 2 {
        return Err("expected two violations".into());
    }
    Ok(())
}
