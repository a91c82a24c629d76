//! Child workflows: runs of their own, with their own document, that this one waits for; one, or one for each
//! of several items.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::bounds::clip;
use super::deciding::Deciding;
use super::effects::first;
use super::outcomes::Failure;
use super::writing::{Beside, anything, taken};
use crate::protocol::{Each, ForEach, Invoke, Otherwise, Work};
use crate::reply::show;
use crate::run::State;
use crate::run::apply::stamp;
use crate::run::event::Event;
use crate::run::state::{Next, Pending};

/// How deep runs may start one another.
const DEEPEST: u32 = 10;

/// An item, and the key that tells it from the others.
type Keyed = (String, Value);

impl Deciding<'_> {
    /// Orders the child of the phase, or the children of those items that have none yet; the phase is done
    /// when there are no more.
    pub(super) fn ask_children(&mut self, invoke: &Invoke) {
        let Some(several) = &invoke.each else {
            if let Err(failure) = self.ask_child(invoke, None)
                && self.child_lost(invoke, None, None, &failure)
            {
                self.children_done(invoke, "", false);
            }
            return;
        };
        // Once something cannot be recorded, the decision is made otherwise.
        while self.over.is_none() {
            let fresh = match self.fresh_items(several) {
                Ok(fresh) => fresh,
                // Those that are out lose nothing by it; it is told when they have ended.
                Err(_) if self.children_out() > 0 => return,
                Err(why) => {
                    let what = format!("Workflow `{}` cannot be started: {why}", invoke.workflow);
                    return self.otherwise(&Otherwise::Wait, what, Next::Work);
                }
            };
            let Some(keyed) = fresh else { break };
            if self.children_out() >= several.limit {
                return;
            }
            if let Err(failure) = self.ask_child(invoke, Some(&keyed))
                && !self.child_lost(invoke, Some(keyed), None, &failure)
            {
                return;
            }
            // A spent budget may have stopped the run, or led it elsewhere.
            if self.is_elsewhere(invoke) {
                return;
            }
        }
        if self.children_out() > 0 || self.over.is_some() {
            return;
        }
        if !self.state.round.lost.is_empty() {
            return self.tell_lost(Next::Work);
        }
        let whole = self.state.round.given_up == 0;
        self.children_done(invoke, "for every item", whole);
    }

    /// The first item that has no child yet.
    fn fresh_items(&self, several: &ForEach) -> Result<Option<Keyed>, String> {
        let items = self.items(&several.each)?;
        let run = self.run();
        let mut keys = BTreeSet::new();
        let mut fresh = None;
        for item in items {
            let key = match &several.key {
                None => item.clone(),
                Some(key) => {
                    let roots = [Some(&*self.state.document), Some(&run), Some(&item)];
                    let value = key.eval(&roots).map_err(|error| error.message)?.to_json();
                    value.ok_or_else(|| format!("`{}` is undefined", key.source().trim()))?
                }
            };
            let key = match key {
                Value::String(key) if !key.trim().is_empty() => key,
                other => {
                    let found = show(&other);
                    return Err(format!("the key of an item is a text, and this one is {found}"));
                }
            };
            if !keys.insert(key.clone()) {
                return Err(format!("two items have the key `{key}`"));
            }
            if fresh.is_none() && !self.state.round.begun.contains(&key) {
                fresh = Some((key, item));
            }
        }
        if fresh.is_some() && self.state.round.begun.len() >= Each::MOST {
            return Err(format!("{} children were started for this phase already", Each::MOST));
        }
        Ok(fresh)
    }

    fn children_out(&self) -> usize {
        let child = |order: &&Pending| matches!(order, Pending::Child { .. });
        self.state.pending.values().filter(child).count()
    }

    /// Whether the phase that invokes was left, or the run stands still.
    fn is_elsewhere(&self, invoke: &Invoke) -> bool {
        let here = matches!(&self.phase().work, Work::Invoke(own) if std::ptr::eq(own, invoke));
        !here || self.state.blocked.is_some() || self.state.end.is_some()
    }

    /// Orders one child.
    fn ask_child(&mut self, invoke: &Invoke, keyed: Option<&Keyed>) -> Result<(), Failure> {
        if !self.within_time(&Next::Work) {
            return Ok(());
        }
        let depth = self.state.parent.as_ref().map_or(0, |parent| parent.depth) + 1;
        if depth > DEEPEST {
            let why = format!("runs start one another at most {DEEPEST} deep");
            return Err(Failure::new("too_deep", &why));
        }
        let item = keyed.map(|(_, item)| item);
        let document = self.child_document(invoke, item);
        let document = document.map_err(|why| Failure::new("invalid", &why))?;
        let action = self.order();
        let run = match keyed {
            None => format!("{}.{}", self.state.run, self.state.version),
            // Several are ordered in one version; the order's number tells them apart.
            Some(_) => format!("{}.{}", self.state.run, action.replace('.', "-")),
        };
        let workflow = invoke.workflow.clone();
        let (key, item) = (keyed.map(|(key, _)| key.clone()), item.cloned());
        self.emit(Event::ChildAsked { action, run, workflow, document, depth, key, item });
        Ok(())
    }

    fn child_document(&self, invoke: &Invoke, item: Option<&Value>) -> Result<Value, String> {
        let run = self.run();
        let roots: Vec<_> =
            [Some(&*self.state.document), Some(&run)].into_iter().chain(item.map(Some)).collect();
        let mut document = Value::Object(Map::new());
        for (at, expr) in &invoke.input {
            let value = expr.eval(&roots).map_err(|error| error.message)?.to_json();
            let value = value.ok_or_else(|| format!("`{}` is undefined", expr.source()))?;
            stamp(&mut document, at, &value);
        }
        Ok(document)
    }

    /// A child ended.
    pub(super) fn child_ended(
        &mut self,
        before: &State,
        action: &str,
        completed: bool,
        reason: Option<&str>,
        document: &Value,
    ) {
        self.emit(Event::ChildEnded { action: action.to_owned(), completed });
        let Work::Invoke(invoke) = &self.phase().work else { return };
        let Some(Pending::Child { run, key, item, .. }) = before.pending.get(action) else {
            return;
        };
        let status = if completed { "completed" } else { "failed" };
        let child = json!({ "id": run, "status": status });
        let keyed = key.clone().zip(item.clone());
        let beside = Beside { child: Some(child.clone()), item: item.clone() };
        let went = if completed {
            match self.written(&invoke.output, &taken(anything(), document), &beside, None) {
                Ok(written) => {
                    self.change(written);
                    Ok(())
                }
                Err(violations) => Err(Failure::refused(&violations, &first(&violations))),
            }
        } else {
            Err(Failure::new("child_failed", &clip(reason.unwrap_or("no reason was given"))))
        };
        let (several, whole) = (keyed.is_some(), went.is_ok());
        if let Err(failure) = went
            && !self.child_lost(invoke, keyed, Some(child), &failure)
        {
            return;
        }
        if !several {
            self.children_done(invoke, "", whole);
        } else if self.state.blocked.is_none() {
            // Items may have become ready, and there is room for one more.
            self.work();
        }
    }

    /// The work of the phase is done. It counts as accepted where nothing of it was given up.
    fn children_done(&mut self, invoke: &Invoke, how: &str, whole: bool) {
        if whole {
            self.give_for_work();
        }
        let name = &invoke.workflow;
        match &invoke.on_complete {
            Some(to) => {
                let because = format!("workflow `{name}` completed {how}");
                self.go(None, to, because.trim_end().to_owned());
            }
            None => self.worked(),
        }
    }

    /// A child cannot be, failed, or gave back what does not fit. Whether the phase goes on: with the other
    /// items, or because the author says so.
    fn child_lost(
        &mut self,
        invoke: &Invoke,
        keyed: Option<Keyed>,
        child: Option<Value>,
        failure: &Failure,
    ) -> bool {
        let name = &invoke.workflow;
        let of = keyed.as_ref().map_or_else(String::new, |(key, _)| format!(" for `{key}`"));
        let why = failure.message();
        let what = match &child {
            None => format!("Workflow `{name}` cannot be started{of}: {why}"),
            Some(child) if child["status"] == "failed" => {
                format!("Workflow `{name}` did not complete{of}: {why}")
            }
            Some(_) => format!("What workflow `{name}` gave back{of} does not fit: {why}"),
        };
        // One that was never started has no id.
        let child = child.unwrap_or_else(|| json!({ "id": null, "status": "failed" }));
        let (key, item) = keyed.unzip();
        let beside = Beside { child: Some(child), item };
        let (then, what) = self.settled(&invoke.on_failed, failure, &beside, what);
        match (then, beside.item) {
            (Otherwise::GoOn, None) => true,
            (then @ (Otherwise::GoOn | Otherwise::Wait), Some(item)) => {
                let again = then == Otherwise::Wait;
                self.emit(Event::ItemFailed { item, key, what, again });
                true
            }
            (then, _) => {
                self.otherwise(&then, what, Next::Work);
                false
            }
        }
    }
}
