//! Failure handlers: what a run does when something failed permanently, and what it writes then.

use std::sync::Arc;

use super::DocumentChange;

/// A failure policy with the author's changes that are applied first. No model influences these
/// changes, so the phase's `writes` do not restrict them; the engine-owned fields and the
/// document's contract do.
#[derive(Debug, Clone)]
pub struct FailureHandler {
    /// How the run continues.
    pub then: FailurePolicy,
    /// Changes to apply first; their expressions read the failure as `failure`.
    pub apply: Arc<[DocumentChange]>,
}

/// How a run continues after a permanent failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The run waits for a person.
    Wait,
    /// The run fails.
    Fail,
    /// The phase counts as done and the run continues.
    GoOn,
    /// The run moves to the phase with this id.
    GoTo(String),
}

impl FailureHandler {
    /// Id of the phase that the run moves to; `None` for other policies.
    #[must_use]
    pub fn target_phase(&self) -> Option<&str> {
        match &self.then {
            FailurePolicy::GoTo(id) => Some(id),
            FailurePolicy::Wait | FailurePolicy::Fail | FailurePolicy::GoOn => None,
        }
    }
}

impl From<FailurePolicy> for FailureHandler {
    fn from(then: FailurePolicy) -> Self {
        Self { then, apply: Arc::new([]) }
    }
}
