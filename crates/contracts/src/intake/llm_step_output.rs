//! `llm_step_output`: what the model answers at every step of an interview.
//!
//! Holds the shape alone; that the operations fit their format, or that a question comes only with
//! `ask_user`, are rules of the contract.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Number, Value};

use crate::JsonObject;
use crate::nullable::deserialize_present;

/// One answer of the intake model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LlmStepOutput {
    /// A fresh id.
    pub output_id: String,
    /// The step this answers.
    pub step: IntakeStep,
    /// The proposed change of the state.
    pub patch: StepPatch,
    /// Issues to add, change or close.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue_updates: Option<Vec<IssueUpsert>>,
    /// What should happen next.
    pub next_action: NextAction,
    /// Why; at least three characters.
    pub rationale: String,
    /// What the orchestrator should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safety: Option<StepSafety>,
    /// Short notes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observations: Option<Vec<String>>,
}

/// A step of the interview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum IntakeStep {
    /// Reads the user's words.
    Interpret,
    /// Judges readiness.
    GateCheck,
}

/// A proposed change of the state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepPatch {
    /// How `ops` is written.
    pub format: PatchFormat,
    /// The change itself.
    pub ops: PatchOps,
}

/// How a patch is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatchFormat {
    /// RFC 6902.
    JsonPatch,
    /// RFC 7396.
    MergePatch,
}

/// The change itself, told apart by its JSON type.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub enum PatchOps {
    /// An array: operations in order.
    Operations(Vec<JsonPatchOp>),
    /// An object: a merge patch.
    Merge(JsonObject),
}

impl TryFrom<Value> for PatchOps {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value {
            Value::Object(merge) => Ok(Self::Merge(merge)),
            other => serde_json::from_value(other).map(Self::Operations),
        }
    }
}

impl Serialize for PatchOps {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Operations(operations) => operations.serialize(serializer),
            Self::Merge(merge) => merge.serialize(serializer),
        }
    }
}

/// One RFC 6902 operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JsonPatchOp {
    /// What is done.
    pub op: JsonPatchOpKind,
    /// Where; not empty.
    pub path: String,
    /// The source; needed for `move` and `copy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Needed for `add`, `replace` and `test`; a null that is there is `Some(Value::Null)`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_present"
    )]
    pub value: Option<Value>,
}

/// The six verbs of RFC 6902.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are those of the RFC")]
pub enum JsonPatchOpKind {
    Add,
    Remove,
    Replace,
    Move,
    Copy,
    Test,
}

/// One change to the list of issues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueUpsert {
    /// What is done.
    pub op: IssueOp,
    /// The issue or the part of it that changes; it must fit an issue only after it is merged.
    pub issue: JsonObject,
}

/// What is done to an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueOp {
    /// Add or change.
    Upsert,
    /// Close as settled.
    Resolve,
    /// Close as beside the point.
    Dismiss,
}

/// What should happen next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NextAction {
    /// Which of the four.
    pub kind: NextActionKind,
    /// The question; needed with `ask_user`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask_user: Option<AskUserAction>,
    /// The trouble; needed with `halt_error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<HaltError>,
}

/// The four things that can happen next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NextActionKind {
    /// Ask one question.
    AskUser,
    /// Let the gate decide.
    ProceedToGate,
    /// Hand over to the skeleton.
    ProceedToSkeleton,
    /// Stop.
    HaltError,
}

/// One question to the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskUserAction {
    /// By which a repeat is recognised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_id: Option<String>,
    /// At least five characters.
    pub question_text: String,
    /// Whether the user writes or picks.
    pub answer_format: AnswerFormat,
    /// At least two; needed with `choices`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<AskUserChoice>>,
    /// Which issue the answer settles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_this_question: Option<String>,
    /// The issues the answer settles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links_to_issue_ids: Option<Vec<String>>,
}

/// Whether the user writes or picks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum AnswerFormat {
    FreeText,
    Choices,
}

/// One answer the user may pick.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskUserChoice {
    /// Unique among the choices.
    pub id: String,
    /// What the user reads.
    pub label: String,
    /// What is recorded.
    pub value: ChoiceValue,
}

/// What is recorded when a choice is picked, told apart by its JSON type.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ChoiceValue {
    Text(String),
    Number(Number),
    Bool(bool),
}

impl TryFrom<Value> for ChoiceValue {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value {
            Value::String(text) => Ok(Self::Text(text)),
            Value::Number(number) => Ok(Self::Number(number)),
            Value::Bool(truth) => Ok(Self::Bool(truth)),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                Err("expected a string, a number, true or false")
            }
        }
    }
}

impl Serialize for ChoiceValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Number(number) => number.serialize(serializer),
            Self::Bool(truth) => truth.serialize(serializer),
        }
    }
}

/// Why the interview cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HaltError {
    /// What kind of trouble.
    pub category: HaltCategory,
    /// At least five characters.
    pub message: String,
    /// What a person could do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested_recovery: Option<String>,
}

/// What kind of trouble stopped an interview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum HaltCategory {
    SchemaValidation,
    InsufficientContext,
    PolicyViolation,
    Other,
}

/// What the orchestrator should know before it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepSafety {
    /// The domain holds something the user has not confirmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_unconfirmed_assumptions: Option<bool>,
    /// Two statements contradict each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detected_conflict: Option<bool>,
    /// The question may have been asked before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat_question_risk: Option<bool>,
}
