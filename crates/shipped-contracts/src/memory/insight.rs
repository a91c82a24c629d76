//! The insights of a packet, which are kept separate from confirmed facts.

use serde::{Deserialize, Serialize};

use crate::nullable::{Nullable, deserialize_present};

/// The insights of a packet, grouped by kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketInsights {
    /// To whom the insights may be shown.
    pub usage_policy: InsightUsagePolicy,
    /// Insights of kind `hypothesis`.
    pub hypotheses: Vec<InsightItem>,
    /// Insights of kind `strategy`.
    pub strategy_sketches: Vec<InsightItem>,
    /// Insights of kind `pattern`.
    pub patterns: Vec<InsightItem>,
}

/// To whom insights may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InsightUsagePolicy {
    /// Whether a responder may see insights that are validated.
    pub allow_in_responder: bool,
}

/// One insight of a packet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InsightItem {
    /// The insight id; unique among the insights of the packet.
    pub id: String,
    /// Decides which list of the packet holds the insight.
    #[serde(rename = "type")]
    pub kind: InsightKind,
    /// The insight in one sentence.
    pub statement: String,
    /// What caused the insight; `synthesis` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<InsightTrigger>,
    /// The confidence, from 0 to 1; 0.3 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// How far the insight has been tested.
    pub validation_state: InsightValidationState,
    /// Ways to test the insight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests_suggested: Option<Vec<String>>,
    /// A date-time or `run_end`; `run_end` if absent. Null means that the insight never expires.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_present"
    )]
    pub expires_at: Option<Nullable<String>>,
    /// The ids of the citations that led to the insight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<String>>,
}

/// The kind of an insight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum InsightKind {
    Hypothesis,
    Strategy,
    Pattern,
}

/// What caused an insight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum InsightTrigger {
    Conflict,
    Failure,
    Synthesis,
    Analogy,
}

/// How far an insight has been tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum InsightValidationState {
    Unvalidated,
    Testing,
    Validated,
    Rejected,
}
