//! Where a run stands, in the five words of the specification.

use serde::{Deserialize, Serialize};

/// The status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
    /// Something is being done.
    Running,
    /// It goes on when something comes from outside: an answer, a document, a moment.
    Waiting,
    /// A person stopped it.
    Halted,
    /// It reached its end.
    Completed,
    /// It cannot go on.
    Failed,
}

impl ExecutionStatus {
    /// Every status.
    pub const ALL: [Self; 5] =
        [Self::Running, Self::Waiting, Self::Halted, Self::Completed, Self::Failed];

    /// The word in documents, files and output.
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

    /// Whether nothing can happen any more.
    #[must_use]
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}
