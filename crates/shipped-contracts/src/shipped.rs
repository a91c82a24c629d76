//! The text of the shipped contract files, compiled into the binary.
//!
//! This module does not parse anything and reads no file at run time. Contracts are listed in the
//! order of the processes they belong to, and each id appears once.

/// A shipped contract: its id, its contract file, and the schema that the contract file references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShippedContract {
    /// The contract id, which is also the base name of both files.
    pub id: &'static str,
    /// The text of `contracts/<id>.yaml`.
    pub contract: &'static str,
    /// The text of `schemas/<id>.schema.json`.
    pub schema: &'static str,
}

macro_rules! shipped {
    ($id:literal) => {
        ShippedContract {
            id: $id,
            contract: include_str!(concat!("../contracts/", $id, ".yaml")),
            schema: include_str!(concat!("../schemas/", $id, ".schema.json")),
        }
    };
}

/// Every contract that ships with Countersign.
pub const SHIPPED_CONTRACTS: &[ShippedContract] = &[
    shipped!("pre_skeleton_state"),
    shipped!("llm_step_output"),
    shipped!("schema_registry_record"),
    shipped!("protocol_index"),
    shipped!("workflow"),
    shipped!("agent"),
    shipped!("state"),
    shipped!("xiaobo_action_v1"),
    shipped!("xiaojing_review_v1"),
    shipped!("analyst_plan"),
    shipped!("architect_spec"),
    shipped!("guardian_report"),
    shipped!("evidence_item"),
    shipped!("chat_state"),
    shipped!("memory_packet_v1"),
    shipped!("memory_candidates_v1"),
    shipped!("memory_summary_v1"),
];
