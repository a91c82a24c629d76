//! Phases: starts the run, enters phases, starts their work, and moves the run to the next phase.

use std::ops::ControlFlow::Break;

use countersign_contract::contract::Contract;
use countersign_contract::reply::{RuleContext, Violation, ViolationList};
use countersign_protocol::{PhaseWork, merge_subscriptions};
use serde_json::Value;

use super::run_decision::RunDecision;
use super::start_input::cannot_start;
use crate::apply_event::set_at_pointer;
use crate::event::RunEvent;
use crate::input::RunStart;
use crate::state::{Continuation, RunEndKind};
use crate::{InputRejection, RunState, build_run_value};

/// Maximum number of phases that a run can enter on one input. No process needs more, and a cycle
/// of phases without work must not occupy the engine.
pub(super) const MAX_MOVES: usize = 200;

impl RunDecision<'_> {
    /// Starts the run in its first phase, or in the phase that the start input names.
    pub(super) fn start_run(
        &mut self,
        start: &RunStart,
    ) -> Result<Option<Continuation>, InputRejection> {
        let first = match &start.phase {
            Some(phase) => self.workflow.find_phase(phase),
            None => self.workflow.phases.first(),
        };
        let Some(first) = first else {
            let named = start.phase.as_deref().unwrap_or("at all");
            let reason = format!("workflow `{}` has no phase `{named}`", self.workflow.id);
            return Err(cannot_start(reason, Vec::new()));
        };
        self.check_start_tickets(start, first)?;
        let document = self.build_first_document(start)?;
        self.emit(RunEvent::Started {
            protocol: self.protocol.digest.clone(),
            workflow: self.workflow.id.clone(),
            document,
            model: start.model.clone(),
            parent: start.parent.clone(),
            fork: start.fork.clone(),
            tickets: start.tickets.clone(),
            channels: merge_subscriptions(self.protocol.channels.iter().chain(&start.channels)),
        });
        self.apply_start_input(start)?;
        // The first document must be valid before the run does anything with it.
        let violations = self.validate_first_document(&first.id);
        if !violations.is_empty() {
            return Err(cannot_start("its initial document breaks the contract", violations));
        }
        let first = self.enter_phase(&first.id);
        if let Some(reason) = &start.halted {
            let by = start.by.clone().unwrap_or_default();
            self.emit(RunEvent::Halted { by, reason: Some(reason.clone()) });
        }
        Ok(Some(first))
    }

    /// Validates the first document with the engine-owned fields that the first phase would have.
    fn validate_first_document(&self, first: &str) -> Vec<Violation> {
        let Some(contract) = &self.document_definition().contract else { return Vec::new() };
        let mut document = (*self.state.document).clone();
        let run = build_run_value(&RunState { phase: first.to_owned(), ..self.state.clone() });
        for field in &self.document_definition().engine {
            if let Ok(value) = field.value.eval(&[Some(&self.state.document), Some(&run)])
                && let Some(value) = value.to_json()
            {
                set_at_pointer(&mut document, &field.pointer, &value);
            }
        }
        validate_document(
            contract,
            &document,
            &RuleContext { state: None, run: Some(&run), new: Some(&document) },
        )
    }

    /// Enters a phase: drops open waits, cancels children, revokes tickets and updates the
    /// engine-owned fields.
    fn enter_phase(&mut self, id: &str) -> Continuation {
        self.drop_waits();
        self.cancel_children("the parent run continued without this run");
        self.emit(RunEvent::PhaseEntered { phase: id.to_owned() });
        self.visited_idle_phases.push(id.to_owned());
        self.revoke_tickets();
        self.update_phase_fields();
        Continuation::BeginPhase
    }

    /// Requests the entry hook of the phase, or continues with its work.
    pub(super) fn begin_phase(&mut self) -> Option<Continuation> {
        match &self.current_phase().on_enter {
            Some(hook) => self.request_hook(hook, None),
            None => Some(Continuation::BeginWork),
        }
    }

    /// Starts the work of the phase. A final phase without work completes the run.
    pub(super) fn begin_work(&mut self) -> Option<Continuation> {
        let phase = self.current_phase();
        if self.workflow.ends_in(phase) && matches!(phase.work, PhaseWork::None) {
            return self.end_run(RunEndKind::Completed, None);
        }
        match &phase.work {
            PhaseWork::None => Some(Continuation::ChooseTransition),
            PhaseWork::Agent(_) => self.request_model(1, None),
            PhaseWork::Ask(questions) => self.ask_questions(questions),
            PhaseWork::Effect { for_each: each, .. } => self.request_phase_effect(each.as_ref()),
            PhaseWork::Invoke(invoke) => self.request_children(invoke),
        }
    }

    /// Moves to a phase, by the transition `way`, or without one because of a failure policy.
    pub(super) fn move_to_phase(
        &mut self,
        transition: Option<usize>,
        to: &str,
        because: String,
    ) -> Option<Continuation> {
        self.moves += 1;
        if self.moves > MAX_MOVES {
            let message = format!(
                "the run made {MAX_MOVES} moves on one input: its phases form an endless loop"
            );
            return self.end_run(RunEndKind::Failed, Some(message));
        }
        if transition.is_some_and(|index| self.lacks_approval(index)) {
            return Some(Continuation::ChooseTransition);
        }
        if !self.check_tickets(transition, to, &because) {
            return None;
        }
        let again =
            Continuation::MoveToPhase { transition, to: to.to_owned(), reason: because.clone() };
        if let Break(instead) = self.check_loop_budget(to, &again) {
            return instead;
        }
        let update = match transition.map(|index| (index, self.build_transition_update(index))) {
            Some((index, Err(reason))) => return self.block_transition(index, reason),
            Some((_, Ok(update))) => update,
            None => None,
        };
        let (from, target) = (self.state.phase.clone(), to.to_owned());
        let to = target.clone();
        let approved_subject = transition.and_then(|index| self.compute_subject_digest(index));
        let reason = because;
        self.emit(RunEvent::TransitionTaken { transition, from, to, reason, approved_subject });
        if let Some(update) = update {
            self.record_update(update);
        }
        if let Some(index) = transition {
            self.issue_tickets(&self.workflow.transitions[index].issues);
        }
        Some(self.enter_phase(&target))
    }
}

/// Lists all violations of a document against the schema and rules of its contract, without
/// copying the document.
pub(super) fn validate_document(
    contract: &Contract,
    document: &Value,
    context: &RuleContext<'_>,
) -> Vec<Violation> {
    let violations = contract.schema.list_violations(document);
    if !violations.is_empty() {
        return violations;
    }
    let mut broken = ViolationList::default();
    for rule in contract.rules.iter().filter(|rule| !rule.lacks_context(context)) {
        rule.check(document, context, &mut broken);
    }
    broken.finish()
}
