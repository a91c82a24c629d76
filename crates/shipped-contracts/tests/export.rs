//! The shipped contracts in the languages of the providers.
//!
//! What a contract takes, its exports take, but for what they call narrowed; which contracts a
//! provider cannot take whole is written down. How an export is made is tested in
//! `countersign-contract`, on small schemas.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use countersign_contract::contract::Schema;
use countersign_contract::json;
use countersign_contract::reply::ViolationCode;
use countersign_schema_tools::{ExportTarget, SchemaSampler, export_contract};
use countersign_shipped_contracts::load_shipped_contracts;
use serde_json::{Value, json};
use testkit::GbnfMatcher;

#[test]
fn nulls_that_mean_absence_are_dropped() {
    let registry = load_shipped_contracts();
    let export = export_contract(registry.find("llm_step_output").unwrap(), ExportTarget::OpenAi);
    assert!(export.nullable.contains(&"/patch/ops/*/from".to_owned()), "{:?}", export.nullable);
    // Any value may stand there, so null is a value and not an absence.
    assert!(!export.nullable.contains(&"/patch/ops/*/value".to_owned()));
    let mut reply = json!({"safety": null, "patch": {"ops": [{"op": "remove", "path": "/a", "from": null, "value": null}]}});
    export.drop_nulls(&mut reply);
    assert_eq!(reply, json!({"patch": {"ops": [{"op": "remove", "path": "/a", "value": null}]}}));
}

/// Puts null wherever the export says that null means absence and the field is absent.
fn with_nulls(pointers: &[String], value: &mut Value) {
    for pointer in pointers {
        let (parent, name) = (
            json::parent_pointer(pointer).unwrap(),
            json::split_pointer(pointer).last().unwrap().into_owned(),
        );
        fill(
            &json::split_pointer(parent).map(std::borrow::Cow::into_owned).collect::<Vec<_>>(),
            &name,
            value,
        );
    }
}

fn fill(segments: &[String], name: &str, value: &mut Value) {
    match (segments.split_first(), value) {
        (None, Value::Object(members)) => {
            members.entry(name.to_owned()).or_insert(Value::Null);
        }
        (Some((first, rest)), Value::Object(members)) => {
            if let Some(member) = members.get_mut(first) {
                fill(rest, name, member);
            }
        }
        (Some((first, rest)), Value::Array(items)) if first == "*" => {
            for item in items {
                fill(rest, name, item);
            }
        }
        _ => {}
    }
}

#[test]
fn an_export_excludes_nothing_but_what_it_calls_narrowed() {
    for contract in load_shipped_contracts().iter() {
        let sampler = SchemaSampler::new(contract.schema.source());
        let values: Vec<Value> = (0..25)
            .filter_map(|seed| sampler.generate_sample(seed))
            .chain(sampler.generate_boundary_values().into_iter().take(60))
            .collect();
        for target in [ExportTarget::OpenAi, ExportTarget::Anthropic, ExportTarget::Gemini] {
            let export = export_contract(contract, target);
            let schema = Schema::compile(export.schema().unwrap().clone()).unwrap();
            for value in &values {
                let mut sent = value.clone();
                with_nulls(&export.nullable, &mut sent);
                if !schema.is_valid(&sent) {
                    let violations = schema.list_violations(&sent);
                    assert!(
                        export.is_narrower(),
                        "{} for {}: {sent}\n{violations:?}",
                        contract.id,
                        target.as_str()
                    );
                    // Undeclared fields, values of any kind, and nulls that are values: nothing else is narrowed.
                    let known = |code: &ViolationCode| {
                        matches!(
                            code,
                            ViolationCode::UnknownField
                                | ViolationCode::AnyOf
                                | ViolationCode::Type
                                | ViolationCode::Required
                        )
                    };
                    assert!(
                        violations.iter().all(|violation| known(&violation.code)),
                        "{} for {}: {violations:?}",
                        contract.id,
                        target.as_str()
                    );
                }
                // What the runtime does to the reply brings back what was meant.
                let mut back = sent;
                export.drop_nulls(&mut back);
                assert_eq!(&back, value, "{} for {}", contract.id, target.as_str());
            }
        }
    }
}

/// The shipped contracts that a provider cannot take whole; every other one loses nothing it takes.
#[test]
fn the_narrowed_are_known() {
    let narrowed = |target: ExportTarget| -> Vec<String> {
        load_shipped_contracts()
            .iter()
            .filter(|contract| export_contract(contract, target).is_narrower())
            .map(|contract| contract.id.clone())
            .collect()
    };
    assert_eq!(narrowed(ExportTarget::Grammar), Vec::<String>::new());
    assert_eq!(narrowed(ExportTarget::OpenAi), narrowed(ExportTarget::Anthropic));
    let open = [
        "agent",
        "chat_state",
        "llm_step_output",
        "memory_packet_v1",
        "pre_skeleton_state",
        "protocol_index",
        "schema_registry_record",
        "state",
        "workflow",
    ];
    assert_eq!(narrowed(ExportTarget::OpenAi), open);
    assert_eq!(narrowed(ExportTarget::Gemini), ["llm_step_output", "memory_packet_v1"]);
}

/// Members in the order of the schema, so that a grammar can see them.
fn in_order(root: &Value, schema: &Value, value: &Value) -> Value {
    let schema = match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => root.pointer(&reference[1..]).unwrap(),
        None => schema,
    };
    // Of alternatives, the one of the value's own kind.
    let kind = |branch: &&Value| {
        let kind = if value.is_array() {
            "array"
        } else if value.is_object() {
            "object"
        } else {
            "string"
        };
        branch["type"] == kind || branch.get("$ref").is_some()
    };
    let branch = ["oneOf", "anyOf"]
        .iter()
        .filter_map(|keyword| schema.get(keyword)?.as_array())
        .flatten()
        .find(kind);
    if let Some(branch) = branch {
        return in_order(root, branch, value);
    }
    match value {
        Value::Object(members) => {
            let declared = schema.get("properties").and_then(Value::as_object);
            let known = declared.into_iter().flatten().filter_map(|(name, field)| {
                Some((name.clone(), in_order(root, field, members.get(name)?)))
            });
            let strangers = members
                .iter()
                .filter(|(name, _)| !declared.is_some_and(|fields| fields.contains_key(*name)));
            Value::Object(
                known
                    .chain(strangers.map(|(name, member)| (name.clone(), member.clone())))
                    .collect(),
            )
        }
        Value::Array(items) => {
            items.iter().map(|item| in_order(root, &schema["items"], item)).collect()
        }
        other => other.clone(),
    }
}

#[test]
fn what_a_shipped_contract_takes_its_grammar_takes() {
    for contract in load_shipped_contracts().iter() {
        let source = contract.schema.source();
        let export = export_contract(contract, ExportTarget::Grammar);
        let matcher = GbnfMatcher::parse(export.grammar().unwrap());
        let sampler = SchemaSampler::new(source);
        for value in (0..12).filter_map(|seed| sampler.generate_sample(seed)) {
            let text = in_order(source, source, &value).to_string();
            assert!(matcher.matches(&text), "{}: {text}", contract.id);
            assert!(!matcher.matches(&text.replacen('{', "{\"\":", 1)), "{}", contract.id);
        }
        assert!(!matcher.matches("[]") && !matcher.matches("\"x\""), "{}", contract.id);
        // A required field must be there, unless its default is filled in.
        let needed = source["required"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|name| source["properties"][name.as_str().unwrap()].get("default").is_none());
        assert_eq!(matcher.matches("{}"), !needed, "{}", contract.id);
        assert!(!export.is_narrower(), "{}", contract.id);
    }
}
