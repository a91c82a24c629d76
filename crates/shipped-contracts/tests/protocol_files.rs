//! The schemas of protocol files take what the seed's schemas take.
//!
//! Ours know more keys; whoever uses none of them must not notice. And the seed's own example loads.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[expect(dead_code, reason = "shared with the tests of the other contracts")]
mod seed_text;
#[expect(dead_code, reason = "shared with the tests of the other contracts")]
mod strategies;

use countersign_contract::contract::Schema;
use countersign_protocol::{
    AGENT_SCHEMA, INDEX_SCHEMA, ProtocolBundle, WORKFLOW_SCHEMA, load_protocol,
};
use countersign_schema_tools::SchemaSampler;
use countersign_shipped_contracts::load_shipped_contracts;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use seed_text::{Seed, blocks};
use serde::Serialize;
use serde_json::Value;

#[test]
fn an_index_of_the_seed_is_one_of_ours() {
    takes("protocol_index", INDEX_SCHEMA, strategies::protocol::index());
}

#[test]
fn a_workflow_of_the_seed_is_one_of_ours() {
    takes("workflow", WORKFLOW_SCHEMA, strategies::protocol::workflow());
}

#[test]
fn an_agent_of_the_seed_is_one_of_ours() {
    takes("agent", AGENT_SCHEMA, strategies::protocol::agent());
}

#[test]
fn the_example_of_the_seed_loads() {
    let Some(seed) = Seed::read("001") else {
        testkit::report_not_run(
            "protocol_files::the_example_of_the_seed_loads",
            "no folder of seeds",
        );
        return;
    };
    let mut bundle = ProtocolBundle::default();
    let yaml = blocks(&seed).filter(|(info, _)| *info == "yaml");
    for (number, (_, text)) in yaml.enumerate() {
        let path = match text {
            text if text.starts_with("name:") => "index.yaml".to_owned(),
            text if text.contains("phases:") => "workflows/example.yaml".to_owned(),
            _ => format!("agents/{number}.yaml"),
        };
        bundle.files.insert(path, text.to_owned());
    }
    assert_eq!(bundle.files.len(), 5);
    let loaded = load_protocol(bundle, &load_shipped_contracts()).unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let protocol = loaded.protocol;
    assert_eq!(protocol.find_workflow(&protocol.default_workflow).unwrap().phases.len(), 3);
    for id in ["my-oracle", "analyst", "translator"] {
        assert!(protocol.agents.contains_key(id), "{id}");
    }
}

/// Values of the type, and values sampled from the seed's schema, fit ours.
fn takes<T: Serialize + std::fmt::Debug>(id: &str, ours: &str, strategy: impl Strategy<Value = T>) {
    let ours = Schema::compile(serde_json::from_str(ours).unwrap()).unwrap();
    let registry = load_shipped_contracts();
    let theirs = &registry.get(id).unwrap().schema;
    let sampler = SchemaSampler::new(theirs.source());
    let outcome = runner().run(&(strategy, any::<u64>()), |(made, seed)| {
        let made = serde_json::to_value(&made).unwrap();
        for value in std::iter::once(made).chain(sampler.generate_sample(seed)) {
            let known = known_fields(theirs.source(), &value);
            let violations = ours.list_violations(&known);
            prop_assert!(violations.is_empty(), "{violations:?}: {known:#}");
        }
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{id}: {failure}"));
}

/// The value without fields the schema leaves open: there ours may know keys, and free ones begin with `x-`.
fn known_fields(schema: &Value, value: &Value) -> Value {
    fn inside(root: &Value, schema: &Value, value: &Value) -> Value {
        if let Some(target) = schema["$ref"].as_str() {
            return inside(root, root.pointer(target.trim_start_matches('#')).unwrap(), value);
        }
        if let Some(branches) = schema["oneOf"].as_array() {
            let name = if value.is_object() { "object" } else { "array" };
            let is_for = |branch: &&Value| branch["type"] == name || branch.get("$ref").is_some();
            let branch = branches.iter().find(is_for).filter(|_| !value.is_string());
            return branch.map_or_else(|| value.clone(), |branch| inside(root, branch, value));
        }
        match (value, schema["properties"].as_object()) {
            (Value::Object(members), Some(fields)) => members
                .iter()
                .filter_map(|(name, member)| {
                    Some((name.clone(), inside(root, fields.get(name)?, member)))
                })
                .collect(),
            (Value::Array(items), _) => {
                items.iter().map(|item| inside(root, &schema["items"], item)).collect()
            }
            _ => value.clone(),
        }
    }
    inside(schema, schema, value)
}

/// Seeded alike every time, so that a failure is found again.
fn runner() -> TestRunner {
    let config =
        ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::default()))
}
