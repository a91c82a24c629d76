//! The request for a memory packet.

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::meta::{PacketCues, PacketPurpose, SectionBudgets};
use serde::{Deserialize, Serialize};

use crate::{EmbeddingVector, MemoryScope};

/// A request for a packet. Composing reads the request, the candidate rows and a policy, and
/// nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketRequest {
    /// The owner, session and run that the packet is composed for.
    pub scope: MemoryScope,
    /// The kind of prompt the packet goes into.
    pub purpose: PacketPurpose,
    /// The task type, which selects procedures; `generic` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// Tags, entities, keywords and a time range that the request mentions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cues: Option<PacketCues>,
    /// The current message, verbatim. It is used for ranking and never appears in the packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The embedding of the current message. The build stores it, so a replay does not call the
    /// embedder again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector: Option<EmbeddingVector>,
    /// A budget that replaces the policy's; the policy's budget applies when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetOverride>,
    /// The timestamp that counts as now for the whole packet.
    pub as_of: Timestamp,
}

impl PacketRequest {
    /// Creates a request without a message, cues or a budget of its own.
    #[must_use]
    pub fn new(scope: MemoryScope, purpose: PacketPurpose, as_of: Timestamp) -> Self {
        Self {
            scope,
            purpose,
            task_type: None,
            cues: None,
            message: None,
            vector: None,
            budget: None,
            as_of,
        }
    }

    /// Returns the time range of the cues, both ends inclusive; an end that is not given is open.
    /// Returns `None` without a time range, and for an invalid one, which composing reports.
    #[must_use]
    pub fn time_range(&self) -> Option<(Timestamp, Timestamp)> {
        let range = self.cues.as_ref()?.time_range.as_ref()?;
        let parse =
            |end: Option<&str>, open: i64| end.map_or(Some(Timestamp(open)), Timestamp::parse);
        let from = parse(range.start.as_deref(), i64::MIN)?;
        let until = parse(range.end.as_deref(), i64::MAX)?;
        (from <= until).then_some((from, until))
    }

    /// Sets the current message, by which rows are ranked.
    #[must_use]
    pub fn with_message(self, message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..self }
    }
}

/// A token budget that the caller sets instead of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetOverride {
    /// The total number of tokens; the minimum is 256.
    pub max_tokens: u64,
    /// Budgets by section; the policy's shares when absent. When present, a section does not
    /// receive tokens that another section leaves unused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_section: Option<SectionBudgets>,
}
