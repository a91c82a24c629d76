//! `pre_skeleton_state`: everything that an interview knows before a skeleton may be drafted.
//!
//! These types cover the shape only. A rule of the contract checks that a ready state has no open
//! critical issue.

use serde::{Deserialize, Serialize};

use crate::JsonObject;
use crate::nullable::{optional_u64, whole_u64};

/// The document of an intake interview.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreSkeletonState {
    /// Identity, stage and timestamps of the session.
    pub meta: IntakeMeta,
    /// Everything known about the subject; its keys are free.
    pub domain: JsonObject,
    /// Missing, unclear or contradictory information.
    pub issues: Vec<Issue>,
    /// The conversation and the questions asked.
    pub dialogue: IntakeDialogue,
    /// Limits, checks and flags that the engine applies.
    pub control: IntakeControl,
    /// The result of the last gate check; absent until the first check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<IntakeGateResult>,
}

/// Identity, stage and timestamps of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakeMeta {
    /// The session id; at least eight characters.
    pub session_id: String,
    /// The id of the schema that the state follows.
    pub schema_id: String,
    /// The version of that schema.
    pub schema_version: String,
    /// The stage of the overall process.
    pub stage: IntakeStage,
    /// The language and the jurisdiction of the interview.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<IntakeLocale>,
    /// The current status of the interview.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<IntakeStatus>,
    /// When the session started, as an RFC 3339 date-time.
    pub created_at: String,
    /// When the state last changed, as an RFC 3339 date-time.
    pub updated_at: String,
    /// The number of committed changes.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_u64")]
    pub state_version: Option<u64>,
}

/// The stage of the overall process; this document belongs to a single stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntakeStage {
    /// The stage before the skeleton is drafted.
    PreSkeleton,
}

/// The language and the jurisdiction of an interview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakeLocale {
    /// The language of the interview.
    pub language: IntakeLanguage,
    /// The jurisdiction that applies to the interview.
    pub jurisdiction: Jurisdiction,
}

/// A supported interview language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IntakeLanguage {
    /// The Russian language.
    Ru,
}

/// A supported jurisdiction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Jurisdiction {
    /// The Russian Federation.
    Ru,
}

/// The status of an interview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntakeStatus {
    /// The interview is collecting answers.
    Collecting,
    /// The gate check is running.
    Gating,
    /// The skeleton may be drafted.
    Ready,
    /// A person has to intervene.
    Blocked,
}

/// The conversation and the questions asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakeDialogue {
    /// The retained turns, oldest first.
    pub history: Vec<DialogueTurn>,
    /// Every question that was put to the user.
    pub asked: Vec<AskedQuestion>,
}

/// One utterance in the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DialogueTurn {
    /// The turn id, which issue evidence references.
    pub id: String,
    /// Who spoke in this turn.
    pub role: TurnRole,
    /// The spoken text; not empty.
    pub text: String,
    /// When the turn happened, as an RFC 3339 date-time.
    pub at: String,
}

/// Who spoke in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnRole {
    /// The interviewed person.
    User,
    /// The intake model.
    Assistant,
    /// The Countersign engine.
    System,
}

/// One question that was put to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskedQuestion {
    /// The question id; unique among the asked questions.
    pub id: String,
    /// The question text; not empty.
    pub text: String,
    /// When the question was asked, as an RFC 3339 date-time.
    pub at: String,
    /// A fingerprint that recognizes a reworded repeat of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semantic_fingerprint: Option<String>,
}

/// One piece of missing, unclear or contradictory information.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Issue {
    /// The issue id; unique among the issues.
    pub id: String,
    /// A key that identifies the same issue under another id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How much depends on the issue.
    pub severity: IssueSeverity,
    /// Whether the issue is still open.
    pub status: IssueStatus,
    /// A short title; at least three characters.
    pub title: String,
    /// The consequence of leaving the issue open; at least three characters.
    pub why_it_matters: String,
    /// The exact information that is missing or contradictory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_or_conflict: Option<String>,
    /// What to ask or to confirm.
    pub resolution_hint: String,
    /// Whether only the user can resolve the issue; `false` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_user_confirmation: Option<bool>,
    /// Where the issue is visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<IssueEvidence>>,
}

/// How much depends on an issue or a blocker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum IssueSeverity {
    Critical,
    High,
    Med,
    Low,
}

/// Whether an issue is still open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum IssueStatus {
    Open,
    Resolved,
    Dismissed,
}

/// A reference to where an issue is visible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueEvidence {
    /// The kind of object that `reference` identifies.
    pub kind: EvidenceKind,
    /// A turn id, a pointer into the domain, or the text of the note.
    #[serde(rename = "ref")]
    pub reference: String,
}

/// The kind of object that a reference identifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// A turn of the dialogue, by id.
    Turn,
    /// A pointer into the domain.
    FactPath,
    /// A note; the reference is its text.
    Note,
}

/// Limits, checks and flags that the engine applies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakeControl {
    /// The limits on questions, loops and history.
    pub limits: IntakeLimits,
    /// The additional checks that the gate performs.
    pub checks: IntakeChecks,
    /// Runtime flags of any shape.
    pub flags: JsonObject,
}

/// The limits on questions, loops and history of an interview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakeLimits {
    /// The maximum number of questions per run, from 1 to 10.
    #[serde(deserialize_with = "whole_u64")]
    pub max_questions_per_run: u64,
    /// The maximum number of interview loops, from 1 to 50.
    #[serde(deserialize_with = "whole_u64")]
    pub max_loops: u64,
    /// The maximum number of retained turns, from 3 to 200.
    #[serde(deserialize_with = "whole_u64")]
    pub max_history_turns: u64,
}

/// The additional checks that the gate performs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakeChecks {
    /// Whether the user must confirm assumptions before the gate opens.
    pub require_user_confirmation_for_assumptions: bool,
}

/// The result of a gate check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakeGateResult {
    /// Whether enough is known to draft the skeleton.
    pub ready_for_skeleton: bool,
    /// The reason in one to three sentences.
    pub summary: String,
    /// The reasons why the gate stays closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blockers: Option<Vec<GateBlocker>>,
}

/// One reason why the gate stays closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateBlocker {
    /// How much depends on the blocker.
    pub severity: IssueSeverity,
    /// The reason in one sentence.
    pub message: String,
    /// The ids of the issues that cause the blocker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linked_issue_ids: Option<Vec<String>>,
}
