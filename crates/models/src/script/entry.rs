//! One entry of a script: a reply, or how the call fails.

use std::time::Duration;

use countersign_contract::reply::FinishReason;

use crate::{ModelErrorKind, TokenUsage};

/// The scripted outcome of one call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScriptEntry {
    /// The reply, or the error.
    pub(super) outcome: Result<ScriptReply, ModelErrorKind>,
    /// Label or contract that the request must have; `None` accepts every request.
    pub(super) when: Option<String>,
    /// Texts that the messages of the request must contain, in any case; empty accepts every
    /// request.
    pub(super) expects: Vec<String>,
    /// How long the call takes.
    pub(super) delay: Duration,
}

/// A scripted reply.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScriptReply {
    /// Text of the reply.
    pub(super) text: String,
    /// Whether the model finished or was cut off.
    pub(super) finish: FinishReason,
    /// Tokens that the call used, if the script sets them.
    pub(super) usage: Option<TokenUsage>,
}
