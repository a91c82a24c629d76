//! `memory_packet_v1`, the part of the memory that goes into one prompt, and the memory items that
//! a model may propose (`memory_candidates_v1`, `memory_summary_v1`).
//!
//! These types cover the shape only. The memory composes, measures and renders packets, and a rule
//! of the contract checks that a packet stays within its budget. Where the schema allows additional
//! keys, the type keeps them in `extra`, so that reading a stored packet and writing it back loses
//! nothing.

pub mod meta;
pub mod short_term;
pub mod long_term;
pub mod insight;
pub mod report;
pub mod candidates;
pub mod summary;

use serde::{Deserialize, Serialize};

use insight::PacketInsights;
use long_term::LongTermMemory;
use meta::PacketMeta;
use report::{BudgetReport, Citation, PacketExplanation};
use short_term::ShortTermMemory;

/// The part of the memory that goes into one prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryPacket {
    /// The scope, purpose and token budget of the packet.
    pub meta: PacketMeta,
    /// The working state of the run and the recent conversation.
    pub short_term: ShortTermMemory,
    /// Memory that outlives the session.
    pub long_term: LongTermMemory,
    /// Insights, kept separate from confirmed facts.
    pub insight: PacketInsights,
    /// Every piece of evidence that the packet references.
    pub citations: Vec<Citation>,
    /// The tokens used, and what was shortened or omitted.
    pub budget_report: BudgetReport,
    /// Why each item was selected or omitted.
    pub explain: PacketExplanation,
}
