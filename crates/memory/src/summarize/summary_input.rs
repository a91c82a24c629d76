//! The input of a session summary.

use serde_json::{Value, json};

use super::WRITTEN_BY_RULES;
use crate::record::{MemoryEvent, SessionSummary};

/// The input of a session summary. It contains no words of unvalidated insights and nothing that
/// expires.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SummaryInput {
    /// The previous summary; absent for the first one.
    pub previous: Option<SessionSummary>,
    /// The events that the previous summary covers and that still exist, in order.
    pub summarized_events: Vec<MemoryEvent>,
    /// The events since the previous summary, in order.
    pub new_events: Vec<MemoryEvent>,
    /// The statements of unvalidated insights, normalized for matching.
    pub unvalidated_insights: Vec<String>,
    /// The last event position of the session.
    pub last_position: u32,
}

impl SummaryInput {
    /// Returns whether rules may write the next summary. Rules do not overwrite a summary that a
    /// person or a model wrote.
    #[must_use]
    pub fn is_by_rules(&self) -> bool {
        self.previous
            .as_ref()
            .is_none_or(|summary| summary.written_by.as_deref() == Some(WRITTEN_BY_RULES))
    }

    /// Returns every event once, in order.
    #[must_use]
    pub fn collect_events(&self) -> Vec<MemoryEvent> {
        let mut all: Vec<MemoryEvent> =
            self.summarized_events.iter().chain(&self.new_events).cloned().collect();
        all.sort_by_key(|event| event.location);
        all.dedup_by(|one, other| one.id == other.id);
        all
    }

    /// Builds the state for the rules of `memory_summary_v1`, in addition to the shown events.
    #[must_use]
    pub fn build_state(&self, mut events: Value, most: usize) -> Value {
        events["unvalidated_insights"] = json!(self.unvalidated_insights);
        events["most"] = json!(most);
        events
    }
}
