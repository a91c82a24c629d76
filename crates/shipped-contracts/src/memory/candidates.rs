//! `memory_candidates_v1`: the memory items that a model proposes. These types cover the shape
//! only: a rule of the contract checks that each quote occurs in the event it cites, and the memory
//! decides which proposals to store.

use serde::{Deserialize, Serialize};

use super::insight::InsightKind;

/// The facts and insights that a model proposes to store, based on the events it was shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryCandidates {
    /// The proposed facts; at most 32.
    pub facts: Vec<ProposedFact>,
    /// The proposed insights; at most 16.
    pub insights: Vec<ProposedInsight>,
}

/// A proposed fact, in the words of the person who stated it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposedFact {
    /// The subject of the fact; from 1 to 120 characters.
    pub key: String,
    /// The part of the quote that states the fact; from 1 to 400 characters.
    pub value: String,
    /// The id of the event that states the fact; from 1 to 256 characters.
    pub event: String,
    /// The text of that event, word for word; from 1 to 2,000 characters.
    pub quote: String,
    /// The model's confidence, from 0 to 1.
    pub confidence: f64,
    /// Whether the fact states a preference.
    pub preference: bool,
}

/// An insight that a model proposes: a conclusion that is not a confirmed fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposedInsight {
    /// Decides the list in which the packet shows the insight.
    #[serde(rename = "type")]
    pub kind: InsightKind,
    /// The insight in one sentence; from 1 to 400 characters.
    pub statement: String,
    /// The ids of the events that support the insight; from 1 to 16 ids of 1 to 256 characters.
    pub because: Vec<String>,
    /// The model's confidence, from 0 to 1.
    pub confidence: f64,
    /// Ways to test the insight; at most 8, each of 1 to 400 characters.
    pub tests_suggested: Vec<String>,
}
