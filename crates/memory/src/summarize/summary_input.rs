//! What a summary is made of.

use serde_json::{Value, json};

use super::WRITTEN_BY_RULES;
use crate::record::{MemoryEvent, SessionSummary};

/// What a summary of a session is made of: no words of a guess that nobody has validated, and nothing that ends.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SummaryInput {
    /// The summary before.
    pub previous: Option<SessionSummary>,
    /// The events that it tells of and that are still there, in their order.
    pub summarized_events: Vec<MemoryEvent>,
    /// The events since, in their order.
    pub new_events: Vec<MemoryEvent>,
    /// Guesses that nobody has validated, as they are looked for.
    pub guesses: Vec<String>,
    /// The last position of the session.
    pub last_position: u32,
}

impl SummaryInput {
    /// Whether rules may write the next summary: what a person or a model wrote is theirs.
    #[must_use]
    pub fn is_by_rules(&self) -> bool {
        self.previous.as_ref().is_none_or(|summary| summary.by.as_deref() == Some(WRITTEN_BY_RULES))
    }

    /// Every event, in order.
    #[must_use]
    pub fn collect_events(&self) -> Vec<MemoryEvent> {
        let mut all: Vec<MemoryEvent> =
            self.summarized_events.iter().chain(&self.new_events).cloned().collect();
        all.sort_by_key(|event| event.place);
        all.dedup_by(|one, other| one.id == other.id);
        all
    }

    /// For the rules of `memory_summary_v1`, beside the events that are shown.
    #[must_use]
    pub fn build_state(&self, mut events: Value, most: usize) -> Value {
        events["guesses"] = json!(self.guesses);
        events["most"] = json!(most);
        events
    }
}
