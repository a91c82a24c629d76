//! Why a driver has nothing to do.

use countersign_core::run::{ExecutionStatus, PendingAction, Timestamp, next_alarm};

use crate::engine::LiveRun;

/// Where a run came to rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdleReason {
    /// It is over.
    Ended(ExecutionStatus),
    /// A person stopped it.
    Halted,
    /// It waits for people.
    WaitingForInput,
    /// It goes on by itself at this moment.
    WaitingUntil(Timestamp),
    /// A model is to be asked, and nobody says which: hand the reply in.
    NeedsReply,
    /// It waits for another run.
    WaitingForChild(String),
    /// Somebody else is working on it.
    LeasedElsewhere,
    /// Too many workers ended while working on it: nobody takes it until somebody resumes it.
    Parked,
    /// We stopped, and gave it back; it is for somebody else to go on.
    DriverStopped,
}

impl IdleReason {
    /// Why nothing can be done for a run now.
    pub(super) fn from_run(live: &LiveRun, now: Timestamp) -> Self {
        let state = &live.state;
        let status = state.status();
        if status.is_ended() {
            return Self::Ended(status);
        }
        if state.halted.is_some() {
            return Self::Halted;
        }
        for order in state.pending.values() {
            match order {
                PendingAction::Child { run, .. } => return Self::WaitingForChild(run.clone()),
                PendingAction::Model { not_before } if not_before.is_none_or(|at| at <= now) => {
                    return if state.waits.is_empty() {
                        Self::NeedsReply
                    } else {
                        Self::WaitingForInput
                    };
                }
                _ => {}
            }
        }
        let people = !state.waits.is_empty();
        match next_alarm(&live.protocol, state) {
            Some(at) if !people => Self::WaitingUntil(at),
            _ => Self::WaitingForInput,
        }
    }
}
