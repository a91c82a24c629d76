//! The five statuses of a run.

use serde::{Deserialize, Serialize};

/// The status of a run. A cancelled run counts as failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
    /// An action is in progress.
    Running,
    /// The run waits for something from outside: an answer, a document, or a time.
    Waiting,
    /// A person halted the run.
    Halted,
    /// The run reached the end of its workflow.
    Completed,
    /// The run cannot continue, or was cancelled.
    Failed,
}

impl ExecutionStatus {
    /// Every status, in the order of declaration.
    pub const ALL: [Self; 5] =
        [Self::Running, Self::Waiting, Self::Halted, Self::Completed, Self::Failed];

    /// The name in documents, files and output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Halted => "halted",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// Whether the run has ended and takes no more inputs.
    #[must_use]
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}
