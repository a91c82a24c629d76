//! Episodes: summaries of something that happened.

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::long_term::CompressionLevel;
use serde::{Deserialize, Serialize};

/// A revision of an episode. Ageing writes a new revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryEpisode {
    /// The episode id, unique within its subject.
    pub id: String,
    /// The revision number, starting at 1.
    pub revision: u32,
    /// The timestamp at which the episode began.
    pub start: Timestamp,
    /// The timestamp at which the episode ended; age is counted from here.
    pub end: Timestamp,
    /// The timestamp at which this revision was recorded.
    pub recorded_at: Timestamp,
    /// A summary of what happened, in sentences.
    pub summary: String,
    /// The few most important points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub highlights: Vec<String>,
    /// Tags that the cues of a request match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The people and things that the episode is about; the cues of a request match them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<String>,
    /// The ids of the events that the episode is based on.
    pub sources: Vec<String>,
    /// How much the episode has been condensed.
    pub compression: CompressionLevel,
    /// The ids of the episodes that were merged into this one; empty if none were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged_from: Vec<String>,
    /// The id of the episode that this one was merged into; absent if it was not merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<String>,
}
