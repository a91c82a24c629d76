//! `pre_skeleton_state`: everything an interview knows before a skeleton may be drafted.
//!
//! Holds the shape alone; that a ready state has no open critical issue is a rule of the contract.

use serde::{Deserialize, Serialize};

use crate::JsonObject;
use crate::nullable::{optional_u64, whole_u64};

/// The document of an intake interview.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreSkeletonState {
    /// Identity, stage and clock of the session.
    pub meta: IntakeMeta,
    /// All that is known of the matter itself; its keys are free.
    pub domain: JsonObject,
    /// What is missing, unclear or contradictory.
    pub issues: Vec<Issue>,
    /// What was said and what was asked.
    pub dialogue: IntakeDialogue,
    /// Limits, checks and flags.
    pub control: IntakeControl,
    /// The last answer of the gate check, once there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<IntakeGateResult>,
}

/// Identity, stage and clock of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakeMeta {
    /// At least eight characters.
    pub session_id: String,
    /// The schema the state was written under.
    pub schema_id: String,
    /// The version of that schema.
    pub schema_version: String,
    /// The stage of the larger process.
    pub stage: IntakeStage,
    /// Language and law of the interview.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<IntakeLocale>,
    /// Where the interview stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<IntakeStatus>,
    /// A date-time.
    pub created_at: String,
    /// A date-time.
    pub updated_at: String,
    /// Counts the committed changes.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_u64")]
    pub state_version: Option<u64>,
}

/// The stage of the larger process; this document belongs to one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntakeStage {
    /// Before the skeleton.
    PreSkeleton,
}

/// Language and law of an interview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakeLocale {
    /// The language the interview is held in.
    pub language: IntakeLanguage,
    /// The law it falls under.
    pub jurisdiction: Jurisdiction,
}

/// A language an interview can be held in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IntakeLanguage {
    /// Russian.
    Ru,
}

/// A jurisdiction an interview can fall under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Jurisdiction {
    /// The Russian Federation.
    Ru,
}

/// Where an interview stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntakeStatus {
    /// Answers are being gathered.
    Collecting,
    /// The gate is being asked.
    Gating,
    /// The skeleton may be drafted.
    Ready,
    /// A person has to step in.
    Blocked,
}

/// What was said and what was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakeDialogue {
    /// The turns that are kept, oldest first.
    pub history: Vec<DialogueTurn>,
    /// Every question put to the user.
    pub asked: Vec<AskedQuestion>,
}

/// One thing somebody said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DialogueTurn {
    /// Evidence refers to it.
    pub id: String,
    /// Who spoke.
    pub role: TurnRole,
    /// Not empty.
    pub text: String,
    /// A date-time.
    pub at: String,
}

/// Who spoke in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnRole {
    /// The person interviewed.
    User,
    /// The model.
    Assistant,
    /// The engine.
    System,
}

/// One question that was put to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskedQuestion {
    /// Unique among the asked questions.
    pub id: String,
    /// Not empty.
    pub text: String,
    /// A date-time.
    pub at: String,
    /// By which a reworded repeat is recognised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semantic_fingerprint: Option<String>,
}

/// One thing that is missing, unclear or contradictory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Issue {
    /// Unique among the issues.
    pub id: String,
    /// By which the same issue is found under another id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How much depends on it.
    pub severity: IssueSeverity,
    /// Whether it still stands.
    pub status: IssueStatus,
    /// At least three characters.
    pub title: String,
    /// At least three characters.
    pub why_it_matters: String,
    /// What exactly is missing or contradictory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_or_conflict: Option<String>,
    /// What to ask or confirm.
    pub resolution_hint: String,
    /// Whether only the user can settle it; false when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_user_confirmation: Option<bool>,
    /// Where it shows.
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

/// Whether an issue still stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum IssueStatus {
    Open,
    Resolved,
    Dismissed,
}

/// One place where an issue shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueEvidence {
    /// What the reference points to.
    pub kind: EvidenceKind,
    /// A turn's id, a pointer into the domain, or the note itself.
    #[serde(rename = "ref")]
    pub reference: String,
}

/// What a reference points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// A turn of the dialogue, by its id.
    Turn,
    /// A place in the domain.
    FactPath,
    /// Nothing else; the reference is the note.
    Note,
}

/// Limits, checks and flags the engine obeys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakeControl {
    /// How much the interview may spend.
    pub limits: IntakeLimits,
    /// Which extra checks the gate makes.
    pub checks: IntakeChecks,
    /// Runtime flags of any shape.
    pub flags: JsonObject,
}

/// How much an interview may spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakeLimits {
    /// From 1 to 10.
    #[serde(deserialize_with = "whole_u64")]
    pub max_questions_per_run: u64,
    /// From 1 to 50.
    #[serde(deserialize_with = "whole_u64")]
    pub max_loops: u64,
    /// From 3 to 200.
    #[serde(deserialize_with = "whole_u64")]
    pub max_history_turns: u64,
}

/// Which extra checks the gate makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakeChecks {
    /// Whether the user must confirm an assumption before the gate opens.
    pub require_user_confirmation_for_assumptions: bool,
}

/// The answer of a gate check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntakeGateResult {
    /// Whether enough is known.
    pub ready_for_skeleton: bool,
    /// Why, in one to three sentences.
    pub summary: String,
    /// What stands in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blockers: Option<Vec<GateBlocker>>,
}

/// One reason why the gate stays closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateBlocker {
    /// How much depends on it.
    pub severity: IssueSeverity,
    /// The reason in a sentence.
    pub message: String,
    /// The issues it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linked_issue_ids: Option<Vec<String>>,
}
