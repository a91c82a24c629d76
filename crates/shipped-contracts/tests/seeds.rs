//! Our schemas say what the seeds say.
//!
//! The seeds are the documents the contracts come from: JSON Schemas in fences, Python
//! dictionaries, and shapes given by example. Descriptions and titles are ours and are left out of
//! the comparison; all else must be equal. The seeds are not part of this repository.
//! `COUNTERSIGN_SEEDS` names their folder, or it stands at `../shared/seeds` beside the workspace;
//! where it is absent, each test says so and passes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod seed_text;

use std::collections::BTreeSet;

use countersign_shipped_contracts::shipped::SHIPPED_CONTRACTS;
use seed_text::{Seed, class_fields, fenced_json, python_dict};
use serde_json::{Map, Value, json};

#[test]
fn the_schemas_of_the_intake_are_the_seeds() {
    with_seed("000", "the_schemas_of_the_intake_are_the_seeds", |seed| {
        compare(&["pre_skeleton_state", "llm_step_output"], &schemas(seed));
    });
}

#[test]
fn the_schemas_of_a_protocol_are_the_seeds() {
    with_seed("001", "the_schemas_of_a_protocol_are_the_seeds", |seed| {
        compare(&["protocol_index", "workflow", "agent", "state"], &schemas(seed));
    });
}

#[test]
fn the_schema_of_the_packet_is_the_seeds() {
    with_seed("004", "the_schema_of_the_packet_is_the_seeds", |seed| {
        compare(&["memory_packet_v1"], &schemas(seed));
    });
}

#[test]
fn the_schemas_of_an_answer_are_the_seeds() {
    with_seed("003", "the_schemas_of_an_answer_are_the_seeds", |seed| {
        let names = ["ANALYST_PLAN_SCHEMA", "ARCHITECT_SPEC_SCHEMA", "GUARDIAN_REPORT_SCHEMA"];
        let theirs: Vec<_> = names.map(|name| python_dict(seed, name)).into();
        compare(&["analyst_plan", "architect_spec", "guardian_report"], &theirs);
    });
}

#[test]
fn the_fields_of_an_answer_are_the_seeds() {
    with_seed("003", "the_fields_of_an_answer_are_the_seeds", |seed| {
        for (id, class) in [("evidence_item", "EvidenceItem"), ("chat_state", "ChatState")] {
            let ours = ours(id);
            let fields: BTreeSet<_> =
                ours["properties"].as_object().unwrap().keys().cloned().collect();
            assert_eq!(fields, class_fields(seed, class), "{id}");
        }
        assert_eq!(
            ours("evidence_item")["required"],
            json!(["source", "ref", "snippet", "confidence"])
        );
        assert_eq!(ours("chat_state").get("required"), None);
    });
}

#[test]
fn the_shapes_of_a_delivery_are_the_seeds() {
    with_seed("002", "the_shapes_of_a_delivery_are_the_seeds", |seed| {
        let examples = fenced_json(seed);
        assert_eq!(examples.len(), 2);
        for example in examples {
            let id = example["schema_version"].as_str().unwrap();
            let ours = ours(id);
            fits_example(&ours, &ours, &example, id);
        }
    });
}

/// What the answer state holds of the other contracts is those contracts, word for word.
#[test]
fn the_answer_state_repeats_the_other_schemas() {
    let state = read("chat_state");
    let parts = [
        ("EvidenceItem", "evidence_item"),
        ("AnalystPlan", "analyst_plan"),
        ("ArchitectSpec", "architect_spec"),
        ("GuardianReport", "guardian_report"),
    ];
    for (definition, id) in parts {
        let mut schema = read(id);
        for key in ["$schema", "$id", "title"] {
            schema.as_object_mut().unwrap().remove(key);
        }
        assert_eq!(state["$defs"][definition], schema, "{id}");
    }
}

fn with_seed(number: &str, test: &str, check: impl FnOnce(&Seed)) {
    match Seed::read(number) {
        Some(seed) => check(&seed),
        None => seed_text::say_not_run(test),
    }
}

fn schemas(seed: &Seed) -> Vec<Value> {
    fenced_json(seed).into_iter().filter(|block| block.get("$schema").is_some()).collect()
}

#[track_caller]
fn compare(ids: &[&str], theirs: &[Value]) {
    assert_eq!(ids.len(), theirs.len(), "as many schemas in the seed as we took from it");
    for (id, theirs) in ids.iter().zip(theirs) {
        let (ours, theirs) = (ours(id), bare(theirs));
        assert_eq!(ours, theirs, "{id}\nours {ours:#}\ntheirs {theirs:#}");
    }
}

fn ours(id: &str) -> Value {
    bare(&read(id))
}

fn read(id: &str) -> Value {
    let shipped = SHIPPED_CONTRACTS.iter().find(|shipped| shipped.id == id).expect("a shipped id");
    serde_json::from_str(shipped.schema).unwrap()
}

/// A schema without words. It knows which objects hold names: a property may be called
/// `description`.
fn bare(schema: &Value) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let mut kept = Map::new();
    for (keyword, value) in keywords {
        let value = match (keyword.as_str(), value) {
            ("description" | "title" | "$comment", _) => continue,
            ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                named.iter().map(|(name, schema)| (name.clone(), bare(schema))).collect()
            }
            ("oneOf" | "anyOf" | "allOf", Value::Array(schemas)) => {
                schemas.iter().map(bare).collect()
            }
            ("items" | "additionalProperties" | "if" | "then" | "else" | "not", schema) => {
                bare(schema)
            }
            (_, data) => data.clone(),
        };
        kept.insert(keyword.clone(), value);
    }
    Value::Object(kept)
}

/// The fields of an example are the properties; `A|B` in it is an enum; a list of words is one too.
fn fits_example(root: &Value, schema: &Value, example: &Value, pointer: &str) {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => root.pointer(&reference[1..]).expect("a local reference"),
        None => schema,
    };
    match example {
        Value::Object(fields) => {
            let properties =
                schema["properties"].as_object().unwrap_or_else(|| panic!("{pointer}: no object"));
            let ours: BTreeSet<_> = properties.keys().collect();
            assert_eq!(ours, fields.keys().collect(), "{pointer}");
            assert_eq!(schema["additionalProperties"], json!(false), "{pointer}");
            for (name, field) in fields {
                fits_example(root, &properties[name], field, &format!("{pointer}/{name}"));
            }
        }
        Value::Array(items) if items.len() > 1 => {
            assert_eq!(schema["items"]["enum"], json!(items), "{pointer}");
        }
        Value::Array(items) => {
            fits_example(root, &schema["items"], &items[0], &format!("{pointer}/*"));
        }
        Value::Number(_) => assert_eq!(schema["type"], "integer", "{pointer}"),
        Value::String(text) if text.contains('|') => {
            assert_eq!(schema["enum"], json!(text.split('|').collect::<Vec<_>>()), "{pointer}");
        }
        Value::String(text) if pointer.ends_with("/schema_version") => {
            assert_eq!(schema["const"], *text, "{pointer}");
        }
        Value::String(_) => assert_eq!(schema["type"], "string", "{pointer}"),
        Value::Null | Value::Bool(_) => panic!("{pointer}: the examples have none"),
    }
}
