//! `memory_summary_v1`: a session so far, as a model tells it. The shape alone: that lines name events that were
//! shown, and repeat no guess, are rules of the contract.

use serde::{Deserialize, Serialize};

/// A session so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySummary {
    /// From 1 to 24, the oldest first.
    pub lines: Vec<SummaryLine>,
}

/// One sentence of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummaryLine {
    /// What it says; from 1 to 400 characters.
    pub text: String,
    /// What it tells of: from 1 to 16 events, each of 1 to 256 characters.
    pub events: Vec<String>,
}
