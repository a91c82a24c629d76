//! What the run is doing, and the thread of the conversation.

use serde::{Deserialize, Serialize};

use crate::JsonObject;
use crate::nullable::whole_u64;

/// The working state and what was said lately.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShortTermMemory {
    /// The working memory of the run.
    pub working_state: WorkingState,
    /// The conversation so far, in short.
    pub rolling_summary: String,
    /// Sentences worth keeping word for word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_quotes: Option<Vec<KeyQuote>>,
    /// The latest messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_window: Option<Vec<PacketMessage>>,
    /// What is unfinished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_loops: Option<Vec<OpenLoop>>,
    /// The latest tool results that matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_tool_evidence: Option<Vec<ToolEvidence>>,
}

/// The working memory of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkingState {
    /// What the run is after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// The steps to the goal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Vec<PlanStep>>,
    /// Named values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<JsonObject>,
    /// What the answer must include, avoid or look like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<JsonObject>,
    /// References to tool results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_evidence: Option<Vec<ToolEvidence>>,
    /// What has been decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decisions: Option<Vec<WorkingDecision>>,
    /// What may go wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risks: Option<Vec<WorkingRisk>>,
    /// Guards against lost updates.
    #[serde(deserialize_with = "whole_u64")]
    pub state_version: u64,
    /// What the schema does not name.
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

/// How far a step is.
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
    /// Where the whole result is.
    #[serde(rename = "ref")]
    pub reference: String,
    /// What it says, in short.
    pub summary: String,
}

/// Something that has been decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkingDecision {
    /// The decision in a sentence.
    pub statement: String,
    /// The citation it rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_id: Option<String>,
    /// What the schema does not name.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// Something that may go wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkingRisk {
    /// The risk in a sentence.
    pub risk: String,
    /// What would soften it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mitigation: Option<String>,
    /// What the schema does not name.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// A sentence worth keeping word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyQuote {
    /// The citation it comes from.
    pub evidence_id: String,
    /// The words.
    pub quote: String,
    /// Who said it; the user when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<MessageRole>,
    /// A date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<String>,
}

/// Who a message is from.
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
    /// The citation of the message.
    pub evidence_id: String,
    /// Who it is from.
    pub role: MessageRole,
    /// The words.
    pub content: String,
    /// A date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<String>,
}

/// Something unfinished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenLoop {
    /// What is to be settled.
    pub question: String,
    /// Who has to; the agent when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<LoopOwner>,
    /// Whether it still stands.
    pub status: LoopStatus,
    /// The citation it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_id: Option<String>,
}

/// Who has to close an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum LoopOwner {
    User,
    Agent,
    System,
}

/// Whether an open loop still stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum LoopStatus {
    Open,
    Closed,
}
