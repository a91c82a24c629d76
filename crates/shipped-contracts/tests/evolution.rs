//! The shipped contracts, sampled and compared with other versions of themselves.
//!
//! How values are made and contracts compared is tested in `countersign-contract`, on small schemas.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use countersign_contract::contract::{CompatibilityLevel, Contract, Schema, load_contract};
use countersign_contract::source::SourceFile;
use countersign_schema_tools::{CompatOutcome, SchemaSampler, compare};
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_shipped_contracts::shipped::SHIPPED_CONTRACTS;
use serde_json::{Value, json};

#[test]
fn every_shipped_contract_has_samples() {
    for contract in load_shipped_contracts().iter() {
        let sampler = SchemaSampler::new(contract.schema.source());
        let found = (0..30).filter(|seed| sampler.generate_sample(*seed).is_some()).count();
        assert!(found >= 25, "{}: {found} of 30", contract.id);
        assert!(sampler.generate_boundary_values().len() >= 10, "{}", contract.id);
    }
}

#[test]
fn every_shipped_contract_is_what_it_is() {
    for (one, two) in load_shipped_contracts().iter().zip(load_shipped_contracts().iter()) {
        assert_eq!(compare(one, two).compatibility(), CompatibilityLevel::Full, "{}", one.id);
    }
}

#[test]
fn other_words_change_nothing_also_where_everything_is_compared() {
    for old in load_shipped_contracts().iter() {
        let new = with_schema(&old.id, |schema| {
            schema["title"] = json!("Another title");
            schema["$id"] = json!("schema://elsewhere/1.0.0");
        });
        let comparison = compare(old, &new);
        assert_eq!(comparison.compatibility(), CompatibilityLevel::Full, "{}", old.id);
        assert_eq!(comparison.changes, [], "{}", old.id);
    }
}

#[test]
fn an_open_object_may_hold_what_a_new_field_forbids() {
    let registry = load_shipped_contracts();
    let new = with_schema("agent", |schema| {
        schema["properties"]["owner"] = json!({"type": "integer"});
    });
    let comparison = compare(registry.find("agent").unwrap(), &new);
    let CompatOutcome::No { witness, violations: because, .. } = &comparison.backward else {
        panic!("{comparison:?}")
    };
    assert_eq!(witness["owner"], json!(null));
    assert_eq!(because, &["/owner: expected an integer, found null [type]"]);
    assert_eq!(comparison.forward, CompatOutcome::Yes);
}

/// A shipped contract with its schema changed, under a digest of its own: equal digests are not
/// compared any further.
fn with_schema(id: &str, change: impl FnOnce(&mut Value)) -> Contract {
    let shipped = SHIPPED_CONTRACTS.iter().find(|shipped| shipped.id == id).unwrap();
    let source = SourceFile::new(id, shipped.contract);
    let contract = load_contract(source, &|_| Ok(shipped.schema.to_owned())).unwrap();
    let mut schema = contract.schema.source().clone();
    change(&mut schema);
    Contract {
        schema: Schema::compile(schema).unwrap(),
        digest: "sha256:other".to_owned(),
        ..contract
    }
}
