//! Outcomes: what follows when something went wrong for good, and what is written then.

use std::sync::Arc;

use super::DocumentChange;

/// What follows, and the author's changes that are made before. No model has a hand in these, so the phase's
/// `writes` do not bind them; the engine's places and the document's contract do.
#[derive(Debug, Clone)]
pub struct FailureHandler {
    /// Where the run goes.
    pub then: FailurePolicy,
    /// What is written first; expressions read what went wrong as `failure`.
    pub apply: Arc<[DocumentChange]>,
}

/// Where a run goes when something went wrong for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The run waits for a person.
    Wait,
    /// The run fails.
    Fail,
    /// The phase counts as done.
    GoOn,
    /// The run goes on in this phase.
    GoTo(String),
}

impl FailureHandler {
    /// The phase that a run is sent to.
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
