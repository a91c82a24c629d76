//! Why an effect failed: the kind of failure, and whether a retry can help.

use serde_json::Value;
use thiserror::Error;

use super::EffectJournalError;
use crate::workspace::WorkspaceError;

/// A failed effect, with its kind and whether it can be retried.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{message}")]
pub struct EffectError {
    /// The category of the failure.
    pub kind: EffectErrorKind,
    /// A sentence for people. It contains no text written by a model or another system.
    pub message: String,
    /// Whether the same action may succeed later.
    pub retryable: bool,
    /// What the other side returned: exit code and output streams, or status and body. Absent if
    /// there was no response.
    pub detail: Option<Value>,
}

/// The categories of effect failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectErrorKind {
    /// The policy does not allow the effect.
    NotAllowed,
    /// The policy names a resource that this runtime does not have.
    NotConfigured,
    /// The action itself is invalid, such as a path that leaves the workspace or a malformed
    /// address.
    Invalid,
    /// The action id was used for another effect.
    Conflict,
    /// The file exists already with other content.
    Exists,
    /// The file to copy is not the one that was approved.
    Changed,
    /// The other side refused, or the program ended with an error.
    Failed,
    /// The effect exceeded its time limit.
    TimedOut,
    /// The data exceeds the size limits.
    TooLarge,
    /// A resource was not available: disk, network, or program file.
    Unavailable,
}

impl EffectErrorKind {
    /// Returns the name used in events and files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotAllowed => "not_allowed",
            Self::NotConfigured => "not_configured",
            Self::Invalid => "invalid",
            Self::Conflict => "conflict",
            Self::Exists => "exists",
            Self::Changed => "changed",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::TooLarge => "too_large",
            Self::Unavailable => "unavailable",
        }
    }
}

impl EffectError {
    /// Creates an error that a retry cannot fix.
    #[must_use]
    pub fn new_permanent(kind: EffectErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retryable: false, detail: None }
    }

    /// Creates an error that may go away on a retry.
    #[must_use]
    pub fn new_transient(kind: EffectErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retryable: true, detail: None }
    }

    /// Adds what the other side returned.
    #[must_use]
    pub fn with_detail(self, detail: Value) -> Self {
        Self { detail: Some(detail), ..self }
    }
}

impl From<WorkspaceError> for EffectError {
    fn from(error: WorkspaceError) -> Self {
        match error {
            // Disk space may become free again.
            WorkspaceError::Io { .. } => {
                Self::new_transient(EffectErrorKind::Unavailable, error.to_string())
            }
            WorkspaceError::AlreadyExists { .. } => {
                Self::new_permanent(EffectErrorKind::Exists, error.to_string())
            }
            _ => Self::new_permanent(EffectErrorKind::Invalid, error.to_string()),
        }
    }
}

impl From<EffectJournalError> for EffectError {
    fn from(error: EffectJournalError) -> Self {
        match error {
            EffectJournalError::Io { .. } => {
                Self::new_transient(EffectErrorKind::Unavailable, error.to_string())
            }
            EffectJournalError::Corrupt { .. } | EffectJournalError::EffectMismatch { .. } => {
                Self::new_permanent(EffectErrorKind::Conflict, error.to_string())
            }
        }
    }
}
