//! Phases: how a run begins, enters, works, and leaves.

use serde_json::Value;

use super::deciding::Deciding;
use super::given::cannot;
use crate::contract::Contract;
use crate::protocol::Work;
use crate::reply::{Context, Violation, ViolationList};
use crate::run::apply::stamp;
use crate::run::event::Event;
use crate::run::input::Start;
use crate::run::state::{EndKind, Next};
use crate::run::{Rejection, State, view};

/// How many phases a run may pass through on one input. No process needs more, and a ring of phases
/// without work must not hold the engine.
pub(super) const MOST_MOVES: usize = 200;

impl Deciding<'_> {
    /// The run begins.
    pub(super) fn start(&mut self, start: &Start) -> Result<(), Rejection> {
        let first = match &start.phase {
            Some(phase) => self.workflow.phase(phase),
            None => self.workflow.phases.first(),
        };
        let Some(first) = first else {
            let named = start.phase.as_deref().unwrap_or("at all");
            let reason = format!("workflow `{}` has no phase `{named}`", self.workflow.id);
            return Err(cannot(reason, Vec::new()));
        };
        self.admits_start(start, first)?;
        let document = self.first_document(start)?;
        self.emit(Event::Started {
            protocol: self.protocol.digest.clone(),
            workflow: self.workflow.id.clone(),
            document,
            model: start.model.clone(),
            parent: start.parent.clone(),
            fork: start.fork.clone(),
            tickets: start.tickets.clone(),
        });
        self.take_input(start)?;
        // What was given must fit before anything is done with it.
        let violations = self.first_faults(&first.id);
        if !violations.is_empty() {
            return Err(cannot("its first document breaks the contract", violations));
        }
        self.enter(&first.id);
        Ok(())
    }

    fn first_faults(&self, first: &str) -> Vec<Violation> {
        let Some(contract) = &self.spec().contract else { return Vec::new() };
        let mut document = (*self.state.document).clone();
        let run = view(&State { phase: first.to_owned(), ..self.state.clone() });
        for place in &self.spec().engine {
            if let Ok(value) = place.value.eval(&[Some(&self.state.document), Some(&run)])
                && let Some(value) = value.to_json()
            {
                stamp(&mut document, &place.at, &value);
            }
        }
        faults(contract, &document, &Context { state: None, run: Some(&run), new: Some(&document) })
    }

    /// Enters a phase.
    pub(super) fn enter(&mut self, id: &str) {
        self.drop_waits();
        self.drop_children("the run that started this one went on without it");
        self.emit(Event::PhaseEntered { phase: id.to_owned() });
        self.passed.push(id.to_owned());
        self.take_back();
        self.stamp_phase();
        self.begin();
    }

    /// Begins what a phase that was entered has to do: its hook, then its work.
    pub(super) fn begin(&mut self) {
        match &self.phase().on_enter {
            Some(hook) => self.ask_hook(hook, None),
            None => self.work(),
        }
    }

    /// Begins the work of the phase, or ends the run where there is nothing after it.
    pub(super) fn work(&mut self) {
        if self.put_off(|| Next::Work) {
            return;
        }
        let phase = self.phase();
        if self.workflow.ends_in(phase) && matches!(phase.work, Work::None) {
            return self.end(EndKind::Completed, None);
        }
        match &phase.work {
            Work::None => self.choose(),
            Work::Agent(_) => self.ask_model_again(1, None),
            Work::Ask(questions) => self.ask_people(questions),
            Work::Effect { each, .. } => self.ask_effect(each.as_ref()),
            Work::Invoke(invoke) => self.ask_children(invoke),
        }
    }

    /// The work of the phase is done.
    pub(super) fn worked(&mut self) {
        if self.put_off(|| Next::Leave) {
            return;
        }
        if self.workflow.ends_in(self.phase()) {
            return self.end(EndKind::Completed, None);
        }
        self.choose();
    }

    /// Goes to a phase, by a way or because something says so.
    pub(super) fn go(&mut self, way: Option<usize>, to: &str, because: String) {
        let next = Next::Go { way, to: to.to_owned(), because: because.clone() };
        if self.put_off(|| next.clone()) {
            return;
        }
        self.moves += 1;
        if self.moves > MOST_MOVES {
            let what = format!(
                "the run made {MOST_MOVES} moves on one input: its phases lead round in a ring"
            );
            return self.end(EndKind::Failed, Some(what));
        }
        if !self.admitted(way, to, &because) || !self.within_loops(to, &next) {
            return;
        }
        let written = match way.map(|index| (index, self.changes_of_way(index))) {
            Some((index, Err(reason))) => return self.stopped(index, reason),
            Some((_, Ok(written))) => written,
            None => None,
        };
        let from = self.state.phase.clone();
        self.emit(Event::WayTaken { way, from, to: to.to_owned(), because });
        if let Some(written) = written {
            self.change(written);
        }
        if let Some(index) = way {
            self.give(&self.workflow.transitions[index].gives);
        }
        self.enter(to);
    }
}

/// Everything wrong with a document, by its contract's schema and rules. Nothing is copied.
pub(super) fn faults(
    contract: &Contract,
    document: &Value,
    context: &Context<'_>,
) -> Vec<Violation> {
    let violations = contract.schema.violations(document);
    if !violations.is_empty() {
        return violations;
    }
    let mut broken = ViolationList::default();
    for rule in contract.rules.iter().filter(|rule| !rule.lacks(context)) {
        rule.check(document, context, &mut broken);
    }
    broken.finish()
}
