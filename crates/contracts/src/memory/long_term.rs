//! What stays true beyond the session: facts, procedures, episodes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::JsonObject;
use crate::nullable::{Nullable, deserialize_present, optional_i64};

/// Facts, procedures and episodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongTermMemory {
    /// Facts, preferences and rules.
    pub facts: Vec<PacketFact>,
    /// The facts that are preferences, once more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferences: Option<Vec<PacketFact>>,
    /// Known ways of doing a kind of task.
    pub procedures: Vec<PacketProcedure>,
    /// What happened before.
    pub episodes: Vec<PacketEpisode>,
}

/// Something known to be true, or to have been.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketFact {
    /// Unique among the facts.
    pub fact_id: String,
    /// What the fact is about; not empty.
    pub fact_key: String,
    /// The fact itself; null is a value too.
    pub value: Value,
    /// Whether it still holds.
    pub status: FactStatus,
    /// When it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validity: Option<FactValidity>,
    /// From 0 to 1; 0.5 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The citations it rests on.
    pub sources: Vec<String>,
    /// Whom it belongs to; the user when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope_level: Option<ScopeLevel>,
    /// A remark for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// Whether a fact still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FactStatus {
    /// It holds.
    Active,
    /// Something contradicts it.
    Disputed,
    /// Another took its place.
    Deprecated,
}

/// When a fact holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactValidity {
    /// A date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<String>,
    /// A date-time, or null for without end.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_present"
    )]
    pub valid_to: Option<Nullable<String>>,
}

/// Whom a fact belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ScopeLevel {
    User,
    Agent,
    Tenant,
}

/// A known way of doing a kind of task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketProcedure {
    /// Unique among the procedures.
    pub procedure_id: String,
    /// The kind of task; not empty.
    pub task_type: String,
    /// Steps, preferred tools, output format.
    pub content: JsonObject,
    /// The highest comes first; 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_i64")]
    pub priority: Option<i64>,
    /// The citations it rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<String>>,
    /// When it applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applicability: Option<JsonObject>,
}

/// Something that happened before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketEpisode {
    /// Unique among the episodes.
    pub episode_id: String,
    /// When it happened.
    pub time_range: EpisodeTimeRange,
    /// What happened.
    pub summary: String,
    /// The few points that matter most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highlights: Option<Vec<String>>,
    /// By which cues find it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Whom and what it was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entities: Option<Vec<String>>,
    /// The citations it rests on.
    pub sources: Vec<String>,
    /// How much was condensed; `raw` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression_level: Option<CompressionLevel>,
    /// From 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recency_score: Option<f64>,
}

/// When an episode happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeTimeRange {
    /// A date-time.
    pub start: String,
    /// A date-time; the start when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
}

/// How much of an episode was condensed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum CompressionLevel {
    Raw,
    PhaseSummary,
    Milestone,
}
