//! The types of a grounded answer: `analyst_plan`, `architect_spec`, `guardian_report`,
//! `evidence_item` and `chat_state`.
//!
//! The shapes alone: request types and actions are plain text in the schemas, and rules close the
//! lists. [`ChatRequestType`] and [`GuardianAction`] are those lists, for code that runs after the
//! rules.

use serde::{Deserialize, Serialize};

use crate::NamedCounts;
use crate::nullable::{deserialize_optional_counts, optional_u64};

/// What the analyst makes of a question; the ticket for retrieval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnalystPlan {
    /// What the user wants; not empty.
    pub intent: String,
    /// The name of a [`ChatRequestType`].
    pub request_type: String,
    /// The track the answer takes.
    pub track: AnswerTrack,
    /// The sources that must be asked.
    pub required_sources: Vec<EvidenceSource>,
    /// At most one.
    pub missing_info_questions: Vec<String>,
    /// The shape the answer should have; not empty.
    pub expected_output_schema: String,
}

/// The nine kinds of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChatRequestType {
    /// Numbers and trends.
    StatusMetric,
    /// Progress told in sentences.
    StatusSummary,
    /// Lists of tasks, risks, blockers.
    StatusList,
    /// How something is done, or allowed.
    HowtoPolicy,
    /// Designs and structured documents.
    DesignArch,
    /// What a term or a metric means.
    DataDefinition,
    /// Why something fails.
    Troubleshooting,
    /// General questions.
    KnowledgeQa,
    /// Small talk and ideas.
    Casual,
}

impl ChatRequestType {
    /// Every kind, in the order of the contract.
    pub const ALL: [Self; 9] = [
        Self::StatusMetric,
        Self::StatusSummary,
        Self::StatusList,
        Self::HowtoPolicy,
        Self::DesignArch,
        Self::DataDefinition,
        Self::Troubleshooting,
        Self::KnowledgeQa,
        Self::Casual,
    ];
}

/// How much care an answer gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum AnswerTrack {
    /// Straight to a draft.
    Fast,
    /// Through every stage.
    Quality,
}

/// A kind of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EvidenceSource {
    /// A relational database.
    Db,
    /// A graph database.
    Neo4j,
    /// Documents.
    Doc,
    /// Policies.
    Policy,
}

/// What the architect demands of the answer; the ticket for drafting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchitectSpec {
    /// How the answer is written.
    pub response_format: ResponseFormat,
    /// Terms it must use.
    pub domain_terms: Vec<String>,
    /// What it must not contain.
    pub forbidden_content: Vec<String>,
    /// The sections it must have.
    pub required_sections: Vec<String>,
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ResponseFormat {
    Markdown,
    Json,
    Hybrid,
}

/// How the guardian judges a draft; with a pass the ticket for the final answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardianReport {
    /// The judgement.
    pub verdict: GuardianVerdict,
    /// Why it was not passed.
    pub reasons: Vec<String>,
    /// Names of [`GuardianAction`].
    pub required_actions: Vec<String>,
    /// How much harm the answer could do.
    pub risk_level: RiskLevel,
}

/// A guardian's judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum GuardianVerdict {
    /// The answer may go out.
    Pass,
    /// It may not, and more attempts will not help.
    Fail,
    /// It may not yet.
    Retry,
}

/// What a guardian may ask for; two of them are ours, because its checks need them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are the instructions")]
pub enum GuardianAction {
    AddEvidence,
    RetrieveMore,
    DiversifySources,
    RetrieveDb,
    #[serde(rename = "RETRIEVE_NEO4J")]
    RetrieveNeo4j,
    RetrieveDoc,
    RetrievePolicy,
    RemoveDocEvidence,
    UseDbOnly,
    RefineQuery,
    AddRequiredSections,
    RegenerateDraft,
    RemoveForbiddenContent,
    UseDomainTerms,
    AddEvidenceReferences,
    FixJsonFormat,
    AskMinimalQuestion,
    SafeRefusal,
}

impl GuardianAction {
    /// Every action, in the order of the contract.
    pub const ALL: [Self; 18] = [
        Self::AddEvidence,
        Self::RetrieveMore,
        Self::DiversifySources,
        Self::RetrieveDb,
        Self::RetrieveNeo4j,
        Self::RetrieveDoc,
        Self::RetrievePolicy,
        Self::RemoveDocEvidence,
        Self::UseDbOnly,
        Self::RefineQuery,
        Self::AddRequiredSections,
        Self::RegenerateDraft,
        Self::RemoveForbiddenContent,
        Self::UseDomainTerms,
        Self::AddEvidenceReferences,
        Self::FixJsonFormat,
        Self::AskMinimalQuestion,
        Self::SafeRefusal,
    ];
}

/// How much harm an answer could do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum RiskLevel {
    Low,
    Med,
    High,
}

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceItem {
    /// The kind of source it comes from.
    pub source: EvidenceSource,
    /// Where in the source it stands; not empty.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The words or figures themselves; not empty.
    pub snippet: String,
    /// From 0 to 1.
    pub confidence: f64,
}

/// Everything a question gathers on its way; nothing is there before its stage has run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatState {
    /// The question as the user put it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_query: Option<String>,
    /// The track the router chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub track: Option<AnswerTrack>,
    /// The name of the [`ChatRequestType`] the router chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_type: Option<String>,
    /// Why the router chose so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_reason: Option<String>,
    /// The ticket for retrieval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analyst_plan: Option<AnalystPlan>,
    /// What retrieval brought back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<EvidenceItem>>,
    /// The ticket for drafting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architect_spec: Option<ArchitectSpec>,
    /// The answer before the guardian has seen it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft_answer: Option<String>,
    /// The ticket for the final answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guardian: Option<GuardianReport>,
    /// The answer the user gets; not empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_answer: Option<String>,
    /// How often the draft was sent back.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_u64")]
    pub retry_count: Option<u64>,
    /// Ties the logs of this question together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Milliseconds by stage.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_optional_counts"
    )]
    pub timings_ms: Option<NamedCounts>,
}
