//! Something that is true, or was held to be.

use countersign_contracts::memory::long_term::{FactStatus, ScopeLevel};
use countersign_core::run::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A revision of a fact. It has two times: when it holds, and when that was written down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryFact {
    /// Unique within its scope level.
    pub id: String,
    /// From 1; each change of status is another one.
    pub revision: u32,
    /// What it is about, written one way.
    pub key: String,
    /// The fact itself.
    pub value: Value,
    /// Whether it still holds.
    pub status: FactStatus,
    /// Whom it belongs to: one user with one agent, all users of an agent, or the whole tenant.
    pub level: ScopeLevel,
    /// From when it holds; always, where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// Until when, that moment included; without end, where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// When this revision was written down.
    pub recorded_at: Timestamp,
    /// From 0 to 1.
    pub confidence: f64,
    /// What it rests on.
    pub evidence: Vec<FactEvidence>,
    /// Whether it is a preference.
    #[serde(default)]
    pub preference: bool,
    /// By which cues find it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whom and what it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<String>,
    /// A remark for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// The fact that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
}

/// A piece of evidence: an event, and the words in it that say so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactEvidence {
    /// The event.
    pub event: String,
    /// Words that stand in it, letter for letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}
