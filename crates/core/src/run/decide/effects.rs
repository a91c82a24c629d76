//! Effects: something is done outside, and its result changes the document like a reply does.

use std::ops::ControlFlow::{self, Break, Continue};

use serde_json::Value;

use super::document_update::{ChangeScope, accept_any_value, any_value_contract};
use super::run_decision::RunDecision;
use super::settle_failure::PhaseFailure;
use super::size_limits::clip_text;
use crate::protocol::{EffectTemplate, FailurePolicy, ForEachItems, PhaseWork};
use crate::reply::{Violation, format_value};
use crate::run::RunState;
use crate::run::effect_call::EffectCall;
use crate::run::event::RunEvent;
use crate::run::state::{Continuation, PendingAction};

impl RunDecision<'_> {
    /// Orders the effect of the phase, once or for each item.
    pub(super) fn request_phase_effect(
        &mut self,
        each: Option<&ForEachItems>,
    ) -> Option<Continuation> {
        match each.map(|each| self.evaluate_items(each)) {
            None => self.request_effects(vec![None], &Continuation::Work),
            Some(Ok(items)) => {
                self.request_effects(items.into_iter().map(Some).collect(), &Continuation::Work)
            }
            Some(Err(why)) => {
                let what = format!("The effect of phase `{}` failed: {why}", self.state.phase);
                self.apply_failure_policy(&FailurePolicy::Wait, what, Continuation::Work)
            }
        }
    }

    /// Orders the effect of the phase for these items again.
    pub(super) fn request_effects_again(&mut self, items: Vec<Value>) -> Option<Continuation> {
        let next = Continuation::Items { items: items.clone() };
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
            // The decision is made otherwise; more events would only fill the memory.
            if self.limit_exceeded.is_some() {
                return None;
            }
            match self.render_effect(spec, item.as_ref()) {
                Ok(effect) => {
                    let (action, attempt) = (self.next_action_id(), 1);
                    let not_before = None;
                    self.emit(RunEvent::EffectAsked { action, attempt, effect, not_before, item });
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

    /// Goes on when no effect of the phase is out any more. The work counts as accepted where nothing of it was
    /// given up.
    fn complete_effects_if_none_pending(&mut self, whole: bool) -> Option<Continuation> {
        let out = |order: &PendingAction| matches!(order, PendingAction::Effect { .. });
        if self.state.pending.values().any(out) || self.state.blocked.is_some() {
            return None;
        }
        if self.state.round.lost.is_empty() {
            let whole = whole && self.state.round.given_up == 0;
            return if whole { self.accept_work() } else { Some(Continuation::Leave) };
        }
        let items = self.state.round.lost.iter().map(|lost| lost.item.clone()).collect();
        self.report_failed_items(Continuation::Items { items })
    }

    fn render_effect(
        &self,
        spec: &EffectTemplate,
        item: Option<&Value>,
    ) -> Result<EffectCall, String> {
        let run = self.run_value();
        let roots: Vec<_> =
            [Some(&*self.state.document), Some(&run)].into_iter().chain(item.map(Some)).collect();
        let text = |template: &crate::protocol::TextTemplate| {
            template.render(&roots).map_err(|error| error.message)
        };
        let value = |expr: &crate::expr::Expr| {
            let value = expr.eval(&roots).map_err(|error| error.message)?.to_json();
            value.ok_or_else(|| format!("`{}` is undefined", expr.source()))
        };
        Ok(match spec {
            EffectTemplate::Write { path, content, once } => EffectCall::Write {
                once: *once,
                path: text(path)?,
                content: match value(content)? {
                    Value::String(text) => text,
                    other => format!("{other:#}\n"),
                },
            },
            EffectTemplate::Copy { from, to, once } => {
                EffectCall::Copy { from: text(from)?, to: text(to)?, once: *once }
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

    /// An effect was done.
    pub(super) fn handle_effect_finished(
        &mut self,
        before: &RunState,
        action: &str,
        result: &Value,
    ) -> Option<Continuation> {
        self.emit(RunEvent::EffectDone { action: action.to_owned() });
        let PhaseWork::Effect { apply, contract, .. } = &self.current_phase().work else {
            return None;
        };
        let beside =
            ChangeScope { item: find_action_item(before, action), ..ChangeScope::default() };
        let accepted = match contract {
            None => Ok(accept_any_value(any_value_contract(), result)),
            Some(contract) => self.admit_value(contract, result),
        };
        let written = accepted
            .and_then(|accepted| self.build_update(apply, &accepted, &beside, contract.as_deref()));
        match written {
            Ok(written) => {
                self.record_update(written);
                self.complete_effects_if_none_pending(true)
            }
            Err(violations) => {
                let why =
                    format!("its result was refused: {}", describe_first_violation(&violations));
                let failure = PhaseFailure::from_violations(&violations, &why);
                match self.settle_failed_effect(beside.item, &failure) {
                    Break(instead) => instead,
                    Continue(()) => self.complete_effects_if_none_pending(false),
                }
            }
        }
    }

    /// An effect failed: once more, or what follows.
    pub(super) fn handle_effect_failed(
        &mut self,
        before: &RunState,
        action: &str,
        failure: &str,
        message: &str,
        retryable: bool,
    ) -> Option<Continuation> {
        let (order_id, failure) = (action.to_owned(), failure.to_owned());
        let order = before.pending.get(action).cloned();
        let action = order_id.clone();
        let (failure, message) = (clip_text(failure), clip_text(message));
        let lost = PhaseFailure::new(&failure, &message);
        self.emit(RunEvent::EffectFailed { action, failure, message });
        let PhaseWork::Effect { retry, .. } = &self.current_phase().work else { return None };
        let item = find_action_item(before, &order_id);
        if let (Some(PendingAction::Effect { attempt, effect, .. }), Some(retry), true) =
            (order, retry, retryable)
            && attempt < retry.max_attempts
        {
            let not_before = Some(self.input.time.plus_millis(retry.delay_for_attempt(attempt)));
            let (action, attempt) = (self.next_action_id(), attempt + 1);
            self.emit(RunEvent::EffectAsked { action, attempt, effect, not_before, item });
            return None;
        }
        match self.settle_failed_effect(item, &lost) {
            Break(instead) => instead,
            Continue(()) => self.complete_effects_if_none_pending(false),
        }
    }

    /// An effect cannot be had. Whether the phase goes on: with the other items, or because the author
    /// says so.
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
        let beside = ChangeScope { item, ..ChangeScope::default() };
        let (then, what) = self.settle_failure(on_failed, failure, &beside, what);
        match (then, beside.item) {
            (FailurePolicy::GoOn, None) => Continue(()),
            (then @ (FailurePolicy::GoOn | FailurePolicy::Wait), Some(item)) => {
                let again = then == FailurePolicy::Wait;
                self.emit(RunEvent::ItemFailed { item, key: None, what, again });
                Continue(())
            }
            (then, _) => Break(self.apply_failure_policy(&then, what, Continuation::Work)),
        }
    }
}

/// The item that an order was about.
fn find_action_item(before: &RunState, action: &str) -> Option<Value> {
    match before.pending.get(action)? {
        PendingAction::Effect { item, .. } => item.clone(),
        _ => None,
    }
}

/// The first of several faults, for a sentence.
pub(super) fn describe_first_violation(violations: &[Violation]) -> String {
    let told = |violation: &Violation| violation.message.replacen("the reply: ", "", 1);
    violations.first().map_or_else(String::new, told)
}
