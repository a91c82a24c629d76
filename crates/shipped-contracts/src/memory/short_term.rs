//! The working state of the run and the recent conversation.

use serde::{Deserialize, Serialize};

use crate::JsonObject;
use crate::nullable::whole_u64;

/// The short-term section of a packet: the working state and the recent conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShortTermMemory {
    /// The working memory of the run.
    pub working_state: WorkingState,
    /// A summary of the conversation so far.
    pub rolling_summary: String,
    /// Sentences to preserve word for word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_quotes: Option<Vec<KeyQuote>>,
    /// The most recent messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_window: Option<Vec<PacketMessage>>,
    /// Questions that are unfinished or still to be confirmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_loops: Option<Vec<OpenLoop>>,
    /// The most recent relevant tool results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_tool_evidence: Option<Vec<ToolEvidence>>,
}

/// The working memory of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkingState {
    /// The goal of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// The planned steps towards the goal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Vec<PlanStep>>,
    /// Named values that the run collects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<JsonObject>,
    /// What the answer must include, avoid or look like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<JsonObject>,
    /// References to tool results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_evidence: Option<Vec<ToolEvidence>>,
    /// Decisions that have been made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decisions: Option<Vec<WorkingDecision>>,
    /// Known risks to the goal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risks: Option<Vec<WorkingRisk>>,
    /// The version of the working state, which guards against lost updates.
    #[serde(deserialize_with = "whole_u64")]
    pub state_version: u64,
    /// Keys that the schema does not define.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names say it")]
pub struct PlanStep {
    pub step: String,
    pub status: PlanStepStatus,
}

/// The progress of a plan step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum PlanStepStatus {
    Todo,
    InProgress,
    Done,
}

/// A reference to a tool result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolEvidence {
    /// The location of the complete result.
    #[serde(rename = "ref")]
    pub reference: String,
    /// A short summary of the result.
    pub summary: String,
}

/// A decision that has been made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkingDecision {
    /// The decision in one sentence.
    pub statement: String,
    /// The id of the citation that supports the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_id: Option<String>,
    /// Keys that the schema does not define.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// A known risk to the goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkingRisk {
    /// The risk in one sentence.
    pub risk: String,
    /// A measure that reduces the risk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mitigation: Option<String>,
    /// Keys that the schema does not define.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// A sentence to preserve word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyQuote {
    /// The id of the citation that contains the quote.
    pub evidence_id: String,
    /// The quoted text, word for word.
    pub quote: String,
    /// Who said it; the user if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<MessageRole>,
    /// When it was said, as an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<String>,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum MessageRole {
    User,
    Assistant,
    Tool,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketMessage {
    /// The id of the message's citation.
    pub evidence_id: String,
    /// The author of the message.
    pub role: MessageRole,
    /// The text of the message.
    pub content: String,
    /// When the message was sent, as an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<String>,
}

/// A question or task that is not settled yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenLoop {
    /// The question to settle.
    pub question: String,
    /// Who has to settle it; the agent if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<LoopOwner>,
    /// Whether the question is still open.
    pub status: LoopStatus,
    /// The id of the citation that raised the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_id: Option<String>,
}

/// Who has to settle an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum LoopOwner {
    User,
    Agent,
    System,
}

/// Whether an open loop is still open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum LoopStatus {
    Open,
    Closed,
}
