//! `memory_candidates_v1`: what a model proposes to remember. The shape alone: that quotes stand in the events
//! they cite is a rule of the contract, and what becomes of a proposal is ruled on elsewhere.

use serde::{Deserialize, Serialize};

use super::insight::InsightKind;

/// What a model proposes to remember of events it was shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryCandidates {
    /// At most 32.
    pub facts: Vec<ProposedFact>,
    /// At most 16.
    pub insights: Vec<ProposedInsight>,
}

/// A fact in the words of whoever said it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposedFact {
    /// What it is about; from 1 to 120 characters.
    pub key: String,
    /// The words of the quote that say it; from 1 to 400 characters.
    pub value: String,
    /// The event it was said in; from 1 to 256 characters.
    pub event: String,
    /// The words of that event; from 1 to 2,000 characters.
    pub quote: String,
    /// From 0 to 1.
    pub confidence: f64,
    /// Whether it is what somebody likes or wants.
    pub preference: bool,
}

/// A guess.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposedInsight {
    /// What kind of guess.
    #[serde(rename = "type")]
    pub kind: InsightKind,
    /// The guess; from 1 to 400 characters.
    pub statement: String,
    /// From 1 to 16 events, each of 1 to 256 characters.
    pub because: Vec<String>,
    /// From 0 to 1.
    pub confidence: f64,
    /// At most 8, each of 1 to 400 characters.
    pub tests_suggested: Vec<String>,
}
