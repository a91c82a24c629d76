//! Guesses, kept apart from what is known.

use serde::{Deserialize, Serialize};

use crate::nullable::{Nullable, deserialize_present};

/// The guesses of a packet, each in the list of its type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketInsights {
    /// Where they may be shown.
    pub usage_policy: InsightUsagePolicy,
    /// Of type hypothesis.
    pub hypotheses: Vec<InsightItem>,
    /// Of type strategy.
    pub strategy_sketches: Vec<InsightItem>,
    /// Of type pattern.
    pub patterns: Vec<InsightItem>,
}

/// Where insights may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InsightUsagePolicy {
    /// Whether a validated one may go to a responder.
    pub allow_in_responder: bool,
}

/// One guess.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InsightItem {
    /// Unique among the insights.
    pub id: String,
    /// Decides which list it stands in.
    #[serde(rename = "type")]
    pub kind: InsightKind,
    /// The guess in one sentence.
    pub statement: String,
    /// What gave rise to it; `synthesis` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<InsightTrigger>,
    /// From 0 to 1; 0.3 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// How far it has been tested.
    pub validation_state: InsightValidationState,
    /// How it could be tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests_suggested: Option<Vec<String>>,
    /// A time or `run_end`, which is also meant when it is absent; null for never.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_present"
    )]
    pub expires_at: Option<Nullable<String>>,
    /// The citations that gave rise to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<String>>,
}

/// What kind of guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum InsightKind {
    Hypothesis,
    Strategy,
    Pattern,
}

/// What gave rise to a guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum InsightTrigger {
    Conflict,
    Failure,
    Synthesis,
    Analogy,
}

/// How far a guess has been tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum InsightValidationState {
    Unvalidated,
    Testing,
    Validated,
    Rejected,
}
