//! `state`: where a run stands, as it is written beside the protocol folder.
//!
//! A projection of the run, never the truth about it.

use serde::{Deserialize, Serialize};

use crate::JsonObject;

/// Where a run of a protocol stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuntimeState {
    /// The workflow that is running.
    pub workflow: String,
    /// The phase it is in.
    pub phase: String,
    /// Whether it goes on.
    pub status: RuntimeStatus,
    /// A date-time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// The sprint that is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sprint_id: Option<String>,
    /// The task that is being worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_task_id: Option<String>,
    /// The tasks of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Vec<RuntimeTask>>,
    /// What the schema does not name.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// Whether a run goes on.
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
    /// Unique among the tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// In the protocol's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Who works on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What the schema does not name.
    #[serde(flatten)]
    pub extra: JsonObject,
}
