//! Effects: something is done outside, and its result changes the document like a reply does.

use serde_json::Value;

use super::bounds::clip;
use super::deciding::Deciding;
use super::outcomes::Failure;
use super::writing::{Beside, anything, taken};
use crate::protocol::{Each, EffectSpec, Otherwise, Work};
use crate::reply::{Violation, show};
use crate::run::State;
use crate::run::event::Event;
use crate::run::order::Effect;
use crate::run::state::{Next, Pending};

impl Deciding<'_> {
    /// Orders the effect of the phase, once or for each item.
    pub(super) fn ask_effect(&mut self, each: Option<&Each>) {
        match each.map(|each| self.items(each)) {
            None => self.order_effects(vec![None], &Next::Work),
            Some(Ok(items)) => {
                self.order_effects(items.into_iter().map(Some).collect(), &Next::Work);
            }
            Some(Err(why)) => {
                let what = format!("The effect of phase `{}` failed: {why}", self.state.phase);
                self.otherwise(&Otherwise::Wait, what, Next::Work);
            }
        }
    }

    /// Orders the effect of the phase for these items again.
    pub(super) fn ask_effects_again(&mut self, items: Vec<Value>) {
        let next = Next::Items { items: items.clone() };
        self.order_effects(items.into_iter().map(Some).collect(), &next);
    }

    fn order_effects(&mut self, items: Vec<Option<Value>>, next: &Next) {
        let Work::Effect { effect: spec, .. } = &self.phase().work else { return };
        if !items.is_empty() && !self.within_time(next) {
            return;
        }
        let mut unfilled = Vec::new();
        for item in items {
            // The decision is made otherwise; more events would only fill the memory.
            if self.over.is_some() {
                return;
            }
            match self.filled(spec, item.as_ref()) {
                Ok(effect) => {
                    let (action, attempt) = (self.order(), 1);
                    let not_before = None;
                    self.emit(Event::EffectAsked { action, attempt, effect, not_before, item });
                }
                Err(why) => unfilled.push((item, Failure::new("invalid", &why))),
            }
        }
        let whole = unfilled.is_empty();
        for (item, failure) in unfilled {
            if !self.effect_lost(item, &failure) {
                return;
            }
        }
        self.unless_doing(whole);
    }

    /// Goes on when no effect of the phase is out any more. The work counts as accepted where nothing of it was
    /// given up.
    fn unless_doing(&mut self, whole: bool) {
        let out = |order: &Pending| matches!(order, Pending::Effect { .. });
        if self.state.pending.values().any(out) || self.state.blocked.is_some() {
            return;
        }
        if self.state.round.lost.is_empty() {
            let whole = whole && self.state.round.given_up == 0;
            return if whole { self.done() } else { self.worked() };
        }
        let items = self.state.round.lost.iter().map(|lost| lost.item.clone()).collect();
        self.tell_lost(Next::Items { items });
    }

    fn filled(&self, spec: &EffectSpec, item: Option<&Value>) -> Result<Effect, String> {
        let run = self.run();
        let roots: Vec<_> =
            [Some(&*self.state.document), Some(&run)].into_iter().chain(item.map(Some)).collect();
        let text = |template: &crate::protocol::Template| {
            template.fill(&roots).map_err(|error| error.message)
        };
        let value = |expr: &crate::expr::Expr| {
            let value = expr.eval(&roots).map_err(|error| error.message)?.to_json();
            value.ok_or_else(|| format!("`{}` is undefined", expr.source()))
        };
        Ok(match spec {
            EffectSpec::Write { path, content, once } => Effect::Write {
                once: *once,
                path: text(path)?,
                content: match value(content)? {
                    Value::String(text) => text,
                    other => format!("{other:#}\n"),
                },
            },
            EffectSpec::Copy { from, to, once } => {
                Effect::Copy { from: text(from)?, to: text(to)?, once: *once }
            }
            EffectSpec::Run { program, args, input } => Effect::Run {
                program: program.clone(),
                args: args.iter().map(text).collect::<Result<_, _>>()?,
                input: input.as_ref().map(value).transpose()?,
            },
            EffectSpec::Http { method, url, body } => Effect::Http {
                method: method.clone(),
                url: text(url)?,
                body: body.as_ref().map(value).transpose()?,
            },
            EffectSpec::Retrieve { source, query } => {
                Effect::Retrieve { source: text(source)?, query: value(query)? }
            }
        })
    }

    /// An effect was done.
    pub(super) fn effect_finished(&mut self, before: &State, action: &str, result: &Value) {
        self.emit(Event::EffectDone { action: action.to_owned() });
        let Work::Effect { apply, contract, .. } = &self.phase().work else { return };
        let beside = Beside { item: item_of(before, action), ..Beside::default() };
        let accepted = match contract {
            None => Ok(taken(anything(), result)),
            Some(contract) => self.let_in(contract, result),
        };
        let written = accepted
            .and_then(|accepted| self.written(apply, &accepted, &beside, contract.as_deref()));
        match written {
            Ok(written) => {
                self.change(written);
                self.unless_doing(true);
            }
            Err(violations) => {
                let why = format!("its result was refused: {}", first(&violations));
                if self.effect_lost(beside.item, &Failure::refused(&violations, &why)) {
                    self.unless_doing(false);
                }
            }
        }
    }

    /// An effect failed: once more, or what follows.
    pub(super) fn effect_failed(
        &mut self,
        before: &State,
        action: &str,
        failure: &str,
        message: &str,
        retryable: bool,
    ) {
        let (order_id, failure) = (action.to_owned(), failure.to_owned());
        let order = before.pending.get(action).cloned();
        let action = order_id.clone();
        let (failure, message) = (clip(failure), clip(message));
        let lost = Failure::new(&failure, &message);
        self.emit(Event::EffectFailed { action, failure, message });
        let Work::Effect { retry, .. } = &self.phase().work else { return };
        let item = item_of(before, &order_id);
        if let (Some(Pending::Effect { attempt, effect, .. }), Some(retry), true) =
            (order, retry, retryable)
            && attempt < retry.max_attempts
        {
            let not_before = Some(self.input.time.after(retry.pause(attempt)));
            let (action, attempt) = (self.order(), attempt + 1);
            self.emit(Event::EffectAsked { action, attempt, effect, not_before, item });
            return;
        }
        if self.effect_lost(item, &lost) {
            self.unless_doing(false);
        }
    }

    /// An effect cannot be had. Whether the phase goes on: with the other items, or because the author
    /// says so.
    fn effect_lost(&mut self, item: Option<Value>, failure: &Failure) -> bool {
        let Work::Effect { on_failed, .. } = &self.phase().work else { return false };
        let of = item.as_ref().map_or_else(String::new, |item| format!(" for {}", show(item)));
        let what =
            format!("The effect of phase `{}` failed{of}: {}", self.state.phase, failure.message());
        let beside = Beside { item, ..Beside::default() };
        let (then, what) = self.settled(on_failed, failure, &beside, what);
        match (then, beside.item) {
            (Otherwise::GoOn, None) => true,
            (then @ (Otherwise::GoOn | Otherwise::Wait), Some(item)) => {
                let again = then == Otherwise::Wait;
                self.emit(Event::ItemFailed { item, key: None, what, again });
                true
            }
            (then, _) => {
                self.otherwise(&then, what, Next::Work);
                false
            }
        }
    }
}

/// The item that an order was about.
fn item_of(before: &State, action: &str) -> Option<Value> {
    match before.pending.get(action)? {
        Pending::Effect { item, .. } => item.clone(),
        _ => None,
    }
}

/// The first of several faults, for a sentence.
pub(super) fn first(violations: &[Violation]) -> String {
    let told = |violation: &Violation| violation.message.replacen("the reply: ", "", 1);
    violations.first().map_or_else(String::new, told)
}
