//! Insights: unproven statements. An insight expires at the end of its run unless it says
//! otherwise, and never becomes knowledge by itself.

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::insight::{
    InsightKind, InsightTrigger, InsightValidationState,
};
use serde::{Deserialize, Deserializer, Serialize};

/// A revision of an insight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryInsight {
    /// The insight id, unique within its subject.
    pub id: String,
    /// The revision number, starting at 1.
    pub revision: u32,
    /// The id of the run that produced the insight.
    pub run: String,
    /// The type of the insight.
    pub kind: InsightKind,
    /// The insight in one sentence.
    pub statement: String,
    /// What prompted the insight.
    pub trigger: InsightTrigger,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// How far the insight has been validated.
    pub validation: InsightValidationState,
    /// Suggestions for testing the insight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// When the insight stops being visible; at the end of its run if a stored row has no value or
    /// null.
    #[serde(default, deserialize_with = "deserialize_expiry")]
    pub expires: MemoryExpiry,
    /// The ids of the events that prompted the insight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The timestamp at which this revision was recorded.
    pub recorded_at: Timestamp,
}

/// When a row stops being visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryExpiry {
    /// The row is visible in its own run only.
    #[default]
    RunEnd,
    /// The row is visible up to and including this timestamp.
    Until(Timestamp),
}

fn deserialize_expiry<'de, D: Deserializer<'de>>(from: D) -> Result<MemoryExpiry, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
