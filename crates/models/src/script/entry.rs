//! One line of a script: what is answered, or how the call fails.

use std::time::Duration;

use countersign_core::reply::FinishReason;

use crate::{ModelErrorKind, TokenUsage};

/// What one call gets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScriptEntry {
    /// The answer, or the failure.
    pub(super) outcome: Result<ScriptReply, ModelErrorKind>,
    /// The phase or the contract that must be asking.
    pub(super) when: Option<String>,
    /// How long it takes.
    pub(super) delay: Duration,
}

/// A scripted answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScriptReply {
    /// Its text.
    pub(super) text: String,
    /// Whether the model was done or cut off.
    pub(super) finish: FinishReason,
    /// What it used up.
    pub(super) usage: Option<TokenUsage>,
}
