//! `llm_step_output`: the model's reply at every step of an interview.
//!
//! These types cover the shape only. Rules of the contract check that the operations match their
//! format and that a question comes only with `ask_user`.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Number, Value};

use crate::JsonObject;
use crate::nullable::deserialize_present;

/// One reply of the intake model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LlmStepOutput {
    /// A fresh id that the model assigns to this reply.
    pub output_id: String,
    /// The interview step that this replies to.
    pub step: IntakeStep,
    /// The proposed change to the state.
    pub patch: StepPatch,
    /// The issues to add, change or close.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue_updates: Option<Vec<IssueUpsert>>,
    /// The next action that the model proposes.
    pub next_action: NextAction,
    /// The reason for the proposal; at least three characters.
    pub rationale: String,
    /// Warnings for the orchestrator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safety: Option<StepSafety>,
    /// Short notes of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observations: Option<Vec<String>>,
}

/// A step of the interview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum IntakeStep {
    /// Interprets the user's message.
    Interpret,
    /// Assesses whether the skeleton can be drafted.
    GateCheck,
}

/// A proposed change to the state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepPatch {
    /// The format of `ops`.
    pub format: PatchFormat,
    /// The operations or the merge object.
    pub ops: PatchOps,
}

/// The format of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatchFormat {
    /// JSON Patch (RFC 6902).
    JsonPatch,
    /// JSON Merge Patch (RFC 7396).
    MergePatch,
}

/// The content of a patch; the JSON type distinguishes the variants.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
pub enum PatchOps {
    /// An array of operations, applied in order.
    Operations(Vec<JsonPatchOp>),
    /// An object, which is a merge patch.
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
    /// The operation to perform.
    pub op: JsonPatchOpKind,
    /// The target pointer; not empty.
    pub path: String,
    /// The source pointer; required for `move` and `copy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The operand; required for `add`, `replace` and `test`. An explicit null is
    /// `Some(Value::Null)`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_present"
    )]
    pub value: Option<Value>,
}

/// The six operations of RFC 6902.
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
    /// The operation to perform.
    pub op: IssueOp,
    /// The whole issue or only the fields that change; it must be a valid issue only after the
    /// merge.
    pub issue: JsonObject,
}

/// An operation on an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueOp {
    /// Adds or changes the issue.
    Upsert,
    /// Closes the issue as resolved.
    Resolve,
    /// Closes the issue as irrelevant.
    Dismiss,
}

/// The next action that the model proposes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NextAction {
    /// The kind of action; decides which of the parts below is present.
    pub kind: NextActionKind,
    /// The question to the user; required with `ask_user`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask_user: Option<AskUserAction>,
    /// The error to report; required with `halt_error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<HaltError>,
}

/// The kinds of next actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NextActionKind {
    /// Asks the user one question.
    AskUser,
    /// Lets the gate check decide.
    ProceedToGate,
    /// Hands over to skeleton drafting.
    ProceedToSkeleton,
    /// Stops the interview with an error.
    HaltError,
}

/// One question to the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskUserAction {
    /// An id by which a repeated question is recognized.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_id: Option<String>,
    /// The question; at least five characters.
    pub question_text: String,
    /// Whether the user enters text or selects a choice.
    pub answer_format: AnswerFormat,
    /// The possible answers, at least two; required with `choices`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<AskUserChoice>>,
    /// Why the model asks: which issue the answer resolves, in one or two sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_this_question: Option<String>,
    /// The ids of the issues that the answer resolves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links_to_issue_ids: Option<Vec<String>>,
}

/// Whether the user enters text or selects a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum AnswerFormat {
    FreeText,
    Choices,
}

/// One answer that the user can select.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskUserChoice {
    /// The choice id; unique among the choices.
    pub id: String,
    /// The text that the user sees.
    pub label: String,
    /// The value to record when the user selects this choice.
    pub value: ChoiceValue,
}

/// The value to record for a selected choice; the JSON type distinguishes the variants.
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

/// Why the interview cannot continue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HaltError {
    /// The category of the error.
    pub category: HaltCategory,
    /// The error message; at least five characters.
    pub message: String,
    /// What a person can do to recover.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested_recovery: Option<String>,
}

/// The category of an error that stops an interview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum HaltCategory {
    SchemaValidation,
    InsufficientContext,
    PolicyViolation,
    Other,
}

/// Warnings for the orchestrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepSafety {
    /// The domain contains something that the user has not confirmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_unconfirmed_assumptions: Option<bool>,
    /// Two statements contradict each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detected_conflict: Option<bool>,
    /// The question may already have been asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat_question_risk: Option<bool>,
}
