//! Why an effect was not had: whose fault it is, and whether trying again can help.

use serde_json::Value;
use thiserror::Error;

use super::EffectJournalError;
use crate::workspace::WorkspaceError;

/// An effect that failed.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{message}")]
pub struct EffectError {
    /// What kind of failure it is.
    pub kind: EffectErrorKind,
    /// A sentence for people. Nothing that a model or another system wrote is in it.
    pub message: String,
    /// Whether the same order may succeed later.
    pub retryable: bool,
    /// What the other side said: exit code and streams, or status and body.
    pub detail: Option<Value>,
}

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectErrorKind {
    /// The policy does not allow it.
    NotAllowed,
    /// The policy names it, and this runtime does not have it.
    NotConfigured,
    /// The order itself makes no sense: a path that leads out, an address that is none.
    Invalid,
    /// The id was used for another order.
    Conflict,
    /// There is a file already, and it holds something else.
    Exists,
    /// The other side said no, or ended badly.
    Failed,
    /// It took too long.
    TimedOut,
    /// There is more of it than the limits allow.
    TooLarge,
    /// The world was not there: disk, network, program file.
    Unavailable,
}

impl EffectErrorKind {
    /// The name in events and files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotAllowed => "not_allowed",
            Self::NotConfigured => "not_configured",
            Self::Invalid => "invalid",
            Self::Conflict => "conflict",
            Self::Exists => "exists",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::TooLarge => "too_large",
            Self::Unavailable => "unavailable",
        }
    }
}

impl EffectError {
    /// A failure that trying again does not mend.
    #[must_use]
    pub fn new_permanent(kind: EffectErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retryable: false, detail: None }
    }

    /// A failure that may pass.
    #[must_use]
    pub fn new_transient(kind: EffectErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retryable: true, detail: None }
    }

    /// The same with what the other side said.
    #[must_use]
    pub fn with_detail(self, detail: Value) -> Self {
        Self { detail: Some(detail), ..self }
    }
}

impl From<WorkspaceError> for EffectError {
    fn from(error: WorkspaceError) -> Self {
        match error {
            // A full disk may be emptied.
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
