//! The types of a delivery: what the executor answers (`xiaobo_action_v1`) and what the reviewer
//! answers (`xiaojing_review_v1`).
//!
//! The shapes alone: that the points add up and decide the action, and that only the part that
//! belongs to a result is given, are rules of the contracts.

use serde::{Deserialize, Serialize};

use crate::nullable::whole_u64;

/// What the executor of a task answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XiaoboAction {
    /// Names the contract.
    pub schema_version: XiaoboActionVersion,
    /// The task this answers.
    pub task_id: String,
    /// Which kind of answer this is.
    pub result_type: XiaoboResultType,
    /// Needed with `NEEDS_INPUT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs_input: Option<NeedsInput>,
    /// Needed with `ARTIFACT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Artifact>,
    /// Needed with `ERROR`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<XiaoboActionError>,
}

/// The one version of the executor's contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum XiaoboActionVersion {
    /// `xiaobo_action_v1`.
    #[serde(rename = "xiaobo_action_v1")]
    V1,
}

/// Which kind of answer an executor gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum XiaoboResultType {
    /// Documents are missing.
    NeedsInput,
    /// The work is done.
    Artifact,
    /// There is nothing to do now.
    Noop,
    /// The task cannot be done.
    Error,
}

/// What the executor cannot go on without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeedsInput {
    /// At least one.
    pub required_docs: Vec<RequiredDoc>,
}

/// One document the executor needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequiredDoc {
    /// What it is called.
    pub name: String,
    /// What it must contain.
    pub description: String,
    /// The file types that will do; any of them when absent, never an empty list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_types: Option<Vec<DocType>>,
    /// Where it is expected.
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

/// The finished work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// Its file name.
    pub name: String,
    /// How the content is written.
    pub format: ArtifactFormat,
    /// The whole content; not empty.
    pub content: String,
    /// Where the file could go; advice only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hint: Option<String>,
    /// What it is, in short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// How the content of an artifact is written.
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
    /// A short stable name.
    pub code: String,
    /// The trouble in a sentence.
    pub message: String,
    /// What could be done about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// What the reviewer of a plan or a task answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XiaojingReview {
    /// Names the contract.
    pub schema_version: ReviewVersion,
    /// The task or the plan that is judged.
    pub task_id: String,
    /// Which of the two.
    pub review_target: ReviewTarget,
    /// From 0 to 100.
    #[serde(deserialize_with = "whole_u64")]
    pub total_score: u64,
    /// The points by dimension; at least one.
    pub breakdown: Vec<Dimension>,
    /// The judgement in a few sentences.
    pub summary: String,
    /// What is to be done.
    pub action_required: ReviewActionRequired,
    /// What to change.
    pub suggestions: Vec<Suggestion>,
}

/// The one version of the reviewer's contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReviewVersion {
    /// `xiaojing_review_v1`.
    #[serde(rename = "xiaojing_review_v1")]
    V1,
}

/// What a review judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ReviewTarget {
    /// A plan before its tasks start.
    Plan,
    /// The work of one task.
    Node,
}

/// One dimension of the rubric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dimension {
    /// Its name.
    pub dimension: String,
    /// The points given.
    #[serde(deserialize_with = "whole_u64")]
    pub score: u64,
    /// The most points it can give.
    #[serde(deserialize_with = "whole_u64")]
    pub max_score: u64,
    /// What cost points here.
    pub issues: Vec<ReviewIssue>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewIssue {
    /// What is wrong.
    pub problem: String,
    /// Where it shows.
    pub evidence: String,
    /// What goes wrong because of it.
    pub impact: String,
    /// How to put it right.
    pub suggestion: String,
    /// How one will see that it is right.
    pub acceptance_criteria: String,
}

/// What a review asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReviewActionRequired {
    /// Take it as it is.
    Approve,
    /// Work on it again.
    Modify,
    /// Get what the executor cannot get by itself.
    RequestExternalInput,
}

/// One change the reviewer asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suggestion {
    /// How much it matters.
    pub priority: SuggestionPriority,
    /// What to change.
    pub change: String,
    /// How to go about it.
    pub steps: Vec<String>,
    /// How one will see that it is done.
    pub acceptance_criteria: String,
}

/// How much a suggestion matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names say it")]
pub enum SuggestionPriority {
    High,
    Med,
    Low,
}
