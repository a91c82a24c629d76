//! Effects: something is done outside, and its result changes the document like a reply does.

use serde_json::Value;

use super::deciding::Deciding;
use super::outcomes::Failure;
use super::writing::{Beside, anything, taken};
use crate::protocol::{EffectSpec, Otherwise, Work};
use crate::reply::{Context, Verdict, Violation};
use crate::run::State;
use crate::run::event::Event;
use crate::run::order::Effect;
use crate::run::state::{Next, Pending};

impl Deciding<'_> {
    /// Orders the effect of the phase.
    pub(super) fn ask_effect(&mut self, spec: &EffectSpec) {
        if !self.within_time(&Next::Work) {
            return;
        }
        match self.filled(spec) {
            Ok(effect) => {
                let action = self.order();
                self.emit(Event::EffectAsked { action, attempt: 1, effect, not_before: None });
            }
            Err(why) => self.effect_lost(&Failure::new("invalid", &why)),
        }
    }

    fn filled(&self, spec: &EffectSpec) -> Result<Effect, String> {
        let run = self.run();
        let roots = [Some(&*self.state.document), Some(&run)];
        let text = |template: &crate::protocol::Template| {
            template.fill(&roots).map_err(|error| error.message)
        };
        let value = |expr: &crate::expr::Expr| {
            let value = expr.eval(&roots).map_err(|error| error.message)?.to_json();
            value.ok_or_else(|| format!("`{}` is undefined", expr.source()))
        };
        Ok(match spec {
            EffectSpec::Write { path, content } => Effect::Write {
                path: text(path)?,
                content: match value(content)? {
                    Value::String(text) => text,
                    other => format!("{other:#}\n"),
                },
            },
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
                Effect::Retrieve { source: source.clone(), query: value(query)? }
            }
        })
    }

    /// An effect was done.
    pub(super) fn effect_finished(&mut self, action: &str, result: &Value) {
        self.emit(Event::EffectDone { action: action.to_owned() });
        let Work::Effect { apply, contract, .. } = &self.phase().work else { return };
        let accepted = match contract {
            None => Ok(taken(anything(), result)),
            Some(contract) => {
                let run = self.run();
                let context =
                    Context { state: Some(&self.state.document), run: Some(&run), new: None };
                match contract.admit_value(result, &context) {
                    Verdict::Accepted(accepted) => Ok(*accepted),
                    Verdict::Refused(violations) => Err(violations),
                }
            }
        };
        let written = accepted.and_then(|accepted| {
            self.written(apply, &accepted, &Beside::default(), contract.as_deref())
        });
        match written {
            Ok(written) => {
                self.change(written);
                self.worked();
            }
            Err(violations) => {
                let why = format!("its result was refused: {}", first(&violations));
                self.effect_lost(&Failure::refused(&violations, &why));
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
        let (action, failure) = (action.to_owned(), failure.to_owned());
        let order = before.pending.get(&action).cloned();
        let lost = Failure::new(&failure, message);
        self.emit(Event::EffectFailed { action, failure, message: message.to_owned() });
        let Work::Effect { retry, .. } = &self.phase().work else { return };
        if let (Some(Pending::Effect { attempt, effect, .. }), Some(retry), true) =
            (order, retry, retryable)
            && attempt < retry.max_attempts
        {
            let not_before = Some(self.input.time.after(retry.pause(attempt)));
            let action = self.order();
            self.emit(Event::EffectAsked { action, attempt: attempt + 1, effect, not_before });
            return;
        }
        self.effect_lost(&lost);
    }

    fn effect_lost(&mut self, failure: &Failure) {
        let what =
            format!("The effect of phase `{}` failed: {}", self.state.phase, failure.message());
        let Work::Effect { on_failed, .. } = &self.phase().work else {
            return self.otherwise(&Otherwise::Wait, what, Next::Work);
        };
        let (then, what) = self.settled(on_failed, failure, &Beside::default(), what);
        self.otherwise(&then, what, Next::Work);
    }
}

/// The first of several faults, for a sentence.
pub(super) fn first(violations: &[Violation]) -> String {
    let told = |violation: &Violation| violation.message.replacen("the reply: ", "", 1);
    violations.first().map_or_else(String::new, told)
}
