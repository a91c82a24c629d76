//! The reasons why a driver has nothing to do for a run.

use countersign_run::{ExecutionStatus, PendingAction, Timestamp, next_alarm};

use crate::engine::LiveRun;

/// Why a run is idle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdleReason {
    /// The run has ended with this status.
    Ended(ExecutionStatus),
    /// A person or the engine halted the run.
    Halted,
    /// The run waits for people.
    WaitingForInput,
    /// The run continues by itself at this timestamp.
    WaitingUntil(Timestamp),
    /// A step needs a reply and no model is configured; submit the reply manually.
    NeedsReply,
    /// The run waits for the child run with this id.
    WaitingForChild(String),
    /// Another worker holds the lease.
    LeasedElsewhere,
    /// Too many workers died while working on the run. No worker leases it until a person resumes
    /// it.
    Parked,
    /// This driver was stopped and released the run; another worker can continue it.
    DriverStopped,
}

impl IdleReason {
    /// Returns why nothing can be done for a run now.
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
