//! Contracts: schemas compiled, files read, defaults filled in.

use std::fmt::Write as _;

use countersign_contract::contract::{Contract, Schema, load_inline_contract};
use countersign_contract::reply::{FinishReason, RuleContext};
use serde_json::{Value, json};

use super::schemas::schemas;
use super::{budgeted_door, door};

fn contract(schema: &Value) -> Option<Contract> {
    load_inline_contract(&format!("id: c\nversion: 1.0.0\nschema: {schema}\n")).ok()
}

#[test]
fn schemas_are_compiled() {
    let mut door = budgeted_door("schema");
    for (name, base, make) in schemas() {
        door.measure_family(name, base, make, |schema| drop(Schema::compile(schema.clone())));
    }
    door.assert_linear();
}

#[test]
fn contract_files_are_read() {
    let mut door = door("contract_file");
    let load = |text: &String| drop(load_inline_contract(text));
    door.measure_family(
        "many rules",
        50,
        |size| {
            let mut text = "id: c\nversion: 1.0.0\nschema: true\nrules:\n".to_owned();
            for n in 0..size {
                let _ = writeln!(
                    text,
                    "  - {{ id: r{n}, then: reply.a > {n}, at: /a, says: a is more }}"
                );
            }
            text
        },
        load,
    )
    .measure_family(
        "many unknown keys",
        500,
        |size| {
            let mut text = "id: c\nversion: 1.0.0\nschema: true\n".to_owned();
            (0..size).for_each(|n| text += &format!("key{n}: 1\n"));
            text
        },
        load,
    );
    door.assert_linear();
}

#[test]
fn defaults_are_filled_in() {
    let mut door = door("defaults");
    let item = json!({"properties": {
        "t": {"default": "x".repeat(1_000)},
        "u": {"default": {"v": [1, 2, 3]}},
    }});
    let contract =
        contract(&json!({"type": "object", "properties": {"list": {"items": item}}})).unwrap();
    door.measure_family(
        "defaults of many items",
        2_000,
        |size| format!("{{\"list\": [{}]}}", vec!["{}"; size].join(",")),
        |text: &String| drop(contract.admit(text, FinishReason::Stop, &RuleContext::default())),
    );
    door.assert_linear();
}
