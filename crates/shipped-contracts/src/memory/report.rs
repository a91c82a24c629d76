//! The citations of a packet, its token usage, and the explanation of its selection.

use serde::{Deserialize, Serialize};

use super::long_term::PacketFact;
use crate::nullable::{deserialize_counts, whole_u64};
use crate::{JsonObject, NamedCounts};

/// One piece of evidence that packet items reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// The citation id, which `sources` and `evidence_id` fields reference.
    pub id: String,
    /// The type of evidence, such as `message`, `tool_result` or `state_patch`.
    #[serde(rename = "type")]
    pub kind: String,
    /// When the evidence was recorded, as an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<String>,
    /// A short summary of the evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// The token usage of a packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetReport {
    /// The token limit of the packet; at least 256.
    #[serde(deserialize_with = "whole_u64")]
    pub max_tokens: u64,
    /// The tokens used, as estimated by the declared tokenizer.
    #[serde(deserialize_with = "whole_u64")]
    pub used_tokens_est: u64,
    /// Tokens used, by section name.
    #[serde(deserialize_with = "deserialize_counts")]
    pub section_usage: NamedCounts,
    /// The items that were shortened.
    pub degradations: Vec<BudgetDegradation>,
    /// The items that were omitted because of their cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omissions: Option<Vec<BudgetOmission>>,
}

/// An item that was shortened to save tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names say it")]
pub struct BudgetDegradation {
    pub section: String,
    pub action: String,
    pub reason: String,
}

/// An item that was omitted because of its cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names say it")]
pub struct BudgetOmission {
    pub item: String,
    pub reason: String,
}

/// Why each item was selected or omitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketExplanation {
    /// The selected items, each with the rule that selected it.
    pub selected: Vec<String>,
    /// The omitted items, for any reason.
    pub omitted: Vec<OmittedItem>,
    /// The windows, limits and filters that the composer applied.
    pub filters: JsonObject,
    /// Facts that contradict or replace each other.
    pub conflicts: Vec<FactConflict>,
    /// The inputs needed to compose the same packet again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub determinism: Option<JsonObject>,
}

/// An item that was omitted, for any reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct OmittedItem {
    pub item: String,
    pub reason: String,
    /// Keys that the schema does not define.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// Facts that contradict or replace each other.
///
/// A conflict that a packet shows to its reader lists the contradicting facts under `values`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactConflict {
    /// The type of conflict, as the composer names it.
    #[serde(rename = "type")]
    pub kind: String,
    /// The conflict in one sentence.
    pub detail: String,
    /// The ids of the facts involved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fact_ids: Option<Vec<String>>,
    /// Keys that the schema does not define.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// The member of a conflict that lists the contradicting facts.
const VALUES: &str = "values";

impl FactConflict {
    /// Returns the contradicting facts that the conflict shows; none if it shows only their ids.
    #[must_use]
    pub fn list_shown_facts(&self) -> Vec<PacketFact> {
        let values = self.extra.get(VALUES).and_then(|values| values.as_array());
        let facts = values.into_iter().flatten();
        facts.filter_map(|fact| serde_json::from_value(fact.clone()).ok()).collect()
    }

    /// Lists the contradicting facts in the conflict.
    ///
    /// # Errors
    /// If a value cannot be written as JSON.
    pub fn show_facts(&mut self, facts: &[PacketFact]) -> Result<(), serde_json::Error> {
        self.extra.insert(VALUES.to_owned(), serde_json::to_value(facts)?);
        Ok(())
    }
}
