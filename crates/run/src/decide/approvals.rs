//! Handles the decisions of a person: approve, deny, resume and cancel.

use std::collections::BTreeMap;

use super::approval_subject::check_named_subject;
use super::deciders::check_note;
use super::questions::wrong_kind_rejection;
use super::run_decision::RunDecision;
use crate::InputRejection;
use crate::event::RunEvent;
use crate::pending_action::PendingAction;
use crate::state::{BlockReason, Continuation, RunEndKind};
use crate::wait::{RunWait, WaitKind, WaitResolution};

impl RunDecision<'_> {
    /// Handles an approval or denial of a wait.
    pub(super) fn handle_approval(
        &mut self,
        wait: &str,
        approve: bool,
        by: &str,
        note: Option<&String>,
        subject: Option<&String>,
    ) -> Result<Option<Continuation>, InputRejection> {
        let wait = self.find_answerable_wait(wait, by)?;
        check_named_subject(&wait, approve, subject)?;
        if approve && self.has_changed_subject(&wait) {
            return Err(wait.reject_old_subject(&wait.id));
        }
        check_note(&wait, approve, note)?;
        if approve
            && let Some(approval) = &wait.approval
            && approval.votes.len() + 1 < approval.need as usize
        {
            let (wait, by, note) = (wait.id, by.to_owned(), note.cloned());
            self.emit(RunEvent::ApprovalGiven { wait, by, note });
            return Ok(None);
        }
        let (by, note) = (by.to_owned(), note.cloned());
        let refusal = note.clone().map_or_else(String::new, |note| format!(": {note}"));
        let ended = format!("denied by {by}{refusal}");
        let closing = if approve {
            WaitResolution::Approved { by: by.clone(), note: note.clone() }
        } else {
            WaitResolution::Denied { by: by.clone(), note: note.clone() }
        };
        match wait.kind {
            WaitKind::Approval => {
                self.emit(RunEvent::WaitClosed { wait: wait.id, resolution: closing });
                Ok(match wait.action {
                    // An approved call is ready; its result continues the run.
                    Some(_) if approve => None,
                    Some(action) => self.settle_denied_call(&action, &by, note.as_deref()),
                    None => Some(Continuation::ChooseTransition),
                })
            }
            WaitKind::Budget | WaitKind::Incident => {
                self.emit(RunEvent::WaitClosed { wait: wait.id, resolution: closing });
                Ok(if approve && self.state.blocked.is_some() {
                    self.unblock_run(&by, &BTreeMap::new())
                } else if approve {
                    Some(Continuation::ChooseTransition)
                } else {
                    self.end_run(RunEndKind::Failed, Some(ended))
                })
            }
            WaitKind::Question | WaitKind::Document | WaitKind::Work => {
                Err(wrong_kind_rejection(wait))
            }
        }
    }

    /// Handles a resume: the run continues with the continuation that it held when it stopped.
    ///
    /// A halt is lifted first. If the halted run is also blocked, it stays blocked, unless the
    /// grants cover the budget that blocks it.
    pub(super) fn handle_resume(
        &mut self,
        by: &str,
        grants: &BTreeMap<String, u64>,
    ) -> Option<Continuation> {
        for (budget, amount) in grants {
            self.emit(RunEvent::BudgetGranted { budget: budget.clone(), amount: *amount });
        }
        let was_halted = self.state.halted.is_some();
        if let Some(blocked) = self.state.blocked.clone() {
            if was_halted {
                self.emit(RunEvent::Resumed { by: by.to_owned() });
            }
            if !was_halted || grants_cover(grants, &blocked) {
                return self.unblock_run(by, grants);
            }
            return None;
        }
        let held = self.state.continuation.clone();
        self.emit(RunEvent::Resumed { by: by.to_owned() });
        let idle = self.state.pending.values().all(PendingAction::is_message);
        if held.is_none() && !was_halted && idle && !self.state.closed_gates.is_empty() {
            // Files may exist by now, and a denied approval can be requested again.
            self.drop_waits();
            return Some(Continuation::ChooseTransition);
        }
        held
    }

    /// Unblocks the run and returns the continuation that it held.
    pub(super) fn unblock_run(
        &mut self,
        by: &str,
        grants: &BTreeMap<String, u64>,
    ) -> Option<Continuation> {
        if let Some(BlockReason::Budget { budget, limit }) = self.state.blocked.clone()
            && !grants.contains_key(&budget)
        {
            // A grant without a phase applies to the limit that blocks the run.
            let amount = grants.get(budget_name(&budget)).copied().unwrap_or(limit.max(1));
            self.emit(RunEvent::BudgetGranted { budget, amount });
        }
        let is_resolved =
            |wait: &RunWait| matches!(wait.kind, WaitKind::Budget | WaitKind::Incident);
        let resolved = self.state.waits.values().filter(|wait| is_resolved(wait));
        for wait in resolved.map(|wait| wait.id.clone()).collect::<Vec<_>>() {
            self.emit(RunEvent::WaitClosed {
                wait,
                resolution: WaitResolution::Answered { by: by.to_owned() },
            });
        }
        let held = self.state.continuation.clone();
        self.emit(RunEvent::Unblocked { by: by.to_owned() });
        held
    }

    /// Handles a cancellation: ends the run.
    pub(super) fn handle_cancel(&mut self, by: &str, reason: Option<&str>) -> Option<Continuation> {
        let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        self.end_run(RunEndKind::Cancelled, Some(format!("cancelled by {by}{why}")))
    }
}

/// Whether the grants include the budget that blocks the run.
fn grants_cover(grants: &BTreeMap<String, u64>, blocked: &BlockReason) -> bool {
    match blocked {
        BlockReason::Budget { budget, .. } => {
            grants.contains_key(budget) || grants.contains_key(budget_name(budget))
        }
        BlockReason::Refused | BlockReason::MissingTicket { .. } | BlockReason::Incident { .. } => {
            false
        }
    }
}

/// The name of a budget key without its phase: `tokens` for `tokens@draft`.
fn budget_name(budget: &str) -> &str {
    budget.split('@').next().unwrap_or(budget)
}
