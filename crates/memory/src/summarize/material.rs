//! What a summary is made of.

use serde_json::{Value, json};

use super::BY_RULES;
use crate::record::{Event, Summary};

/// What a summary of a session is made of: no words of a guess that nobody has validated, and nothing that ends.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Material {
    /// The summary before.
    pub previous: Option<Summary>,
    /// The events that it tells of and that are still there, in their order.
    pub kept: Vec<Event>,
    /// The events since, in their order.
    pub new: Vec<Event>,
    /// Guesses that nobody has validated, as they are looked for.
    pub guesses: Vec<String>,
    /// The last position of the session.
    pub upto: u32,
}

impl Material {
    /// Whether rules may write the next summary: what a person or a model wrote is theirs.
    #[must_use]
    pub fn is_by_rules(&self) -> bool {
        self.previous.as_ref().is_none_or(|summary| summary.by.as_deref() == Some(BY_RULES))
    }

    /// Every event, in order.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        let mut all: Vec<Event> = self.kept.iter().chain(&self.new).cloned().collect();
        all.sort_by_key(|event| event.place);
        all.dedup_by(|one, other| one.id == other.id);
        all
    }

    /// For the rules of `memory_summary_v1`, beside the events that are shown.
    #[must_use]
    pub fn state(&self, mut events: Value, most: usize) -> Value {
        events["guesses"] = json!(self.guesses);
        events["most"] = json!(most);
        events
    }
}
