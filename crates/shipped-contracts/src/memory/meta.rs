//! The scope, purpose and token budget of a packet.

use serde::{Deserialize, Serialize};

use crate::JsonObject;
use crate::nullable::whole_u64;

/// The scope, purpose and token budget of a packet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketMeta {
    /// The version of the packet format.
    pub schema_version: PacketVersion,
    /// The owner of the memory: tenant, user, agent, session and run.
    pub scope: PacketScope,
    /// When the packet was composed, as an RFC 3339 date-time.
    pub generated_at: String,
    /// The kind of prompt that the packet is part of.
    pub purpose: PacketPurpose,
    /// Selects the procedures; `generic` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// The cues that selected the memory items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cues: Option<PacketCues>,
    /// The token limits of the packet.
    pub budget: PacketBudget,
    /// The id of the composition policy; `default` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_id: Option<String>,
}

/// The only version of the packet format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PacketVersion {
    /// Serialized as `v1`.
    #[serde(rename = "v1")]
    V1,
}

/// The owner of the memory that a packet comes from; required ids are not empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names say it")]
pub struct PacketScope {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    pub user_id: String,
    pub agent_id: String,
    pub session_id: String,
    pub run_id: String,
}

/// The kind of prompt that a packet is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PacketPurpose {
    /// A prompt that decides what to do.
    Planner,
    /// A prompt that performs an action.
    Tool,
    /// A prompt that answers the user.
    Responder,
}

/// The cues that selected the memory items of a packet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PacketCues {
    /// The tags to search for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Named entities, such as customers, projects and systems.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entities: Option<Vec<String>>,
    /// The words to search for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keywords: Option<Vec<String>>,
    /// The period that the request refers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_range: Option<CueTimeRange>,
    /// Keys that the schema does not define.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// The period that a request refers to; open on a side whose bound is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CueTimeRange {
    /// The start, as an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The end, as an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
}

/// The token limits of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketBudget {
    /// The token limit of the whole packet; at least 256.
    #[serde(deserialize_with = "whole_u64")]
    pub max_tokens: u64,
    /// The token limit of each section.
    pub per_section: SectionBudgets,
}

/// The token limit of each section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names are those of the sections")]
pub struct SectionBudgets {
    #[serde(deserialize_with = "whole_u64")]
    pub working_state: u64,
    #[serde(deserialize_with = "whole_u64")]
    pub facts: u64,
    #[serde(deserialize_with = "whole_u64")]
    pub procedures: u64,
    #[serde(deserialize_with = "whole_u64")]
    pub short_term_summary: u64,
    #[serde(deserialize_with = "whole_u64")]
    pub episodes: u64,
    #[serde(deserialize_with = "whole_u64")]
    pub insights: u64,
}
