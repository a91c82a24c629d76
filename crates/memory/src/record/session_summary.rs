//! A session so far, in short.

use countersign_core::run::Timestamp;
use serde::{Deserialize, Serialize};

/// A revision of a session's rolling summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionSummary {
    /// From 1.
    pub revision: u32,
    /// The session so far.
    pub text: String,
    /// Events worth keeping word for word, the most important first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<String>,
    /// The events that the text tells of, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Who wrote it: `rules`, or the name of a model; absent where a person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The last position of the session that it covers.
    pub upto: u32,
    /// When this revision was written down.
    pub recorded_at: Timestamp,
}
