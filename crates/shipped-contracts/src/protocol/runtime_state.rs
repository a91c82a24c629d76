//! `state`: the current state of a run, as written next to the protocol folder.
//!
//! The file is a projection of the run. The run log remains the authoritative record.

use serde::{Deserialize, Serialize};

use crate::JsonObject;

/// The current state of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuntimeState {
    /// The id of the workflow that is running.
    pub workflow: String,
    /// The id of the current phase.
    pub phase: String,
    /// Whether the run continues.
    pub status: RuntimeStatus,
    /// When the state last changed, as an RFC 3339 date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// The id of the current sprint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sprint_id: Option<String>,
    /// The id of the task in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_task_id: Option<String>,
    /// The tasks of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Vec<RuntimeTask>>,
    /// Keys that the schema does not define.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// Whether a run continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum RuntimeStatus {
    Running,
    Waiting,
    Halted,
    Completed,
    Failed,
}

/// One task of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuntimeTask {
    /// The task id; unique among the tasks of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The task status, as the protocol names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The agent that works on the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Keys that the schema does not define.
    #[serde(flatten)]
    pub extra: JsonObject,
}
