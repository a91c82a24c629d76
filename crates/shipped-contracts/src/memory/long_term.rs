//! Memory that outlives the session: facts, procedures and episodes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::JsonObject;
use crate::nullable::{Nullable, deserialize_present, optional_i64};

/// The long-term section of a packet: facts, procedures and episodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongTermMemory {
    /// Facts, preferences and rules.
    pub facts: Vec<PacketFact>,
    /// The subset of `facts` that are preferences, repeated here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferences: Option<Vec<PacketFact>>,
    /// Known procedures for a type of task.
    pub procedures: Vec<PacketProcedure>,
    /// Relevant past events.
    pub episodes: Vec<PacketEpisode>,
}

/// Something that is or was known to be true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketFact {
    /// The fact id; unique among the facts of the packet.
    pub fact_id: String,
    /// The subject of the fact; not empty.
    pub fact_key: String,
    /// The value of the fact; null is a valid value.
    pub value: Value,
    /// Whether the fact is still valid.
    pub status: FactStatus,
    /// The period in which the fact is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validity: Option<FactValidity>,
    /// The confidence, from 0 to 1; 0.5 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The ids of the citations that support the fact.
    pub sources: Vec<String>,
    /// The owner of the fact; the user if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope_level: Option<ScopeLevel>,
    /// A note for human readers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// Whether a fact is still valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FactStatus {
    /// The fact is valid.
    Active,
    /// Other information contradicts the fact.
    Disputed,
    /// A newer fact replaced this one.
    Deprecated,
}

/// The period in which a fact is valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactValidity {
    /// The start of the period, as an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<String>,
    /// The end of the period, as an RFC 3339 date-time; null if the period has no end.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_present"
    )]
    pub valid_to: Option<Nullable<String>>,
}

/// The owner of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ScopeLevel {
    User,
    Agent,
    Tenant,
}

/// A known procedure for a type of task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketProcedure {
    /// The procedure id; unique among the procedures of the packet.
    pub procedure_id: String,
    /// The type of task; not empty.
    pub task_type: String,
    /// Steps, preferred tools and output format.
    pub content: JsonObject,
    /// The priority; the highest comes first; 0 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_i64")]
    pub priority: Option<i64>,
    /// The ids of the citations that support the procedure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<String>>,
    /// The conditions under which the procedure applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applicability: Option<JsonObject>,
}

/// A past event or a group of related past events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketEpisode {
    /// The episode id; unique among the episodes of the packet.
    pub episode_id: String,
    /// The time in which the episode happened.
    pub time_range: EpisodeTimeRange,
    /// What happened, in a few sentences.
    pub summary: String,
    /// The most important points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highlights: Option<Vec<String>>,
    /// Tags by which cues find the episode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// The people, projects and systems involved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entities: Option<Vec<String>>,
    /// The ids of the citations that support the episode.
    pub sources: Vec<String>,
    /// How much the summary was compressed; `raw` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression_level: Option<CompressionLevel>,
    /// The recency of the episode, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recency_score: Option<f64>,
}

/// The time in which an episode happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeTimeRange {
    /// The start, as an RFC 3339 date-time.
    pub start: String,
    /// The end, as an RFC 3339 date-time; equals the start if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
}

/// How much an episode was compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum CompressionLevel {
    Raw,
    PhaseSummary,
    Milestone,
}
