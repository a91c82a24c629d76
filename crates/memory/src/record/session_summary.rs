//! The rolling summary of a session.

use countersign_contract::Timestamp;
use serde::{Deserialize, Serialize};

/// A revision of a session's rolling summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionSummary {
    /// The revision number, starting at 1.
    pub revision: u32,
    /// The summary of the session so far.
    pub text: String,
    /// The ids of events to keep verbatim, most important first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<String>,
    /// The ids of the events that the text summarizes, in the order of the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The author: `rules`, or the name of a model; absent if a person wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_by: Option<String>,
    /// The last event position of the session that the summary covers.
    pub covered_position: u32,
    /// The timestamp at which this revision was recorded.
    pub recorded_at: Timestamp,
}
