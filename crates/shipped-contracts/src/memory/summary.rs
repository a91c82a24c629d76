//! `memory_summary_v1`: a model's summary of a session so far. These types cover the shape only:
//! rules of the contract check that each line references events that the model was shown, and that
//! no line repeats an insight.

use serde::{Deserialize, Serialize};

/// A model's summary of a session so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySummary {
    /// The lines of the summary, oldest first; from 1 to 24.
    pub lines: Vec<SummaryLine>,
}

/// One sentence of a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummaryLine {
    /// The sentence; from 1 to 400 characters.
    pub text: String,
    /// The ids of the events that the sentence summarizes; from 1 to 16 ids of 1 to 256 characters.
    pub events: Vec<String>,
}
