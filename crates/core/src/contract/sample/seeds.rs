//! The shipped contracts, for tests that must hold for all of them.

use crate::contract::{Contract, load};
use crate::spec::Source;

macro_rules! seeds {
    ($($name:literal)*) => {
        /// Every shipped contract.
        pub(in crate::contract) fn seeds() -> Vec<Contract> {
            vec![$(load(
                Source::new($name, include_str!(concat!("../../../../contracts/contracts/", $name, ".yaml"))),
                &|_| Ok(include_str!(concat!("../../../../contracts/schemas/", $name, ".schema.json")).to_owned()),
            ).unwrap()),*]
        }
    };
}

seeds! {
    "agent" "analyst_plan" "architect_spec" "chat_state" "evidence_item" "guardian_report" "llm_step_output"
    "memory_packet_v1" "pre_skeleton_state" "protocol_index" "schema_registry_record" "state" "workflow"
    "xiaobo_action_v1" "xiaojing_review_v1"
}

#[test]
fn every_shipped_contract_has_samples() {
    for contract in seeds() {
        let sampler = super::Sampler::new(contract.schema.source());
        let found = (0..30).filter(|seed| sampler.sample(*seed).is_some()).count();
        assert!(found >= 25, "{}: {found} of 30", contract.id);
        assert!(sampler.boundary().len() >= 10, "{}", contract.id);
    }
}
