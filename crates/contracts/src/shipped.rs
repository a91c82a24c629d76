//! The shipped files themselves, compiled into the binary.
//!
//! Text and nothing else: no parsing happens here, and no file is read at run time.
//! The order is that of the processes they belong to, and every id stands here once.

/// One shipped contract: its id, its contract file, and the schema that file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShippedContract {
    /// The id, which is also the name of both files.
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
