//! A guess. It ends with its run unless it says otherwise, and never becomes knowledge by itself.

use countersign_contracts::memory::insight::{InsightKind, InsightTrigger, InsightValidationState};
use countersign_core::run::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

/// A revision of a guess.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryInsight {
    /// Unique within its subject.
    pub id: String,
    /// From 1.
    pub revision: u32,
    /// The run that had it.
    pub run: String,
    /// What kind of guess.
    pub kind: InsightKind,
    /// The guess in one sentence.
    pub statement: String,
    /// What gave rise to it.
    pub trigger: InsightTrigger,
    /// From 0 to 1.
    pub confidence: f64,
    /// How far it has been tested.
    pub validation: InsightValidationState,
    /// How it could be tested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// Until when it may be seen; where a row says nothing of it or null, until the end of its run.
    #[serde(default, deserialize_with = "deserialize_expiry")]
    pub expires: MemoryExpiry,
    /// The events that gave rise to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// When this revision was written down.
    pub recorded_at: Timestamp,
}

/// Until when something may be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryExpiry {
    /// In its own run, and no other.
    #[default]
    RunEnd,
    /// Until this moment, which is included.
    At(Timestamp),
}

fn deserialize_expiry<'de, D: Deserializer<'de>>(from: D) -> Result<MemoryExpiry, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
