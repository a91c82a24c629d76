//! One decision under way: what is true so far, and the events that made it so.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value;

use super::bounds::Oversize;
use crate::patch::Patch;
use crate::protocol::{Document, Otherwise, Phase, Protocol, Workflow};
use crate::run::apply::{apply, apply_tried};
use crate::run::event::Event;
use crate::run::input::{Input, Start};
use crate::run::state::{Blocked, EndKind, Next, Pending};
use crate::run::view::View;
use crate::run::wait::{Closing, Wait, WaitKind};
use crate::run::{Rejection, State, Tell, view};

/// A decision under way.
pub(super) struct Deciding<'p> {
    pub(super) protocol: &'p Protocol,
    pub(super) workflow: &'p Workflow,
    pub(super) input: &'p Input,
    pub(super) before: &'p State,
    pub(super) state: State,
    pub(super) events: Vec<Event>,
    /// Phases without work that were entered since the document last changed: to enter one of them
    /// again would go round for ever.
    pub(super) passed: Vec<String>,
    pub(super) moves: usize,
    orders: u32,
    /// Bytes of the events so far, without what came in.
    pub(super) bytes: usize,
    /// The first event that cannot be recorded.
    pub(super) over: Option<Oversize>,
    view: RefCell<Option<View>>,
    /// Files that gates asked for and the input does not name.
    pub(super) unseen: RefCell<BTreeSet<String>>,
}

impl<'p> Deciding<'p> {
    /// The beginning of a run.
    pub(super) fn of_start(
        protocol: &'p Protocol,
        state: &'p State,
        input: &'p Input,
        start: &Start,
    ) -> Result<Self, Rejection> {
        let workflow = protocol.workflow(&start.workflow);
        let workflow =
            workflow.map_err(|reason| Rejection::CannotStart { reason, violations: Vec::new() })?;
        Ok(Self::new(protocol, workflow, state, input))
    }

    /// A run that is under way.
    pub(super) fn of_run(
        protocol: &'p Protocol,
        state: &'p State,
        input: &'p Input,
    ) -> Result<Self, Rejection> {
        let workflow = protocol.workflow(&state.workflow);
        let workflow =
            workflow.map_err(|reason| Rejection::CannotStart { reason, violations: Vec::new() })?;
        let mut deciding = Self::new(protocol, workflow, state, input);
        deciding.passed.push(state.phase.clone());
        Ok(deciding)
    }

    fn new(
        protocol: &'p Protocol,
        workflow: &'p Workflow,
        state: &'p State,
        input: &'p Input,
    ) -> Self {
        let mut deciding = Self {
            protocol,
            workflow,
            input,
            before: state,
            state: state.clone(),
            events: Vec::new(),
            passed: Vec::new(),
            moves: 0,
            orders: 0,
            bytes: 0,
            over: None,
            view: RefCell::new(None),
            unseen: RefCell::default(),
        };
        deciding.emit(Event::Received { input: Box::new(input.clone()) });
        deciding
    }

    /// Records a fact, and folds it in.
    pub(super) fn emit(&mut self, event: Event) {
        self.measure_event(&event);
        apply(&mut self.state, &event)
            .expect("an event that is made here fits the state it is made for");
        self.events.push(event);
    }

    /// Records a change that was tried on a copy of the document, which is now the document.
    pub(super) fn emit_tried(&mut self, patch: Patch, document: Value) {
        apply_tried(&mut self.state, document);
        let event = Event::DocumentChanged { patch };
        self.measure_event(&event);
        self.events.push(event);
    }

    /// Unsays the last fact: the run is the fold of those before it.
    pub(super) fn unsay(&mut self) {
        self.events.pop();
        let mut state = self.before.clone();
        for event in &self.events {
            apply(&mut state, event).expect("it was folded before");
        }
        self.state = state;
        // Another event may come to have the number of the one that is gone.
        self.view = RefCell::new(None);
    }

    /// Whether the run is halted; then this is what comes next once it is resumed.
    pub(super) fn put_off(&mut self, next: impl FnOnce() -> Next) -> bool {
        let halted = self.state.halted.is_some();
        if halted {
            self.emit(Event::Held { next: next() });
        }
        halted
    }

    /// Does what comes next.
    pub(super) fn go_on(&mut self, next: Next) {
        if self.put_off(|| next.clone()) {
            return;
        }
        match next {
            Next::Enter => self.begin(),
            Next::Work => self.work(),
            Next::Ask { attempt } => self.ask_model_again(attempt, None),
            Next::Tools { calls } => self.ask_tools(calls),
            Next::Questions { ids, items } => self.ask_these(&ids, &items),
            Next::Items { items } => self.ask_effects_again(items),
            Next::Refused { what } => self.refused_for_good(what),
            Next::Leave => self.worked(),
            Next::Take { way, because } => self.take(way, because),
            Next::Go { way, to, because } => self.go(way, &to, because),
        }
    }

    /// Stands still until somebody helps.
    pub(super) fn block(&mut self, blocked: Blocked, next: Next, wait: Wait) {
        self.emit(Event::Blocked { blocked });
        self.emit(Event::Held { next });
        self.open(wait);
    }

    /// A fresh order's id: the version it is asked in, and a number in it.
    pub(super) fn order(&mut self) -> String {
        self.orders += 1;
        format!("{}.{}", self.state.version, self.orders)
    }

    /// The phase the run stands in. Phases of a pinned protocol do not go away.
    pub(super) fn phase(&self) -> &'p Phase {
        self.workflow.phase(&self.state.phase).expect("a run stands in a phase of its workflow")
    }

    /// What the document of this run is: the workflow's own, or the one of the index.
    pub(super) fn spec(&self) -> &'p Document {
        self.protocol.document_of(self.workflow)
    }

    /// The language of the run, where the protocol says what gives it.
    pub(super) fn language(&self) -> Option<String> {
        self.protocol.language.as_ref()?;
        self.protocol.language(&self.state.document, &self.run())
    }

    /// The value of the name `run`.
    pub(super) fn run(&self) -> Rc<Value> {
        let mut kept = self.view.borrow_mut();
        let value = kept.get_or_insert_with(|| View::of(&self.state)).at(&self.state);
        debug_assert_eq!(*value, view(&self.state), "what is kept is what would be made");
        value
    }

    /// Opens a wait under the next id.
    pub(super) fn open(&mut self, wait: Wait) {
        let id = format!("w{}", self.state.waits_opened + 1);
        self.emit(Event::WaitOpened { wait: Box::new(Wait { id, ..wait }) });
    }

    /// A wait of this phase, without shape, deadline or addressee.
    pub(super) fn wait(&self, kind: WaitKind, name: &str, question: String) -> Wait {
        Wait {
            id: String::new(),
            kind,
            phase: self.state.phase.clone(),
            name: name.to_owned(),
            of: None,
            item: None,
            way: None,
            question,
            shape: None,
            who: None,
            deadline: None,
            opened_at: self.input.time,
        }
    }

    /// A wait for a person's look at what went wrong.
    pub(super) fn trouble(&self, what: &str) -> Wait {
        // An author's sentence may have its end already.
        let end =
            if what.ends_with(['.', '?', '!', '…', '。', '？', '！']) { "" } else { "." };
        let question = format!("{what}{end} Try again, or end the run?");
        self.wait(WaitKind::Trouble, &self.state.phase, question)
    }

    /// Closes every open wait: the run goes on without them.
    pub(super) fn drop_waits(&mut self) {
        let open: Vec<String> = self.state.waits.keys().cloned().collect();
        for wait in open {
            self.emit(Event::WaitClosed { wait, closing: Closing::Dropped });
        }
    }

    /// Tells children that are out that nobody waits for them.
    pub(super) fn drop_children(&mut self, reason: &str) {
        let children = self.state.pending.values().filter_map(|order| match order {
            Pending::Child { run, .. } => Some(run.clone()),
            _ => None,
        });
        for run in children.collect::<Vec<_>>() {
            let (action, tell) = (self.order(), Tell::Cancel { reason: reason.to_owned() });
            self.emit(Event::TellAsked { action, run, tell });
        }
    }

    /// Ends the run.
    pub(super) fn end(&mut self, end: EndKind, reason: Option<String>) {
        self.drop_waits();
        self.drop_children("the run that started this one has ended");
        self.emit(Event::Ended { end, reason });
        if let Some(parent) = self.state.parent.clone() {
            let (action, tell) = (self.order(), Tell::ChildEnded { action: parent.action });
            self.emit(Event::TellAsked { action, run: parent.run, tell });
        }
    }

    /// What follows when something went wrong for good, told in a sentence; and what comes next when a
    /// person says that it may.
    pub(super) fn otherwise(&mut self, otherwise: &Otherwise, what: String, next: Next) {
        match otherwise {
            Otherwise::Wait => {
                let wait = self.trouble(&what);
                self.drop_children("the run that started this one does not wait for it any more");
                self.block(Blocked::Trouble { what }, next, wait);
            }
            Otherwise::Fail => self.end(EndKind::Failed, Some(what)),
            Otherwise::GoOn => self.worked(),
            Otherwise::Phase(to) => self.go(None, to, what),
        }
    }
}
