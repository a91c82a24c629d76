//! Something that happened, told as a whole.

use countersign_contracts::memory::long_term::CompressionLevel;
use countersign_core::run::Timestamp;
use serde::{Deserialize, Serialize};

/// A revision of an episode; ageing makes another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryEpisode {
    /// Unique within its subject.
    pub id: String,
    /// From 1.
    pub revision: u32,
    /// When it began.
    pub start: Timestamp,
    /// When it ended.
    pub end: Timestamp,
    /// When this revision was written down.
    pub recorded_at: Timestamp,
    /// What happened.
    pub summary: String,
    /// The few points that matter most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub highlights: Vec<String>,
    /// By which cues find it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whom and what it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<String>,
    /// The events it rests on.
    pub sources: Vec<String>,
    /// How much was condensed.
    pub compression: CompressionLevel,
    /// The episodes that this one tells as one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<String>,
    /// The episode that tells this one now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
}
