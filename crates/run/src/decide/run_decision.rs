//! A decision in progress: the state so far, the events emitted so far, and the one loop that runs
//! continuations.
//!
//! The other files of this folder add the handlers to [`RunDecision`]; this file holds what all of
//! them use: emitting events, opening and closing waits, blocking and ending the run.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use countersign_contract::patch::Patch;
use countersign_protocol::{
    DocumentDefinition, FailurePolicy, Protocol, WorkflowDefinition, WorkflowPhase,
};
use serde_json::Value;

use super::size_limits::SizeLimitExceeded;
use crate::apply_event::{apply, apply_known_document};
use crate::event::RunEvent;
use crate::input::{RunInput, RunStart};
use crate::pending_action::PendingAction;
use crate::run_value::RunValueCache;
use crate::state::{BlockReason, Continuation, RunEndKind};
use crate::wait::{RunWait, WaitKind, WaitResolution};
use crate::{InputRejection, RunNotification, RunState, build_run_value};

/// A decision in progress for one input.
pub(super) struct RunDecision<'p> {
    pub(super) protocol: &'p Protocol,
    pub(super) workflow: &'p WorkflowDefinition,
    pub(super) input: &'p RunInput,
    pub(super) before: &'p RunState,
    pub(super) state: RunState,
    pub(super) events: Vec<RunEvent>,
    /// Phases without work that the run entered since the document last changed. Entering one of
    /// them again would loop forever.
    pub(super) visited_idle_phases: Vec<String>,
    pub(super) moves: usize,
    action_count: u32,
    /// Size of the events so far in bytes, without the recorded input.
    pub(super) event_bytes: usize,
    /// The limit that the first unrecordable event exceeds. When it is set, [`super::decide`]
    /// discards this decision.
    pub(super) limit_exceeded: Option<SizeLimitExceeded>,
    run_value_cache: RefCell<Option<RunValueCache>>,
    /// Paths of files that gates checked and the input does not name.
    pub(super) unchecked_files: RefCell<BTreeSet<String>>,
    /// Paths of files that subjects include and whose digests the input does not have.
    pub(super) undigested_files: RefCell<BTreeSet<String>>,
}

impl<'p> RunDecision<'p> {
    /// Begins the decision that starts a run.
    pub(super) fn for_start(
        protocol: &'p Protocol,
        state: &'p RunState,
        input: &'p RunInput,
        start: &RunStart,
    ) -> Result<Self, InputRejection> {
        let workflow = protocol.find_workflow(&start.workflow);
        let workflow = workflow
            .map_err(|reason| InputRejection::CannotStart { reason, violations: Vec::new() })?;
        Ok(Self::new(protocol, workflow, state, input))
    }

    /// Begins a decision for a run that has started.
    pub(super) fn for_run(
        protocol: &'p Protocol,
        state: &'p RunState,
        input: &'p RunInput,
    ) -> Result<Self, InputRejection> {
        let workflow = protocol.find_workflow(&state.workflow);
        let workflow = workflow
            .map_err(|reason| InputRejection::CannotStart { reason, violations: Vec::new() })?;
        let mut decision = Self::new(protocol, workflow, state, input);
        decision.visited_idle_phases.push(state.phase.clone());
        Ok(decision)
    }

    fn new(
        protocol: &'p Protocol,
        workflow: &'p WorkflowDefinition,
        state: &'p RunState,
        input: &'p RunInput,
    ) -> Self {
        let mut decision = Self {
            protocol,
            workflow,
            input,
            before: state,
            state: state.clone(),
            events: Vec::new(),
            visited_idle_phases: Vec::new(),
            moves: 0,
            action_count: 0,
            event_bytes: 0,
            limit_exceeded: None,
            run_value_cache: RefCell::new(None),
            unchecked_files: RefCell::default(),
            undigested_files: RefCell::default(),
        };
        decision.emit(RunEvent::InputReceived { input: Box::new(input.clone()) });
        decision
    }

    /// Emits an event and applies it to the state.
    pub(super) fn emit(&mut self, event: RunEvent) {
        self.measure_event(&event);
        apply(&mut self.state, &event).expect("an emitted event applies to the current state");
        self.events.push(event);
    }

    /// Emits a change of the document. `document` is the result of `patch`, computed on a copy; it
    /// becomes the document without applying the patch again.
    pub(super) fn emit_document_change(&mut self, patch: Patch, document: Value) {
        apply_known_document(&mut self.state, document);
        let event = RunEvent::DocumentChanged { patch };
        self.measure_event(&event);
        self.events.push(event);
    }

    /// Removes the last event and rebuilds the state from the events before it.
    pub(super) fn retract_last_event(&mut self) {
        self.events.pop();
        let mut state = self.before.clone();
        for event in &self.events {
            apply(&mut state, event).expect("the event was applied before");
        }
        self.state = state;
        // Another event may get the number of the removed one.
        self.run_value_cache = RefCell::new(None);
    }

    /// Runs continuations until the run waits for something outside, or has ended. Each handler
    /// does its part and returns what comes next. A halted run keeps the continuation until it
    /// resumes.
    pub(super) fn run_continuations(&mut self, first: Option<Continuation>) {
        let mut next = first;
        while let Some(continuation) = next {
            if self.state.halted.is_some() {
                return self.emit(RunEvent::ContinuationDeferred { continuation });
            }
            next = match continuation {
                Continuation::BeginPhase => self.begin_phase(),
                Continuation::BeginWork => self.begin_work(),
                Continuation::RequestModel { attempt } => self.request_model(attempt, None),
                Continuation::RequestTools { calls } => self.request_tools(calls),
                Continuation::AskQuestions { ids, items } => self.ask_questions_again(&ids, &items),
                Continuation::RequestEffects { items } => self.request_effects_again(items),
                Continuation::HandleRefusal { message: what } => self.handle_exhausted_reasks(what),
                Continuation::ChooseTransition => self.choose_transition(),
                Continuation::TakeTransition { transition, reason: because } => {
                    self.take_transition(transition, because)
                }
                Continuation::MoveToPhase { transition, to, reason: because } => {
                    self.move_to_phase(transition, &to, because)
                }
            };
        }
    }

    /// Blocks the run until a person resolves `wait`; the run then continues with `next`.
    pub(super) fn block_run(
        &mut self,
        blocked: BlockReason,
        next: Continuation,
        wait: RunWait,
    ) -> Option<Continuation> {
        self.emit(RunEvent::Blocked { reason: blocked });
        self.emit(RunEvent::ContinuationDeferred { continuation: next });
        self.open_new_wait(wait);
        None
    }

    /// Returns the id of a new action: the version that requests it, and a number within the
    /// version, from 1.
    pub(super) fn next_action_id(&mut self) -> String {
        self.action_count += 1;
        format!("{}.{}", self.state.version, self.action_count)
    }

    /// The phase the run is in. It exists because the protocol of a run is pinned.
    pub(super) fn current_phase(&self) -> &'p WorkflowPhase {
        self.workflow
            .find_phase(&self.state.phase)
            .expect("the current phase exists in the workflow")
    }

    /// The definition of the run's document: that of the workflow, or else that of the protocol's
    /// index file.
    pub(super) fn document_definition(&self) -> &'p DocumentDefinition {
        self.protocol.document_for(self.workflow)
    }

    /// The language of the run; `None` if the protocol does not define one.
    pub(super) fn resolve_language(&self) -> Option<String> {
        self.protocol.language.as_ref()?;
        self.protocol.resolve_language(&self.state.document, &self.run_value())
    }

    /// The value of the name `run` in expressions, cached until the state changes.
    pub(super) fn run_value(&self) -> Rc<Value> {
        let mut kept = self.run_value_cache.borrow_mut();
        let value =
            kept.get_or_insert_with(|| RunValueCache::new(&self.state)).value_at(&self.state);
        debug_assert_eq!(*value, build_run_value(&self.state), "the cached run value is current");
        value
    }

    /// Opens a wait and assigns it the next id: `w1`, `w2` and so on.
    pub(super) fn open_new_wait(&mut self, wait: RunWait) {
        let id = format!("w{}", self.state.waits_opened + 1);
        let reminders = self.plan_reminders(wait.deadline);
        self.emit(RunEvent::WaitOpened { wait: Box::new(RunWait { id, reminders, ..wait }) });
    }

    /// Creates a wait of the current phase without answer shape, deadline or assignee. It has no id
    /// until `open_new_wait` assigns one.
    pub(super) fn new_wait(&self, kind: WaitKind, name: &str, question: String) -> RunWait {
        RunWait {
            id: String::new(),
            kind,
            phase: self.state.phase.clone(),
            name: name.to_owned(),
            definition_id: None,
            item: None,
            transition: None,
            question,
            answer_shape: None,
            who: Vec::new(),
            deadline: None,
            opened_at: self.input.time,
            subject: None,
            presented: Vec::new(),
            supersedes: Vec::new(),
            reminders: BTreeMap::new(),
            action: None,
            approval: None,
        }
    }

    /// Creates a wait that asks a person to try again or to end the run after an incident.
    pub(super) fn new_incident_wait(&self, message: &str) -> RunWait {
        // The protocol author's message may already end with punctuation.
        let end =
            if message.ends_with(['.', '?', '!', '…', '。', '？', '！']) { "" } else { "." };
        let question = format!("{message}{end} Try again, or end the run?");
        self.new_wait(WaitKind::Incident, &self.state.phase, question)
    }

    /// Closes every open wait as dropped, because the run continues without them.
    pub(super) fn drop_waits(&mut self) {
        let open: Vec<String> = self.state.waits.keys().cloned().collect();
        for wait in open {
            self.emit(RunEvent::WaitClosed { wait, resolution: WaitResolution::Dropped });
        }
    }

    /// Requests a notification to every running child that cancels it.
    pub(super) fn cancel_children(&mut self, reason: &str) {
        let children = self.state.pending.values().filter_map(|action| match action {
            PendingAction::Child { run, .. } => Some(run.clone()),
            _ => None,
        });
        for run in children.collect::<Vec<_>>() {
            let (action, tell) =
                (self.next_action_id(), RunNotification::Cancel { reason: reason.to_owned() });
            self.emit(RunEvent::NotificationRequested { action, run, notification: tell });
        }
    }

    /// Ends the run: closes its waits, cancels its children and notifies its parent.
    pub(super) fn end_run(
        &mut self,
        end: RunEndKind,
        reason: Option<String>,
    ) -> Option<Continuation> {
        self.drop_waits();
        self.cancel_children("the parent run has ended");
        self.emit(RunEvent::Ended { end, reason });
        if let Some(parent) = self.state.parent.clone() {
            let (action, tell) =
                (self.next_action_id(), RunNotification::ChildEnded { action: parent.action });
            self.emit(RunEvent::NotificationRequested {
                action,
                run: parent.run,
                notification: tell,
            });
        }
        None
    }

    /// Applies a failure policy after a final failure. `what` describes the failure in a sentence;
    /// `next` is the continuation if the policy is to wait and a person lets the run continue.
    pub(super) fn apply_failure_policy(
        &mut self,
        policy: &FailurePolicy,
        what: String,
        next: Continuation,
    ) -> Option<Continuation> {
        match policy {
            FailurePolicy::Wait => {
                let wait = self.new_incident_wait(&what);
                self.cancel_children("the parent run no longer waits for this run");
                self.block_run(BlockReason::Incident { message: what }, next, wait)
            }
            FailurePolicy::Fail => self.end_run(RunEndKind::Failed, Some(what)),
            FailurePolicy::GoOn => Some(Continuation::ChooseTransition),
            FailurePolicy::GoTo(to) => {
                Some(Continuation::MoveToPhase { transition: None, to: to.clone(), reason: what })
            }
        }
    }
}
