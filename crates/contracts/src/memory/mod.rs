//! `memory_packet_v1`: what of the memory goes into one prompt; and, a file each, what a model may propose to
//! it (`memory_candidates_v1`, `memory_summary_v1`).
//!
//! The shape alone: composing a packet, counting its tokens and rendering it are done elsewhere,
//! and that it stays within its budget is a rule of the contract. Objects the schema leaves open
//! keep what they do not know in `extra`, so that a stored packet is read and written again without
//! loss.

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

/// A memory packet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryPacket {
    /// Whom and what the packet is for.
    pub meta: PacketMeta,
    /// What the run is doing, and the thread of the conversation.
    pub short_term: ShortTermMemory,
    /// What stays true beyond the session.
    pub long_term: LongTermMemory,
    /// Guesses, kept apart from what is known.
    pub insight: PacketInsights,
    /// Every piece of evidence the packet refers to.
    pub citations: Vec<Citation>,
    /// What the packet cost.
    pub budget_report: BudgetReport,
    /// Why it holds what it holds.
    pub explain: PacketExplanation,
}
