//! The result of a submitted input.

use std::sync::Arc;

use countersign_contract::reply::Violation;
use countersign_protocol::Protocol;
use countersign_run::{RunEvent, RunState};

use super::LiveRun;

/// The result of an input, after it is committed.
#[derive(Debug, Clone)]
pub struct InputOutcome {
    /// The current state of the run. For a repeated input, the state at the version that accepted
    /// it first.
    pub state: Arc<RunState>,
    /// The events that the input caused; empty if it is a repeated input whose events are not
    /// known.
    pub events: Vec<RunEvent>,
    /// The protocol that the run is pinned to.
    pub protocol: Arc<Protocol>,
}

impl InputOutcome {
    /// Returns the current run without new events.
    pub(super) fn from_unchanged(live: &LiveRun) -> Self {
        let (state, protocol) = (Arc::clone(&live.state), Arc::clone(&live.protocol));
        Self { state, events: Vec::new(), protocol }
    }

    /// Returns the violations of a refused reply, if a reply was refused.
    #[must_use]
    pub fn violations(&self) -> Option<&[Violation]> {
        self.events.iter().find_map(|event| match event {
            RunEvent::ReplyRefused { violations, .. } => Some(violations.as_slice()),
            _ => None,
        })
    }
}
