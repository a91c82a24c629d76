//! Why a driver has nothing to do.

use countersign_core::run::{Pending, Status, Time, next_alarm};

use crate::engine::Live;

/// Where a run came to rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rest {
    /// It is over.
    Ended(Status),
    /// A person stopped it.
    Halted,
    /// It waits for people.
    Waiting,
    /// It goes on by itself at this moment.
    Until(Time),
    /// A model is to be asked, and nobody says which: hand the reply in.
    NeedsReply,
    /// It waits for another run.
    Child(String),
    /// Somebody else is working on it.
    Held,
    /// Too many workers ended while working on it: nobody takes it until somebody resumes it.
    Parked,
    /// We stopped, and gave it back; it is for somebody else to go on.
    Stopped,
}

impl Rest {
    /// Why nothing can be done for a run now.
    pub(super) fn of(live: &Live, now: Time) -> Self {
        let state = &live.state;
        let status = state.status();
        if status.ended() {
            return Self::Ended(status);
        }
        if state.halted.is_some() {
            return Self::Halted;
        }
        for order in state.pending.values() {
            match order {
                Pending::Child { run, .. } => return Self::Child(run.clone()),
                Pending::Model { not_before } if not_before.is_none_or(|at| at <= now) => {
                    return if state.waits.is_empty() { Self::NeedsReply } else { Self::Waiting };
                }
                _ => {}
            }
        }
        let people = !state.waits.is_empty();
        match next_alarm(&live.protocol, state) {
            Some(at) if !people => Self::Until(at),
            _ => Self::Waiting,
        }
    }
}
