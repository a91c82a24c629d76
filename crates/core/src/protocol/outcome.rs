//! Outcomes: what follows when something went wrong for good, and what is written then.

use std::sync::Arc;

use super::Change;

/// What follows, and the author's changes that are made before. No model has a hand in these, so the phase's
/// `writes` do not bind them; the engine's places and the document's contract do.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Where the run goes.
    pub then: Otherwise,
    /// What is written first; expressions read what went wrong as `failure`.
    pub apply: Arc<[Change]>,
}

/// Where a run goes when something went wrong for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Otherwise {
    /// The run waits for a person.
    Wait,
    /// The run fails.
    Fail,
    /// The phase counts as done.
    GoOn,
    /// The run goes on in this phase.
    Phase(String),
}

impl Outcome {
    /// The phase that a run is sent to.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        match &self.then {
            Otherwise::Phase(id) => Some(id),
            Otherwise::Wait | Otherwise::Fail | Otherwise::GoOn => None,
        }
    }
}

impl From<Otherwise> for Outcome {
    fn from(then: Otherwise) -> Self {
        Self { then, apply: Arc::new([]) }
    }
}
