//! The types of a grounded answer: `analyst_plan`, `architect_spec`, `guardian_report`,
//! `evidence_item` and `chat_state`.
//!
//! The schemas define request types and actions as plain strings; rules restrict them to fixed
//! lists. [`ChatRequestType`] and [`GuardianAction`] are those lists, for code that runs after the
//! rules have passed.

use serde::{Deserialize, Serialize};

use crate::nullable::{deserialize_optional_counts, optional_u64};
use crate::{JsonObject, NamedCounts};

/// The analyst's interpretation of a question; the ticket for retrieval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnalystPlan {
    /// What the user wants; not empty.
    pub intent: String,
    /// The name of a [`ChatRequestType`].
    pub request_type: String,
    /// The track on which the question is answered.
    pub track: AnswerTrack,
    /// The sources that retrieval must query.
    pub required_sources: Vec<EvidenceSource>,
    /// Questions to the user about missing information; at most one.
    pub missing_info_questions: Vec<String>,
    /// The expected shape of the answer; not empty.
    pub expected_output_schema: String,
}

/// The nine request types that the router distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChatRequestType {
    /// Numbers and trends.
    StatusMetric,
    /// A progress report in prose.
    StatusSummary,
    /// Lists of tasks, risks, blockers.
    StatusList,
    /// How to do something, or whether it is allowed.
    HowtoPolicy,
    /// Designs and structured documents.
    DesignArch,
    /// What a term or a metric means.
    DataDefinition,
    /// Why something fails.
    Troubleshooting,
    /// General knowledge questions.
    KnowledgeQa,
    /// Small talk and ideas.
    Casual,
}

impl ChatRequestType {
    /// Every request type, in the order of the contract.
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

/// How thoroughly a question is processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum AnswerTrack {
    /// Goes directly to a draft.
    Fast,
    /// Goes through every stage.
    Quality,
}

/// The kind of source that evidence comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EvidenceSource {
    /// A relational database.
    Db,
    /// A graph database.
    Neo4j,
    /// A collection of documents.
    Doc,
    /// A collection of policies.
    Policy,
}

/// The architect's requirements for the answer; the ticket for drafting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchitectSpec {
    /// The format in which the answer is written.
    pub response_format: ResponseFormat,
    /// Terms that the answer must use.
    pub domain_terms: Vec<String>,
    /// Content that the answer must not contain.
    pub forbidden_content: Vec<String>,
    /// Sections that the answer must have.
    pub required_sections: Vec<String>,
}

/// The format in which an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ResponseFormat {
    Markdown,
    Json,
    Hybrid,
}

/// The guardian's review of a draft; with the verdict `PASS` it is the ticket for the final answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardianReport {
    /// Whether the draft is approved.
    pub verdict: GuardianVerdict,
    /// Why the guardian did not pass the draft.
    pub reasons: Vec<String>,
    /// The required changes, as names of [`GuardianAction`].
    pub required_actions: Vec<String>,
    /// The harm that the answer could cause.
    pub risk_level: RiskLevel,
}

/// The guardian's verdict on a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum GuardianVerdict {
    /// The answer may be sent.
    Pass,
    /// The answer must not be sent, and further attempts will not help.
    Fail,
    /// The answer must not be sent yet; another attempt may pass.
    Retry,
}

/// The actions that a guardian may require. Two of them are Countersign's own, because its checks
/// need them.
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

/// The harm that an answer could cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum RiskLevel {
    Low,
    Med,
    High,
}

/// One piece of evidence that retrieval found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceItem {
    /// The kind of source that the evidence comes from.
    pub source: EvidenceSource,
    /// The location within the source; not empty.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The quoted text or figures; not empty.
    pub snippet: String,
    /// The confidence in the evidence, from 0 to 1.
    pub confidence: f64,
}

/// The state that accumulates while a question is processed. Each field is absent until its stage
/// has run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatState {
    /// The question as the user wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_query: Option<String>,
    /// The track the router chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub track: Option<AnswerTrack>,
    /// The name of the [`ChatRequestType`] the router chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_type: Option<String>,
    /// Why the router chose this track and request type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_reason: Option<String>,
    /// The ticket for retrieval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analyst_plan: Option<AnalystPlan>,
    /// The evidence that retrieval found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<EvidenceItem>>,
    /// The ticket for drafting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architect_spec: Option<ArchitectSpec>,
    /// The answer before the guardian reviews it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft_answer: Option<String>,
    /// The ticket for the final answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guardian: Option<GuardianReport>,
    /// The answer that is sent to the user; not empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_answer: Option<String>,
    /// How many times the draft was sent back.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_u64")]
    pub retry_count: Option<u64>,
    /// The id that correlates the logs of this question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Durations in milliseconds, by stage name.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "deserialize_optional_counts"
    )]
    pub timings_ms: Option<NamedCounts>,
    /// What else a protocol keeps in the same document.
    #[serde(flatten)]
    pub extra: JsonObject,
}
