//! Child workflows: runs of their own, with their own document, that this one waits for.

use serde_json::{Map, Value};

use super::deciding::Deciding;
use super::effects::first;
use super::outcomes::Failure;
use super::writing::{Beside, anything, taken};
use crate::protocol::{Invoke, Work};
use crate::run::apply::stamp;
use crate::run::event::Event;
use crate::run::state::Next;

/// How deep runs may start one another.
const DEEPEST: u32 = 10;

impl Deciding<'_> {
    /// Orders the child of the phase.
    pub(super) fn ask_child(&mut self, invoke: &Invoke) {
        if !self.within_time(&Next::Work) {
            return;
        }
        let depth = self.state.parent.as_ref().map_or(0, |parent| parent.depth) + 1;
        if depth > DEEPEST {
            let what = format!(
                "Workflow `{}` cannot be started: runs start one another at most {DEEPEST} deep",
                invoke.workflow
            );
            return self.child_lost(invoke, &Failure::new("too_deep", &what), what.clone());
        }
        let document = match self.child_document(invoke) {
            Ok(document) => document,
            Err(why) => {
                let what = format!("Workflow `{}` cannot be started: {why}", invoke.workflow);
                return self.child_lost(invoke, &Failure::new("invalid", &why), what);
            }
        };
        let action = self.order();
        let run = format!("{}.{}", self.state.run, self.state.version);
        let workflow = invoke.workflow.clone();
        self.emit(Event::ChildAsked { action, run, workflow, document, depth });
    }

    fn child_document(&self, invoke: &Invoke) -> Result<Value, String> {
        let run = self.run();
        let roots = [Some(&*self.state.document), Some(&run)];
        let mut document = Value::Object(Map::new());
        for (at, expr) in &invoke.input {
            let value = expr.eval(&roots).map_err(|error| error.message)?.to_json();
            let value = value.ok_or_else(|| format!("`{}` is undefined", expr.source()))?;
            stamp(&mut document, at, &value);
        }
        Ok(document)
    }

    /// The child ended.
    pub(super) fn child_ended(
        &mut self,
        action: &str,
        completed: bool,
        reason: Option<&str>,
        document: &Value,
    ) {
        self.emit(Event::ChildEnded { action: action.to_owned(), completed });
        let Work::Invoke(invoke) = &self.phase().work else { return };
        let name = &invoke.workflow;
        if !completed {
            let reason = reason.unwrap_or("no reason was given");
            let what = format!("Workflow `{name}` did not complete: {reason}");
            return self.child_lost(invoke, &Failure::new("child_failed", reason), what);
        }
        match self.written(&invoke.output, &taken(anything(), document), &Beside::default(), None) {
            Ok(written) => {
                self.change(written);
                match &invoke.on_complete {
                    Some(to) => self.go(None, to, format!("workflow `{name}` completed")),
                    None => self.worked(),
                }
            }
            Err(violations) => {
                let what = format!(
                    "What workflow `{name}` gave back does not fit: {}",
                    first(&violations)
                );
                self.child_lost(invoke, &Failure::refused(&violations, &what), what.clone());
            }
        }
    }

    /// A child cannot be, failed, or gave back what does not fit.
    fn child_lost(&mut self, invoke: &Invoke, failure: &Failure, what: String) {
        let (then, what) = self.settled(&invoke.on_failed, failure, &Beside::default(), what);
        self.otherwise(&then, what, Next::Work);
    }
}
