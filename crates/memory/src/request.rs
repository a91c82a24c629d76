//! What a packet is asked for with.

use countersign_contracts::memory::meta::{PacketCues, PacketPurpose, SectionBudgets};
use countersign_core::run::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{EmbeddingVector, MemoryScope};

/// A request for a packet: with the rows that may be seen and a policy, all that composing reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketRequest {
    /// Whose memory.
    pub scope: MemoryScope,
    /// Which kind of prompt it goes into.
    pub purpose: PacketPurpose,
    /// The kind of task: selects the procedures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// Tags, entities, keywords and a time that the request speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cues: Option<PacketCues>,
    /// What is being said now, in its own words: ranked with, never shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What an embedder made of what is being said: the build keeps it, so that it is never asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector: Option<EmbeddingVector>,
    /// How many tokens, where it is not for the policy to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetOverride>,
    /// The one moment that counts as now.
    pub as_of: Timestamp,
}

/// A budget of the caller's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetOverride {
    /// In all.
    pub max_tokens: u64,
    /// By section; the policy's shares where absent. Where it is there, no section gets what another
    /// leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_section: Option<SectionBudgets>,
}
