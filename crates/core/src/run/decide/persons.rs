//! A person's word: approve, deny, resume, cancel.

use std::collections::BTreeMap;

use super::deciding::Deciding;
use crate::run::Rejection;
use crate::run::event::Event;
use crate::run::state::{Blocked, EndKind};
use crate::run::wait::{Closing, WaitKind};

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
                if approve {
                    self.resumed(&by, &BTreeMap::new());
                } else {
                    self.end(EndKind::Failed, Some(ended));
                }
            }
            WaitKind::Question | WaitKind::Document | WaitKind::Work => {
                let (kind, expected) =
                    (wait.kind.as_str(), "answer it, or hand in what it asks for");
                return Err(Rejection::WrongKind { wait: wait.id, kind, expected });
            }
        }
        Ok(())
    }

    /// A person lets the run go on: from a halt where it was, from a block with its work again.
    pub(super) fn resumed(&mut self, by: &str, grants: &BTreeMap<String, u64>) {
        let was_halted = self.state.halted.is_some();
        let blocked = self.state.blocked.clone();
        for (budget, amount) in grants {
            self.emit(Event::Granted { budget: budget.clone(), amount: *amount });
        }
        if let Some(Blocked::Budget { budget, limit }) = &blocked
            && !was_halted
        {
            let name = budget.split('@').next().unwrap_or(budget);
            if !grants.contains_key(budget) && !grants.contains_key(name) {
                self.emit(Event::Granted { budget: budget.clone(), amount: (*limit).max(1) });
            } else if !grants.contains_key(budget) {
                // The name alone was said, and the phase's own limit was meant.
                let amount = grants[name];
                self.emit(Event::Granted { budget: budget.clone(), amount });
            }
        }
        self.emit(Event::Resumed { by: by.to_owned() });
        if !was_halted && (blocked.is_some() || !self.state.closed.is_empty()) {
            self.drop_waits();
            self.work();
        }
    }

    /// A person ends the run.
    pub(super) fn cancelled(&mut self, by: &str, reason: Option<&str>) {
        let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        self.end(EndKind::Cancelled, Some(format!("cancelled by {by}{why}")));
    }
}
