//! What a packet cost, what it rests on, and why it holds what it holds.

use serde::{Deserialize, Serialize};

use crate::nullable::{deserialize_counts, whole_u64};
use crate::{JsonObject, NamedCounts};

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// What sources and evidence ids refer to.
    pub id: String,
    /// Such as `message`, `tool_result` or `state_patch`.
    #[serde(rename = "type")]
    pub kind: String,
    /// A date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<String>,
    /// What it says, in short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// What a packet cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetReport {
    /// At least 256.
    #[serde(deserialize_with = "whole_u64")]
    pub max_tokens: u64,
    /// By the declared tokenizer.
    #[serde(deserialize_with = "whole_u64")]
    pub used_tokens_est: u64,
    /// Tokens by section.
    #[serde(deserialize_with = "deserialize_counts")]
    pub section_usage: NamedCounts,
    /// What was shortened.
    pub degradations: Vec<BudgetDegradation>,
    /// What was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omissions: Option<Vec<BudgetOmission>>,
}

/// Something that was shortened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names say it")]
pub struct BudgetDegradation {
    pub section: String,
    pub action: String,
    pub reason: String,
}

/// Something that was left out for its cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names say it")]
pub struct BudgetOmission {
    pub item: String,
    pub reason: String,
}

/// Why a packet holds what it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketExplanation {
    /// What went in, with the rule that chose it.
    pub selected: Vec<String>,
    /// What stayed out.
    pub omitted: Vec<OmittedItem>,
    /// The windows, limits and filters that were applied.
    pub filters: JsonObject,
    /// Facts that contradict or replace each other.
    pub conflicts: Vec<FactConflict>,
    /// What is needed to compose the packet again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub determinism: Option<JsonObject>,
}

/// Something that stayed out, for whatever reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct OmittedItem {
    pub item: String,
    pub reason: String,
    /// What the schema does not name.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// Facts that contradict or replace each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactConflict {
    /// What kind of conflict.
    #[serde(rename = "type")]
    pub kind: String,
    /// The conflict in a sentence.
    pub detail: String,
    /// The facts in question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fact_ids: Option<Vec<String>>,
    /// What the schema does not name.
    #[serde(flatten)]
    pub extra: JsonObject,
}
