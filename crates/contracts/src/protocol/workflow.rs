//! `workflow`: phases, transitions and gates as their file has them.
//!
//! The shape alone: whether a transition leads anywhere is for rules and analysis, and nothing here
//! runs.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::JsonObject;
use crate::nullable::optional_i64;

/// A state machine of phases and transitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowSpec {
    /// Unique in the protocol.
    pub id: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the workflow does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Workflows that are merged in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include: Option<WorkflowIncludes>,
    /// A run starts in the first.
    pub phases: Vec<PhaseSpec>,
    /// The ways from phase to phase.
    pub transitions: Vec<TransitionSpec>,
}

/// Workflows that are merged in, told apart by the JSON type.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
#[expect(missing_docs, reason = "the names say it")]
pub enum WorkflowIncludes {
    One(String),
    Many(Vec<String>),
}

impl TryFrom<Value> for WorkflowIncludes {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value {
            Value::String(id) => Ok(Self::One(id)),
            other => serde_json::from_value(other).map(Self::Many),
        }
    }
}

impl Serialize for WorkflowIncludes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(id) => id.serialize(serializer),
            Self::Many(ids) => ids.serialize(serializer),
        }
    }
}

/// One phase of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseSpec {
    /// Unique in the workflow.
    pub id: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether reaching it completes the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal: Option<bool>,
    /// The hook that runs after it is entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_enter: Option<String>,
    /// The hook that runs before it is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_exit: Option<String>,
    /// What the schema does not name.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// One way from phase to phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TransitionSpec {
    /// The phase that is left.
    pub from: String,
    /// The phase that is entered.
    pub to: String,
    /// The lowest open one is taken.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_i64")]
    pub priority: Option<i64>,
    /// What must hold; always open when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateOrCheck>,
    /// What the schema does not name.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// What must hold before a transition is open, told apart by the JSON type.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub enum GateOrCheck {
    /// The check of a criteria gate, written short.
    Check(String),
    /// A gate written out.
    Full(Box<GateSpec>),
}

impl TryFrom<Value> for GateOrCheck {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value {
            Value::String(check) => Ok(Self::Check(check)),
            other => serde_json::from_value(other).map(Self::Full),
        }
    }
}

impl Serialize for GateOrCheck {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Check(check) => check.serialize(serializer),
            Self::Full(gate) => gate.serialize(serializer),
        }
    }
}

/// A gate written out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateSpec {
    /// How the condition is decided.
    #[serde(rename = "type")]
    pub kind: GateSpecKind,
    /// The condition in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// An expression; needed for `criteria` and `expression`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// A file; needed for `file_exists`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// A field of the state; needed for `status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What the field must equal; needed for `status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// How a closed gate is asked again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<GateRetrySpec>,
    /// What the schema does not name.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// How the condition of a gate is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateSpecKind {
    /// A person approves.
    Manual,
    /// An expression over the state.
    Criteria,
    /// An expression over the state, under its other name.
    Expression,
    /// A file is there.
    FileExists,
    /// A field of the state has a value.
    Status,
}

/// How a closed gate is asked again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateRetrySpec {
    /// Whether the interval grows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<RetryModeSpec>,
    /// Such as `30s`, `5m` or `1h`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// How often at most.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_i64")]
    pub max_attempts: Option<i64>,
    /// What the schema does not name.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// Whether the interval between attempts grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum RetryModeSpec {
    Fixed,
    Exponential,
}
