//! Whom and what a packet is for, and what it may cost.

use serde::{Deserialize, Serialize};

use crate::JsonObject;
use crate::nullable::whole_u64;

/// Whom and what a packet is for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketMeta {
    /// The version of the format.
    pub schema_version: PacketVersion,
    /// Whose memory this is.
    pub scope: PacketScope,
    /// A date-time.
    pub generated_at: String,
    /// Which kind of prompt it goes into.
    pub purpose: PacketPurpose,
    /// Selects the procedures; `generic` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// What activated the memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cues: Option<PacketCues>,
    /// How many tokens it may take.
    pub budget: PacketBudget,
    /// The composing policy; `default` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_id: Option<String>,
}

/// The one version of the packet format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PacketVersion {
    /// `v1`.
    #[serde(rename = "v1")]
    V1,
}

/// Whose memory a packet comes from; none of the required ids is empty.
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

/// Which kind of prompt a packet goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PacketPurpose {
    /// Decides what to do.
    Planner,
    /// Does it.
    Tool,
    /// Speaks to the user.
    Responder,
}

/// What activated the memories in a packet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PacketCues {
    /// Tags asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Customers, projects, systems.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entities: Option<Vec<String>>,
    /// Words searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keywords: Option<Vec<String>>,
    /// The time the request speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_range: Option<CueTimeRange>,
    /// What the schema does not name.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// The time a request speaks of, open at either side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CueTimeRange {
    /// A date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// A date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
}

/// How many tokens a packet may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketBudget {
    /// At least 256.
    #[serde(deserialize_with = "whole_u64")]
    pub max_tokens: u64,
    /// By section.
    pub per_section: SectionBudgets,
}

/// How many tokens each section may take.
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
