//! Approvals of calls: a tool call or an effect that the policy holds until a person approves it.
//!
//! The subject is the call with its exact arguments. The action is pending from the moment it is
//! requested, and nobody executes it while it is held.

use countersign_contract::json::{digest_json, measure_json};
use countersign_contract::limits;
use countersign_protocol::{CallApproval, CallApprovalCondition};
use serde_json::{Value, json};

use super::deciders::list_excluded;
use super::run_decision::RunDecision;
use super::settle_failure::PhaseFailure;
use crate::apply_event::DEADLINE_ACTOR;
use crate::event::RunEvent;
use crate::pending_action::PendingAction;
use crate::state::Continuation;
use crate::wait::{ApprovalSubject, RunWait, SubjectPart, WaitApproval, WaitKind, WaitResolution};

/// Computes the digest of what the approval of a call signs; `None` for actions that no policy
/// holds.
#[must_use]
pub fn compute_call_digest(action: &PendingAction) -> Option<String> {
    action.describe_call().map(|(_, call)| digest_call(&call))
}

fn digest_call(call: &Value) -> String {
    digest_json(&json!({ "call": call }))
}

impl RunDecision<'_> {
    /// Holds a requested call and asks for its approval, if the policy wants that.
    pub(super) fn hold_call_if_needed(&mut self, action: &str) {
        let Some((name, call)) =
            self.state.pending.get(action).and_then(PendingAction::describe_call)
        else {
            return;
        };
        let Some(rule) = self.find_call_approval(&name, &call) else { return };
        let wait = self.build_call_wait(rule, action, &name, call);
        self.open_new_wait(wait);
    }

    /// The first entry of the policy that wants an approval of this call; `None` if the call needs
    /// none.
    fn find_call_approval(&self, name: &str, call: &Value) -> Option<&CallApproval> {
        for rule in self.protocol.policy.approvals.iter().filter(|rule| rule.matches(name)) {
            match &rule.when {
                CallApprovalCondition::Always => return Some(rule),
                CallApprovalCondition::Never => return None,
                CallApprovalCondition::If(condition) => {
                    let run = self.run_value();
                    let roots = [Some(&*self.state.document), Some(&*run), Some(call)];
                    // Where the condition cannot be evaluated, a person decides.
                    if condition.eval_bool(&roots).unwrap_or(true) {
                        return Some(rule);
                    }
                }
            }
        }
        None
    }

    fn build_call_wait(
        &self,
        rule: &CallApproval,
        action: &str,
        name: &str,
        call: Value,
    ) -> RunWait {
        let standard = || format!("May the run make this call: {}?", summarize_call(name, &call));
        let question = match &rule.question {
            None => standard(),
            Some(template) => {
                let run = self.run_value();
                let roots = [Some(&*self.state.document), Some(&*run), Some(&call)];
                template.render(&roots).unwrap_or_else(|error| {
                    let why = error.message;
                    format!("{} (the text of the policy cannot be shown: {why})", standard())
                })
            }
        };
        let mut wait = self.new_wait(WaitKind::Approval, name, question);
        wait.action = Some(action.to_owned());
        wait.who.clone_from(&rule.rules.who);
        wait.approval = Some(WaitApproval {
            excluded: list_excluded(&self.state, &rule.rules.distinct_from),
            ..WaitApproval::from_rules(&rule.rules, self.input.time)
        });
        wait.deadline = rule.deadline.map(|deadline| self.input.time.plus_millis(deadline.millis));
        let digest = digest_call(&call);
        let parts = vec![SubjectPart { pointer: String::new(), value: call }];
        let omitted = measure_json(&parts).bytes > limits::MAX_SUBJECT_BYTES;
        let parts = if omitted { Vec::new() } else { parts };
        wait.subject = Some(ApprovalSubject { digest, parts, omitted, changes: None });
        wait
    }

    /// Continues after the approval of a call was denied or expired: the call is not made. The model
    /// reads why; an effect has failed.
    pub(super) fn settle_denied_call(
        &mut self,
        action: &str,
        by: &str,
        note: Option<&str>,
    ) -> Option<Continuation> {
        let pending = self.state.pending.get(action).cloned()?;
        let expired = by == DEADLINE_ACTOR;
        let reason = match note {
            _ if expired => "nobody approved the call before its deadline".to_owned(),
            Some(note) => format!("{by} denied the call: {note}"),
            None => format!("{by} denied the call"),
        };
        self.emit(RunEvent::CallDenied { action: action.to_owned(), reason: reason.clone() });
        match pending {
            PendingAction::Tool { .. } => self.continue_after_tools(),
            PendingAction::Effect { item, .. } => {
                let code = if expired { "expired" } else { "denied" };
                self.settle_effect_failure(item, &PhaseFailure::new(code, &reason))
            }
            _ => None,
        }
    }

    /// Closes the approvals of calls that the run dropped.
    pub(super) fn close_orphaned_call_waits(&mut self) {
        let open = self.state.waits.values();
        let orphaned = open.filter(|wait| {
            wait.action.as_ref().is_some_and(|action| !self.state.held_calls.contains_key(action))
        });
        for wait in orphaned.map(|wait| wait.id.clone()).collect::<Vec<_>>() {
            self.emit(RunEvent::WaitClosed { wait, resolution: WaitResolution::Dropped });
        }
    }
}

/// The call in a few words, for a question: `write notes.md`.
fn summarize_call(name: &str, call: &Value) -> String {
    let text = |key: &str| call[key].as_str().filter(|text| !text.is_empty());
    let object = text("path").or(text("to")).or(text("url")).or(text("program"));
    match object.or(text("source")).or(text("query")) {
        Some(object) => format!("{name} {object}"),
        None => name.to_owned(),
    }
}
