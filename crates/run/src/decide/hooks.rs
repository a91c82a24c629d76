//! Hooks of a phase. An exit hook can stop or redirect the transition and change the document; an
//! entry hook can stop the phase and change the document.

use countersign_contract::patch::{Authority, Patch};
use countersign_contract::reply::Violation;
use countersign_protocol::FailurePolicy;
use serde_json::Value;

use super::document_update::{DocumentUpdate, engine_pointers};
use super::effects::describe_first_violation;
use super::run_decision::RunDecision;
use super::size_limits::clip_text;
use crate::RunState;
use crate::event::RunEvent;
use crate::input::HookAnswer;
use crate::pending_action::PendingAction;
use crate::state::{ClosedGate, Continuation};
use crate::wait::WaitKind;

impl RunDecision<'_> {
    /// Requests an exit hook before the transition `way`, or an entry hook if `way` is `None`.
    pub(super) fn request_hook(
        &mut self,
        hook: &str,
        transition: Option<usize>,
    ) -> Option<Continuation> {
        let action = self.next_action_id();
        self.emit(RunEvent::HookRequested { action, hook: hook.to_owned(), transition });
        None
    }

    /// Handles the answer of a hook.
    pub(super) fn handle_hook_finished(
        &mut self,
        before: &RunState,
        action: &str,
        answer: &HookAnswer,
    ) -> Option<Continuation> {
        let description = match answer {
            HookAnswer::Ok => "ok".to_owned(),
            HookAnswer::Abort { reason } => clip_text(format!("abort: {reason}")),
            HookAnswer::Patch { .. } => "patch".to_owned(),
            HookAnswer::Redirect { to } => clip_text(format!("redirect to `{to}`")),
        };
        self.emit(RunEvent::HookFinished { action: action.to_owned(), answer: description });
        let Some(PendingAction::Hook { hook, transition }) = before.pending.get(action) else {
            return None;
        };
        if let HookAnswer::Patch { ops } = answer {
            match self.build_hook_update(ops) {
                Ok(update) => self.record_update(update),
                Err(violations) => {
                    let reason =
                        format!("its patch was refused: {}", describe_first_violation(&violations));
                    return self.stop_by_hook(hook, *transition, &reason);
                }
            }
        }
        match (transition, answer) {
            (None, HookAnswer::Ok | HookAnswer::Patch { .. }) => Some(Continuation::BeginWork),
            (None, HookAnswer::Abort { reason }) => self.stop_by_hook(hook, None, reason),
            (None, HookAnswer::Redirect { to }) => {
                let reason =
                    format!("it redirects to `{to}`, but an `on_enter` hook cannot redirect");
                self.stop_by_hook(hook, None, &reason)
            }
            (Some(transition), HookAnswer::Ok | HookAnswer::Patch { .. }) => {
                self.leave_after_hook(*transition)
            }
            (Some(transition), HookAnswer::Abort { reason }) => {
                self.stop_by_hook(hook, Some(*transition), reason)
            }
            (Some(transition), HookAnswer::Redirect { to }) => {
                self.redirect_transition(hook, *transition, to)
            }
        }
    }

    /// Takes the transition that the exit hook allowed, unless the hook's patch closed its gate.
    fn leave_after_hook(&mut self, index: usize) -> Option<Continuation> {
        match self.find_open_reason(index) {
            Some(because) => {
                Some(Continuation::TakeTransition { transition: index, reason: because })
            }
            // The approval was for the document before the hook changed it.
            None if self.lacks_approval(index) => Some(Continuation::ChooseTransition),
            None => {
                let reason = "its gate closed when the hook changed the document".to_owned();
                self.block_transition(index, reason)
            }
        }
    }

    /// Takes an open transition to the phase that the exit hook named, or blocks the held one.
    fn redirect_transition(&mut self, hook: &str, held: usize, to: &str) -> Option<Continuation> {
        let transitions = self.workflow.transitions_from(&self.state.phase);
        let open = transitions.iter().find_map(|(index, transition)| {
            let because = if transition.to == to { self.find_open_reason(*index) } else { None };
            because.map(|because| (*index, because))
        });
        match open {
            Some((index, because)) => {
                let because = format!("hook `{hook}` redirected here, and {because}");
                Some(Continuation::TakeTransition { transition: index, reason: because })
            }
            None => {
                let reason = format!(
                    "hook `{hook}` redirects to `{to}`, but no open transition leads there"
                );
                self.block_transition(held, reason)
            }
        }
    }

    /// Blocks the transition of an exit hook, or reports an incident for an entry hook.
    fn stop_by_hook(
        &mut self,
        hook: &str,
        transition: Option<usize>,
        reason: &str,
    ) -> Option<Continuation> {
        match transition {
            Some(transition) => {
                self.block_transition(transition, format!("hook `{hook}` stopped it: {reason}"))
            }
            None => {
                let message =
                    format!("Hook `{hook}` of phase `{}` failed: {reason}", self.state.phase);
                self.apply_failure_policy(&FailurePolicy::Wait, message, Continuation::BeginPhase)
            }
        }
    }

    /// Blocks a transition for good and opens a wait for a person.
    pub(super) fn block_transition(
        &mut self,
        transition: usize,
        reason: String,
    ) -> Option<Continuation> {
        let reason = clip_text(reason);
        let to = self.workflow.transitions[transition].to.clone();
        let phase = self.state.phase.clone();
        let question = format!("The run cannot move from `{phase}` to `{to}`: {reason}.");
        let gates = vec![ClosedGate { transition, to, reason, attempts: 0, retry_at: None }];
        self.emit(RunEvent::GatesClosed { gates, retry_at: None });
        let wait = self.new_wait(WaitKind::Incident, &phase, question);
        self.open_new_wait(wait);
        None
    }

    fn build_hook_update(&self, ops: &Value) -> Result<DocumentUpdate, Vec<Violation>> {
        let patch = Patch::parse(ops)?;
        let authority = Authority::parse(&[""], &engine_pointers(self.document_definition()))
            .expect("pointers were parsed when the protocol was loaded");
        let violations = authority.check(&patch, &self.state.document);
        if !violations.is_empty() {
            return Err(violations);
        }
        self.build_patch_update(patch)
    }
}
