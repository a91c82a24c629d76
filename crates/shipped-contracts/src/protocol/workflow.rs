//! `workflow`: phases, transitions and gates as defined in the workflow file.
//!
//! These types cover the shape only. Rules and the protocol check verify that transitions lead to
//! existing phases; nothing here executes a workflow.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::JsonObject;
use crate::nullable::optional_i64;

/// A state machine of phases and transitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowSpec {
    /// The workflow id; unique in the protocol.
    pub id: String,
    /// The display name of the workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The purpose of the workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Workflows to merge into this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include: Option<WorkflowIncludes>,
    /// The phases in order; a run starts in the first.
    pub phases: Vec<PhaseSpec>,
    /// The transitions between the phases.
    pub transitions: Vec<TransitionSpec>,
}

/// The workflows to merge in; the JSON type distinguishes the variants.
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
    /// The phase id; unique in the workflow.
    pub id: String,
    /// The display name of the phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether entering the phase completes the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal: Option<bool>,
    /// The hook that runs after the phase is entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_enter: Option<String>,
    /// The hook that runs before the phase is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_exit: Option<String>,
    /// Keys that the schema does not define.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// A transition from one phase to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TransitionSpec {
    /// The id of the phase that the run leaves.
    pub from: String,
    /// The id of the phase that the run enters.
    pub to: String,
    /// The priority; the open transition with the lowest number is taken.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_i64")]
    pub priority: Option<i64>,
    /// The condition of the transition; if absent, the transition is always open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateOrCheck>,
    /// Keys that the schema does not define.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// The condition that opens a transition; the JSON type distinguishes the variants.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub enum GateOrCheck {
    /// The short form: the expression of a criteria gate.
    Check(String),
    /// The long form: a gate object.
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

/// A gate in its long form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateSpec {
    /// How the gate is evaluated.
    #[serde(rename = "type")]
    pub kind: GateSpecKind,
    /// The condition in plain language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The expression to evaluate; required for `criteria` and `expression`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// The file path to look for; required for `file_exists`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The state field to compare; required for `status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The value that the field must equal; required for `status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// How often and at which interval a closed gate is evaluated again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<GateRetrySpec>,
    /// Keys that the schema does not define.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// How a gate is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateSpecKind {
    /// A person approves the transition.
    Manual,
    /// An expression over the state must hold.
    Criteria,
    /// A synonym of `criteria`.
    Expression,
    /// A file must exist.
    FileExists,
    /// A field of the state must equal a value.
    Status,
}

/// How a closed gate is evaluated again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateRetrySpec {
    /// Whether the interval grows between attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<RetryModeSpec>,
    /// The time between attempts, such as `30s`, `5m` or `1h`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// The maximum number of attempts.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_i64")]
    pub max_attempts: Option<i64>,
    /// Keys that the schema does not define.
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
