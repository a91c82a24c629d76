//! What an input came to.

use std::sync::Arc;

use countersign_core::protocol::Protocol;
use countersign_core::reply::Violation;
use countersign_core::run::{Event, State};

use super::Live;

/// What an input came to, after it was kept.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The run now; where the input came again, the run at the version that took it.
    pub state: Arc<State>,
    /// What became true; empty where nothing is known of what the input came to when it came first.
    pub events: Vec<Event>,
    /// The protocol it is pinned to.
    pub protocol: Arc<Protocol>,
}

impl Outcome {
    /// A run as it is, with nothing new.
    pub(super) fn unchanged(live: &Live) -> Self {
        let (state, protocol) = (Arc::clone(&live.state), Arc::clone(&live.protocol));
        Self { state, events: Vec::new(), protocol }
    }

    /// What was wrong with a reply, where one was refused.
    #[must_use]
    pub fn violations(&self) -> Option<&[Violation]> {
        self.events.iter().find_map(|event| match event {
            Event::ReplyRefused { violations, .. } => Some(violations.as_slice()),
            _ => None,
        })
    }
}
