//! The types and the schemas agree, in both directions.
//!
//! Every value of a type that keeps its documented bounds is valid under the schema, and every
//! valid value parses into the type and comes back equal: values sampled from the schema, and the
//! samples of `tests/rules/`. And no rule stumbles over what its schema lets pass.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod strategies;

use std::fmt::Debug;

use countersign_contract::reply::RuleContext;
use countersign_schema_tools::SchemaSampler;
use countersign_shipped_contracts::answer::{
    AnalystPlan, ArchitectSpec, ChatState, EvidenceItem, GuardianReport,
};
use countersign_shipped_contracts::delivery::{XiaoboAction, XiaojingReview};
use countersign_shipped_contracts::intake::{LlmStepOutput, PreSkeletonState};
use countersign_shipped_contracts::memory::MemoryPacket;
use countersign_shipped_contracts::memory::candidates::MemoryCandidates;
use countersign_shipped_contracts::memory::summary::MemorySummary;
use countersign_shipped_contracts::protocol::{
    AgentSpec, ProtocolIndex, RuntimeState, WorkflowSpec,
};
use countersign_shipped_contracts::registry_record::SchemaRegistryRecord;
use countersign_shipped_contracts::shipped::SHIPPED_CONTRACTS;
use jsonschema::Validator;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const CASES: u32 = 1024;

macro_rules! agree {
    ($($id:ident: $type:ty, $strategy:expr;)+) => {$(
        mod $id {
            use super::*;

            #[test]
            fn a_value_of_the_type_is_valid() {
                type_fits_schema::<$type>(stringify!($id), $strategy);
            }

            #[test]
            fn a_valid_value_comes_back_equal() {
                schema_fits_type::<$type>(stringify!($id));
            }

            #[test]
            fn every_rule_decides_a_valid_value() {
                rules_decide(stringify!($id));
            }
        }
    )+

        #[test]
        fn every_shipped_contract_is_here() {
            let shipped: Vec<_> = SHIPPED_CONTRACTS.iter().map(|shipped| shipped.id).collect();
            assert_eq!(shipped, [$(stringify!($id)),+]);
        }
    };
}

agree! {
    pre_skeleton_state: PreSkeletonState, strategies::intake::state();
    llm_step_output: LlmStepOutput, strategies::intake::step();
    schema_registry_record: SchemaRegistryRecord, strategies::registry_record::record();
    protocol_index: ProtocolIndex, strategies::protocol::index();
    workflow: WorkflowSpec, strategies::protocol::workflow();
    agent: AgentSpec, strategies::protocol::agent();
    state: RuntimeState, strategies::protocol::state();
    xiaobo_action_v1: XiaoboAction, strategies::delivery::action();
    xiaojing_review_v1: XiaojingReview, strategies::delivery::review();
    analyst_plan: AnalystPlan, strategies::answer::plan();
    architect_spec: ArchitectSpec, strategies::answer::spec();
    guardian_report: GuardianReport, strategies::answer::report();
    evidence_item: EvidenceItem, strategies::answer::evidence();
    chat_state: ChatState, strategies::answer::state();
    memory_packet_v1: MemoryPacket, strategies::memory::packet();
    memory_candidates_v1: MemoryCandidates, strategies::memory::candidates();
    memory_summary_v1: MemorySummary, strategies::memory::summary();
}

fn type_fits_schema<T>(id: &str, strategy: impl Strategy<Value = T>)
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let validator = validator(&schema(id));
    let outcome = runner().run(&strategy, |made| {
        let value = serde_json::to_value(&made).unwrap();
        let faults: Vec<_> = validator.iter_errors(&value).map(|fault| fault.to_string()).collect();
        prop_assert!(faults.is_empty(), "{faults:?}: {value:#}");
        prop_assert_eq!(serde_json::from_value::<T>(value).unwrap(), made);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{id}: {failure}"));
}

fn schema_fits_type<T: Serialize + DeserializeOwned>(id: &str) {
    let schema = schema(id);
    let (validator, sampler) = (validator(&schema), SchemaSampler::new(&schema));
    let outcome = runner().run(&any::<u64>(), |seed| {
        let value = sampled(&sampler, &validator, seed);
        let back = there_and_back::<T>(&value)
            .map_err(|error| TestCaseError::fail(format!("{error}: {value:#}")))?;
        prop_assert!(equal(&value, &back), "{value:#}\ncame back as\n{back:#}");
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{id}: {failure}"));

    let path = format!("{}/tests/rules/{id}.json", env!("CARGO_MANIFEST_DIR"));
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for (name, sample) in file["samples"].as_object().unwrap() {
        let back = there_and_back::<T>(sample)
            .unwrap_or_else(|error| panic!("{id}: sample `{name}`: {error}"));
        assert!(equal(sample, &back), "{id}: sample `{name}` came back as {back:#}");
    }
}

/// A rule may say yes or no to what the schema lets pass; it may not stumble over it.
fn rules_decide(id: &str) {
    let registry = countersign_shipped_contracts::load_shipped_contracts();
    let contract = registry.get(id).expect("a shipped id");
    let (schema, context) = (schema(id), RuleContext::default());
    let (validator, sampler) = (validator(&schema), SchemaSampler::new(&schema));
    let outcome = runner().run(&any::<u64>(), |seed| {
        let value = sampled(&sampler, &validator, seed);
        for violation in contract.admit_value(&value, &context).violations() {
            let undecided = violation.message.contains("could not be evaluated");
            prop_assert!(!undecided, "{violation}: {value:#}");
        }
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{id}: {failure}"));
}

/// A value of the schema, which the bare judge takes too.
fn sampled(sampler: &SchemaSampler, validator: &Validator, seed: u64) -> Value {
    let mut values = (0..64).filter_map(|step| sampler.generate_sample(seed.wrapping_add(step)));
    let value = values.next().expect("one of 64 seeds gives a value");
    assert!(validator.is_valid(&value), "{value:#}");
    value
}

fn there_and_back<T: Serialize + DeserializeOwned>(value: &Value) -> serde_json::Result<Value> {
    serde_json::to_value(serde_json::from_value::<T>(value.clone())?)
}

/// Equality of JSON, in which 3 and 3.0 are one number.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || left.as_f64() == right.as_f64()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, value)| right.get(name).is_some_and(|other| equal(value, other)))
        }
        _ => left == right,
    }
}

fn schema(id: &str) -> Value {
    let shipped = SHIPPED_CONTRACTS.iter().find(|shipped| shipped.id == id).expect("a shipped id");
    serde_json::from_str(shipped.schema).unwrap()
}

/// The bare judge: the dialect `$schema` names, formats asserted, nothing of ours in between.
fn validator(schema: &Value) -> Validator {
    jsonschema::options().should_validate_formats(true).build(schema).unwrap()
}

/// Seeded alike every time, so that a failure is found again; nothing is written beside the tests.
fn runner() -> TestRunner {
    let config =
        ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::default()))
}
