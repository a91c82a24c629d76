//! What an input came to.

use std::sync::Arc;

use countersign_core::protocol::Protocol;
use countersign_core::reply::Violation;
use countersign_core::run::{RunEvent, RunState};

use super::LiveRun;

/// What an input came to, after it was kept.
#[derive(Debug, Clone)]
pub struct InputOutcome {
    /// The run now; where the input came again, the run at the version that took it.
    pub state: Arc<RunState>,
    /// What became true; empty where nothing is known of what the input came to when it came first.
    pub events: Vec<RunEvent>,
    /// The protocol it is pinned to.
    pub protocol: Arc<Protocol>,
}

impl InputOutcome {
    /// A run as it is, with nothing new.
    pub(super) fn from_unchanged(live: &LiveRun) -> Self {
        let (state, protocol) = (Arc::clone(&live.state), Arc::clone(&live.protocol));
        Self { state, events: Vec::new(), protocol }
    }

    /// What was wrong with a reply, where one was refused.
    #[must_use]
    pub fn violations(&self) -> Option<&[Violation]> {
        self.events.iter().find_map(|event| match event {
            RunEvent::ReplyRefused { violations, .. } => Some(violations.as_slice()),
            _ => None,
        })
    }
}
