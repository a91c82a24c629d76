//! A person's word: approve, deny, resume, cancel.

use std::collections::BTreeMap;

use super::deciding::Deciding;
use super::questions::wrong_kind;
use crate::run::Rejection;
use crate::run::event::Event;
use crate::run::state::{Blocked, EndKind, Pending};
use crate::run::wait::{Closing, Wait, WaitKind};

impl Deciding<'_> {
    /// Somebody approved or denied.
    pub(super) fn decided(
        &mut self,
        wait: &str,
        approve: bool,
        by: &str,
        note: Option<&String>,
    ) -> Result<(), Rejection> {
        let wait = self.open_wait(wait, by)?;
        let (by, note) = (by.to_owned(), note.cloned());
        let refusal = note.clone().map_or_else(String::new, |note| format!(": {note}"));
        let ended = format!("{by} denied to go on{refusal}");
        let closing = if approve {
            Closing::Approved { by: by.clone(), note }
        } else {
            Closing::Denied { by: by.clone(), note }
        };
        match wait.kind {
            WaitKind::Approval => {
                self.emit(Event::WaitClosed { wait: wait.id, closing });
                self.choose();
            }
            WaitKind::Budget | WaitKind::Trouble => {
                self.emit(Event::WaitClosed { wait: wait.id, closing });
                if approve && self.state.blocked.is_some() {
                    self.unblock(&by, &BTreeMap::new());
                } else if approve {
                    self.choose();
                } else {
                    self.end(EndKind::Failed, Some(ended));
                }
            }
            WaitKind::Question | WaitKind::Document | WaitKind::Work => {
                return Err(wrong_kind(wait));
            }
        }
        Ok(())
    }

    /// A person lets the run go on, with what came next when it stopped.
    ///
    /// A halt is lifted first; what blocks a halted run goes on blocking it, unless more is granted.
    pub(super) fn resumed(&mut self, by: &str, grants: &BTreeMap<String, u64>) {
        for (budget, amount) in grants {
            self.emit(Event::Granted { budget: budget.clone(), amount: *amount });
        }
        let was_halted = self.state.halted.is_some();
        if let Some(blocked) = self.state.blocked.clone() {
            if was_halted {
                self.emit(Event::Resumed { by: by.to_owned() });
            }
            if !was_halted || covers(grants, &blocked) {
                self.unblock(by, grants);
            }
            return;
        }
        let held = self.state.held.clone();
        self.emit(Event::Resumed { by: by.to_owned() });
        let idle = self.state.pending.values().all(|one| matches!(one, Pending::Tell { .. }));
        if let Some(next) = held {
            self.go_on(next);
        } else if !was_halted && idle && !self.state.closed.is_empty() {
            // Files may have come, and who was denied may ask again.
            self.drop_waits();
            self.choose();
        }
    }

    /// What blocks the run does so no more; it goes on with what came next.
    fn unblock(&mut self, by: &str, grants: &BTreeMap<String, u64>) {
        if let Some(Blocked::Budget { budget, limit }) = self.state.blocked.clone()
            && !grants.contains_key(&budget)
        {
            // Where the name alone was said, the limit that blocks was meant.
            let amount = grants.get(name_of(&budget)).copied().unwrap_or(limit.max(1));
            self.emit(Event::Granted { budget, amount });
        }
        let helps = |wait: &Wait| matches!(wait.kind, WaitKind::Budget | WaitKind::Trouble);
        let helped = self.state.waits.values().filter(|wait| helps(wait));
        for wait in helped.map(|wait| wait.id.clone()).collect::<Vec<_>>() {
            self.emit(Event::WaitClosed { wait, closing: Closing::Answered { by: by.to_owned() } });
        }
        let held = self.state.held.clone();
        self.emit(Event::Unblocked { by: by.to_owned() });
        if let Some(next) = held {
            self.go_on(next);
        }
    }

    /// A person ends the run.
    pub(super) fn cancelled(&mut self, by: &str, reason: Option<&str>) {
        let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        self.end(EndKind::Cancelled, Some(format!("cancelled by {by}{why}")));
    }
}

/// Whether what is granted is what blocks.
fn covers(grants: &BTreeMap<String, u64>, blocked: &Blocked) -> bool {
    match blocked {
        Blocked::Budget { budget, .. } => {
            grants.contains_key(budget) || grants.contains_key(name_of(budget))
        }
        Blocked::Refused | Blocked::NoTicket { .. } | Blocked::Trouble { .. } => false,
    }
}

/// The name of a budget without its phase.
fn name_of(budget: &str) -> &str {
    budget.split('@').next().unwrap_or(budget)
}
