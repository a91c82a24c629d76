//! Effects: the run requests an external operation, and its result changes the document as a reply
//! does. Failed effects are retried, then settled by the phase's failure handler.

use std::ops::ControlFlow::{self, Break, Continue};

use countersign_contract::reply::{Violation, format_value};
use countersign_protocol::{EffectTemplate, FailurePolicy, ForEachItems, PhaseWork};
use serde_json::Value;

use super::document_update::{ChangeScope, accept_any_value, any_value_contract};
use super::run_decision::RunDecision;
use super::settle_failure::PhaseFailure;
use super::size_limits::clip_text;
use crate::RunState;
use crate::effect_call::EffectCall;
use crate::event::RunEvent;
use crate::pending_action::PendingAction;
use crate::state::Continuation;

impl RunDecision<'_> {
    /// Requests the effect of the phase, once or for each item.
    pub(super) fn request_phase_effect(
        &mut self,
        each: Option<&ForEachItems>,
    ) -> Option<Continuation> {
        match each.map(|each| self.evaluate_items(each)) {
            None => self.request_effects(vec![None], &Continuation::BeginWork),
            Some(Ok(items)) => self
                .request_effects(items.into_iter().map(Some).collect(), &Continuation::BeginWork),
            Some(Err(why)) => {
                let message = format!("The effect of phase `{}` failed: {why}", self.state.phase);
                self.apply_failure_policy(&FailurePolicy::Wait, message, Continuation::BeginWork)
            }
        }
    }

    /// Requests the effect of the phase again for these items.
    pub(super) fn request_effects_again(&mut self, items: Vec<Value>) -> Option<Continuation> {
        let next = Continuation::RequestEffects { items: items.clone() };
        self.request_effects(items.into_iter().map(Some).collect(), &next)
    }

    fn request_effects(
        &mut self,
        items: Vec<Option<Value>>,
        next: &Continuation,
    ) -> Option<Continuation> {
        let PhaseWork::Effect { effect: spec, .. } = &self.current_phase().work else {
            return None;
        };
        if !items.is_empty()
            && let Break(instead) = self.check_time_budget(next)
        {
            return instead;
        }
        let mut unfilled = Vec::new();
        for item in items {
            // This decision is discarded; more events would only use memory.
            if self.limit_exceeded.is_some() {
                return None;
            }
            match self.render_effect(spec, item.as_ref()) {
                Ok(effect) => {
                    let (action, attempt) = (self.next_action_id(), 1);
                    let not_before = None;
                    let held = action.clone();
                    self.emit(RunEvent::EffectRequested {
                        action,
                        attempt,
                        effect,
                        not_before,
                        item,
                        approved_call: None,
                    });
                    self.hold_call_if_needed(&held);
                }
                Err(why) => unfilled.push((item, PhaseFailure::new("invalid", &why))),
            }
        }
        let whole = unfilled.is_empty();
        for (item, failure) in unfilled {
            if let Break(instead) = self.settle_failed_effect(item, &failure) {
                return instead;
            }
        }
        self.complete_effects_if_none_pending(whole)
    }

    /// Completes the phase when none of its effects is pending. The work counts as accepted only if
    /// `whole` and no item was given up.
    fn complete_effects_if_none_pending(&mut self, whole: bool) -> Option<Continuation> {
        let is_effect = |action: &PendingAction| matches!(action, PendingAction::Effect { .. });
        if self.state.pending.values().any(is_effect) || self.state.blocked.is_some() {
            return None;
        }
        if self.state.item_progress.failed.is_empty() {
            let whole = whole && self.state.item_progress.skipped == 0;
            return if whole {
                Some(self.accept_work())
            } else {
                Some(Continuation::ChooseTransition)
            };
        }
        let items = self.state.item_progress.failed.iter().map(|lost| lost.item.clone()).collect();
        self.report_failed_items(Continuation::RequestEffects { items })
    }

    fn render_effect(
        &self,
        spec: &EffectTemplate,
        item: Option<&Value>,
    ) -> Result<EffectCall, String> {
        let run = self.run_value();
        let roots: Vec<_> =
            [Some(&*self.state.document), Some(&run)].into_iter().chain(item.map(Some)).collect();
        let text = |template: &countersign_protocol::TextTemplate| {
            template.render(&roots).map_err(|error| error.message)
        };
        let value = |expr: &countersign_contract::expr::Expr| {
            let value = expr.eval(&roots).map_err(|error| error.message)?.to_json();
            value.ok_or_else(|| format!("`{}` is undefined", expr.source()))
        };
        Ok(match spec {
            EffectTemplate::Write { path, content, once, format } => EffectCall::Write {
                once: *once,
                format: *format,
                path: text(path)?,
                content: match value(content)? {
                    Value::String(text) => text,
                    other => format!("{other:#}\n"),
                },
            },
            EffectTemplate::Copy { from, to, once } => {
                let from = text(from)?;
                let digest = self.find_copied_digest(&from)?;
                EffectCall::Copy { to: text(to)?, once: *once, digest, from }
            }
            EffectTemplate::Run { program, args, input } => EffectCall::Run {
                program: program.clone(),
                args: args.iter().map(text).collect::<Result<_, _>>()?,
                input: input.as_ref().map(value).transpose()?,
            },
            EffectTemplate::Http { method, url, body } => EffectCall::Http {
                method: method.clone(),
                url: text(url)?,
                body: body.as_ref().map(value).transpose()?,
            },
            EffectTemplate::Retrieve { source, query } => {
                EffectCall::Retrieve { source: text(source)?, query: value(query)? }
            }
        })
    }

    /// The digest of a file to copy, if a person may have to approve the copy. The path alone would
    /// not say what is approved.
    fn find_copied_digest(&self, path: &str) -> Result<Option<String>, String> {
        if !self.protocol.policy.has_approvals_of("copy") {
            return Ok(None);
        }
        match self.input.file_digests.get(path) {
            Some(Some(digest)) => Ok(Some(digest.clone())),
            Some(None) => Err(format!(
                "`{path}` cannot be approved: there is no such file, or it has more than 64 MiB"
            )),
            None => {
                self.undigested_files.borrow_mut().insert(path.to_owned());
                Err(format!("what `{path}` contains is unknown"))
            }
        }
    }

    /// Handles a finished effect: admits its result and updates the document.
    pub(super) fn handle_effect_finished(
        &mut self,
        before: &RunState,
        action: &str,
        result: &Value,
    ) -> Option<Continuation> {
        self.emit(RunEvent::EffectFinished { action: action.to_owned() });
        let PhaseWork::Effect { apply, contract, .. } = &self.current_phase().work else {
            return None;
        };
        let scope =
            ChangeScope { item: find_action_item(before, action), ..ChangeScope::default() };
        let accepted = match contract {
            None => Ok(accept_any_value(any_value_contract(), result)),
            Some(contract) => self.admit_value(contract, result),
        };
        let update = accepted
            .and_then(|accepted| self.build_update(apply, &accepted, &scope, contract.as_deref()));
        match update {
            Ok(update) => {
                self.record_update(update);
                self.complete_effects_if_none_pending(true)
            }
            Err(violations) => {
                let why =
                    format!("its result was refused: {}", describe_first_violation(&violations));
                let failure = PhaseFailure::from_violations(&violations, &why);
                match self.settle_failed_effect(scope.item, &failure) {
                    Break(instead) => instead,
                    Continue(()) => self.complete_effects_if_none_pending(false),
                }
            }
        }
    }

    /// Handles a failed effect: retries it, or settles the failure.
    pub(super) fn handle_effect_failed(
        &mut self,
        before: &RunState,
        failed: &str,
        failure: &str,
        message: &str,
        retryable: bool,
    ) -> Option<Continuation> {
        let pending = before.pending.get(failed).cloned();
        let (failure, message) = (clip_text(failure), clip_text(message));
        let lost = PhaseFailure::new(&failure, &message);
        self.emit(RunEvent::EffectFailed { action: failed.to_owned(), failure, message });
        let PhaseWork::Effect { retry, .. } = &self.current_phase().work else { return None };
        let item = find_action_item(before, failed);
        if let (Some(PendingAction::Effect { attempt, effect, .. }), Some(retry), true) =
            (pending, retry, retryable)
            && attempt < retry.max_attempts
        {
            let not_before = Some(self.input.time.plus_millis(retry.delay_for_attempt(attempt)));
            let (action, attempt) = (self.next_action_id(), attempt + 1);
            // The same call again is covered by the approval of the first attempt.
            let approved_call = before.approved_calls.get(failed).cloned();
            self.emit(RunEvent::EffectRequested {
                action,
                attempt,
                effect,
                not_before,
                item,
                approved_call,
            });
            return None;
        }
        self.settle_effect_failure(item, &lost)
    }

    /// Settles a final failure of an effect, and completes the phase if nothing else is pending.
    pub(super) fn settle_effect_failure(
        &mut self,
        item: Option<Value>,
        failure: &PhaseFailure,
    ) -> Option<Continuation> {
        match self.settle_failed_effect(item, failure) {
            Break(instead) => instead,
            Continue(()) => self.complete_effects_if_none_pending(false),
        }
    }

    /// Settles a final failure of an effect. `Continue`: the phase goes on, with the other items or
    /// because its failure policy says so.
    fn settle_failed_effect(
        &mut self,
        item: Option<Value>,
        failure: &PhaseFailure,
    ) -> ControlFlow<Option<Continuation>> {
        let PhaseWork::Effect { on_failed, .. } = &self.current_phase().work else {
            return Break(None);
        };
        let of =
            item.as_ref().map_or_else(String::new, |item| format!(" for {}", format_value(item)));
        let what =
            format!("The effect of phase `{}` failed{of}: {}", self.state.phase, failure.message());
        let scope = ChangeScope { item, ..ChangeScope::default() };
        let (then, what) = self.settle_failure(on_failed, failure, &scope, what);
        match (then, scope.item) {
            (FailurePolicy::GoOn, None) => Continue(()),
            (then @ (FailurePolicy::GoOn | FailurePolicy::Wait), Some(item)) => {
                let again = then == FailurePolicy::Wait;
                self.emit(RunEvent::ItemFailed {
                    item,
                    key: None,
                    message: what,
                    retryable: again,
                });
                Continue(())
            }
            (then, _) => Break(self.apply_failure_policy(&then, what, Continuation::BeginWork)),
        }
    }
}

/// The item of a pending effect; `None` if the phase has no `for_each`.
fn find_action_item(before: &RunState, action: &str) -> Option<Value> {
    match before.pending.get(action)? {
        PendingAction::Effect { item, .. } => item.clone(),
        _ => None,
    }
}

/// The message of the first violation, for use inside a sentence.
pub(super) fn describe_first_violation(violations: &[Violation]) -> String {
    let describe = |violation: &Violation| violation.message.replacen("the reply: ", "", 1);
    violations.first().map_or_else(String::new, describe)
}
