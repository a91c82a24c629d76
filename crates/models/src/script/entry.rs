//! One line of a script: what is answered, or how the call fails.

use std::time::Duration;

use countersign_core::reply::Finish;

use crate::{Fault, Usage};

/// What one call gets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    /// The answer, or the failure.
    pub(super) outcome: Result<Reply, Fault>,
    /// The phase or the contract that must be asking.
    pub(super) when: Option<String>,
    /// How long it takes.
    pub(super) delay: Duration,
}

/// A scripted answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    /// Its text.
    pub(super) text: String,
    /// Whether the model was done or cut off.
    pub(super) finish: Finish,
    /// What it used up.
    pub(super) usage: Option<Usage>,
}
