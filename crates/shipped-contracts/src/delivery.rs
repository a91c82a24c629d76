//! The types of a delivery: the executor's reply (`xiaobo_action_v1`) and the reviewer's reply
//! (`xiaojing_review_v1`).
//!
//! These types cover the shape only. Rules of the contracts check that the scores add up and
//! determine the action, and that a reply contains only the part that belongs to its result type.

use serde::{Deserialize, Serialize};

use crate::nullable::whole_u64;

/// The executor's reply to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XiaoboAction {
    /// The contract version that the reply follows.
    pub schema_version: XiaoboActionVersion,
    /// The id of the task that this replies to.
    pub task_id: String,
    /// The kind of result; decides which of the parts below is present.
    pub result_type: XiaoboResultType,
    /// Present if `result_type` is `NEEDS_INPUT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs_input: Option<NeedsInput>,
    /// Present if `result_type` is `ARTIFACT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Artifact>,
    /// Present if `result_type` is `ERROR`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<XiaoboActionError>,
}

/// The only version of the executor's contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum XiaoboActionVersion {
    /// Serialized as `xiaobo_action_v1`.
    #[serde(rename = "xiaobo_action_v1")]
    V1,
}

/// The kind of result that an executor reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum XiaoboResultType {
    /// Required documents are missing.
    NeedsInput,
    /// The work is done.
    Artifact,
    /// The task requires no work now.
    Noop,
    /// The task cannot be done.
    Error,
}

/// The input that the executor needs to continue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeedsInput {
    /// The missing documents; at least one.
    pub required_docs: Vec<RequiredDoc>,
}

/// One document the executor needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequiredDoc {
    /// The name of the document.
    pub name: String,
    /// What the document must contain.
    pub description: String,
    /// The accepted file types, never an empty list; if absent, any [`DocType`] is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_types: Option<Vec<DocType>>,
    /// The path where the executor expects the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested_path: Option<String>,
}

/// A file type a document may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are file extensions")]
pub enum DocType {
    Pdf,
    Docx,
    Xlsx,
    Md,
    Txt,
}

/// The finished work of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// The file name of the artifact.
    pub name: String,
    /// The format of the content.
    pub format: ArtifactFormat,
    /// The complete content; not empty.
    pub content: String,
    /// A suggested path for the file; the engine may ignore it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hint: Option<String>,
    /// A short description of the artifact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// The format of an artifact's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are file extensions")]
pub enum ArtifactFormat {
    Md,
    Txt,
    Json,
}

/// Why a task cannot be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XiaoboActionError {
    /// A short, stable error code.
    pub code: String,
    /// The problem in one sentence.
    pub message: String,
    /// A possible remedy, if the executor knows one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// The reviewer's reply about a plan or a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XiaojingReview {
    /// The contract version that the reply follows.
    pub schema_version: ReviewVersion,
    /// The id of the reviewed task or plan.
    pub task_id: String,
    /// Whether `task_id` names a plan or a task.
    pub review_target: ReviewTarget,
    /// The total score, from 0 to 100.
    #[serde(deserialize_with = "whole_u64")]
    pub total_score: u64,
    /// The score by dimension; at least one entry.
    pub breakdown: Vec<Dimension>,
    /// The assessment in a few sentences.
    pub summary: String,
    /// What has to happen next.
    pub action_required: ReviewActionRequired,
    /// The changes that the reviewer asks for.
    pub suggestions: Vec<Suggestion>,
}

/// The only version of the reviewer's contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReviewVersion {
    /// Serialized as `xiaojing_review_v1`.
    #[serde(rename = "xiaojing_review_v1")]
    V1,
}

/// The object that a review assesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ReviewTarget {
    /// A plan, before its tasks start.
    Plan,
    /// The result of one task.
    Node,
}

/// The score of one dimension of the rubric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dimension {
    /// The name of the dimension.
    pub dimension: String,
    /// The points awarded in this dimension.
    #[serde(deserialize_with = "whole_u64")]
    pub score: u64,
    /// The maximum number of points in this dimension.
    #[serde(deserialize_with = "whole_u64")]
    pub max_score: u64,
    /// The problems that cost points in this dimension.
    pub issues: Vec<ReviewIssue>,
}

/// One problem that the reviewer found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewIssue {
    /// The problem in one sentence.
    pub problem: String,
    /// Where the problem is visible.
    pub evidence: String,
    /// The consequence of the problem.
    pub impact: String,
    /// How to fix the problem.
    pub suggestion: String,
    /// How to verify that the problem is fixed.
    pub acceptance_criteria: String,
}

/// The next action that a review requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReviewActionRequired {
    /// Accept the work unchanged.
    Approve,
    /// Revise the work.
    Modify,
    /// Obtain input that the executor cannot get on its own.
    RequestExternalInput,
}

/// One change the reviewer asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suggestion {
    /// The priority of the change.
    pub priority: SuggestionPriority,
    /// What has to change.
    pub change: String,
    /// The steps to make the change.
    pub steps: Vec<String>,
    /// How to verify that the change is done.
    pub acceptance_criteria: String,
}

/// The priority of a suggestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names say it")]
pub enum SuggestionPriority {
    High,
    Med,
    Low,
}
