//! Evaluates the gates of the current phase and takes the first open transition. If all gates are
//! closed, records the reason of each one and waits for a retry, an approval or a patch.

use std::ops::ControlFlow::Break;
use std::rc::Rc;
use std::sync::Arc;

use countersign_contract::expr::{Expr, ReadStep};
use countersign_contract::reply::format_value;
use countersign_protocol::{
    ApprovalRules, GateCheck, PhaseWork, WorkflowTransition, format_assignees,
};
use serde_json::Value;

use super::run_decision::RunDecision;
use super::size_limits::clip_text;
use crate::apply_event::set_at_pointer;
use crate::event::RunEvent;
use crate::state::{ClosedGate, Continuation, DecisionOutcomeKind, RunEndKind};
use crate::wait::WaitKind;
use crate::{ExecutionStatus, RunInputs};

/// Result of evaluating a gate.
enum GateResult {
    /// The gate is open; the text says why.
    Open(String),
    /// The gate is closed; the text says why.
    Closed(String),
}

/// What gates read. A run that evaluates its gates is running, so `status` is `running` in both: the
/// document has the status of the end of the last decision, and that of `run` depends on what is
/// requested after the gates.
struct GateContext {
    document: Arc<Value>,
    run: Rc<Value>,
}

/// The expression of engine-owned fields that hold the status of the run.
const STATUS_EXPRESSION: &str = "run.status";

impl RunDecision<'_> {
    fn gate_context(&self) -> GateContext {
        let running = ExecutionStatus::Running.as_str();
        let (mut document, mut run) = (Arc::clone(&self.state.document), self.run_value());
        if run["status"] != running {
            Rc::make_mut(&mut run)["status"] = Value::from(running);
        }
        for field in &self.document_definition().engine {
            let is_status = field.value.source().trim() == STATUS_EXPRESSION;
            if is_status && document.pointer(&field.pointer).is_none_or(|found| found != running) {
                let document = Arc::make_mut(&mut document);
                set_at_pointer(document, &field.pointer, &Value::from(running));
            }
        }
        GateContext { document, run }
    }

    /// Leaves the phase by the first open transition. If none is open, waits and records why. Ends
    /// the run if the phase is a final one.
    pub(super) fn choose_transition(&mut self) -> Option<Continuation> {
        tracing::trace!(phase = self.state.phase, "choosing a transition");
        if self.workflow.ends_in(self.current_phase()) {
            return self.end_run(RunEndKind::Completed, None);
        }
        let context = self.gate_context();
        let transitions = self.workflow.transitions_from(&self.state.phase);
        let mut closed = Vec::new();
        for (index, transition) in &transitions {
            // A transition for a decision that was not made is not closed: it is not in question.
            if transition.after.is_some_and(|after| !self.has_decision(after)) {
                continue;
            }
            match self.evaluate_gate(*index, transition, &context) {
                GateResult::Open(_) if self.would_loop(transition) => {
                    let reason = format!(
                        "it is open, but would enter `{}` again with nothing changed",
                        transition.to
                    );
                    closed.push(self.build_closed_gate(*index, transition, reason));
                }
                GateResult::Open(reason) => return self.leave_phase(*index, clip_text(reason)),
                GateResult::Closed(reason) => {
                    closed.push(self.build_closed_gate(*index, transition, reason));
                }
            }
        }
        self.wait_for_gates(closed, &transitions);
        None
    }

    fn build_closed_gate(
        &self,
        index: usize,
        transition: &WorkflowTransition,
        reason: String,
    ) -> ClosedGate {
        let before = self.state.closed_gates.iter().find(|gate| gate.transition == index);
        let (attempts, retry_at) = before.map_or((0, None), |gate| (gate.attempts, gate.retry_at));
        ClosedGate {
            transition: index,
            to: transition.to.clone(),
            reason: clip_text(reason),
            attempts,
            retry_at,
        }
    }

    /// Whether a transition leads to a phase without work that the run entered since the document
    /// last changed. A transition with a manual gate never loops, because a person opens it.
    fn would_loop(&self, transition: &WorkflowTransition) -> bool {
        if transition
            .gate
            .as_ref()
            .is_some_and(|gate| matches!(gate.check, GateCheck::Manual { .. }))
        {
            return false;
        }
        let target = self.workflow.find_phase(&transition.to);
        let idle = target.is_some_and(|phase| {
            matches!(phase.work, PhaseWork::None) && !self.workflow.ends_in(phase)
        });
        idle && self.visited_idle_phases.contains(&transition.to)
            && !self.transition_changes_document(transition)
    }

    /// Takes a transition, after the exit hook of the phase if there is one; the hook may stop it.
    fn leave_phase(&mut self, index: usize, because: String) -> Option<Continuation> {
        match &self.current_phase().on_exit {
            Some(hook) => self.request_hook(hook, Some(index)),
            None => Some(Continuation::TakeTransition { transition: index, reason: because }),
        }
    }

    /// Takes a transition after checking its changes, the tickets of its target and its budget.
    pub(super) fn take_transition(
        &mut self,
        index: usize,
        because: String,
    ) -> Option<Continuation> {
        let transition = &self.workflow.transitions[index];
        if self.lacks_approval(index) {
            return Some(Continuation::ChooseTransition);
        }
        // A transition whose changes cannot be made is not taken and spends nothing.
        if let Err(reason) = self.build_transition_update(index) {
            return self.block_transition(index, reason);
        }
        if !self.check_tickets(Some(index), &transition.to, &because) {
            return None;
        }
        if let Some(budget) = &transition.spends {
            let again = Continuation::TakeTransition { transition: index, reason: because.clone() };
            if let Break(instead) = self.check_budget(budget, &again) {
                return instead;
            }
            self.emit(RunEvent::BudgetSpent { budget: budget.clone(), amount: 1 });
        }
        Some(Continuation::MoveToPhase {
            transition: Some(index),
            to: transition.to.clone(),
            reason: because,
        })
    }

    /// Why a transition is open now; `None` if its gate is closed.
    pub(super) fn find_open_reason(&self, index: usize) -> Option<String> {
        let transition = self.workflow.transitions.get(index)?;
        match self.evaluate_gate(index, transition, &self.gate_context()) {
            GateResult::Open(because) => Some(clip_text(because)),
            GateResult::Closed(_) => None,
        }
    }

    fn evaluate_gate(
        &self,
        index: usize,
        transition: &WorkflowTransition,
        context: &GateContext,
    ) -> GateResult {
        if let Some(after) = transition.after
            && !self.has_decision(after)
        {
            return GateResult::Closed(format!("no approval {}", after.as_verb()));
        }
        let Some(gate) = &transition.gate else {
            let reason = transition.after.map_or_else(
                || "it has no gate".to_owned(),
                |after| format!("the approval {}", after.as_verb()),
            );
            return GateResult::Open(reason);
        };
        match &gate.check {
            GateCheck::Expression(expr) => evaluate_expression(expr, context),
            GateCheck::Status { pointer, value } => {
                let found = context.document.pointer(pointer);
                let text = match found {
                    Some(Value::String(text)) => Some(text.clone()),
                    Some(other) => Some(other.to_string()),
                    None => None,
                };
                match text {
                    Some(text) if text == *value => {
                        GateResult::Open(format!("`{pointer}` is `{value}`"))
                    }
                    Some(text) => {
                        GateResult::Closed(format!("`{pointer}` is `{text}`; it must be `{value}`"))
                    }
                    None => GateResult::Closed(format!(
                        "`{pointer}` does not exist; it must be `{value}`"
                    )),
                }
            }
            GateCheck::FileExists { path } => self.check_file(path),
            GateCheck::FileExistsTemplate { path } => {
                match path.render(&[Some(&context.document), Some(&context.run)]) {
                    Ok(path) => self.check_file(&path),
                    Err(error) => {
                        let source = path.source();
                        GateResult::Closed(format!(
                            "`{source}` does not give a file path: {}",
                            error.message
                        ))
                    }
                }
            }
            GateCheck::Manual { rules, .. } => match self.find_current_decision(index) {
                Some(decision) => {
                    let note =
                        decision.note.as_ref().map_or_else(String::new, |n| format!(": {n}"));
                    let by = &decision.by;
                    match decision.outcome() {
                        DecisionOutcomeKind::Approved => {
                            GateResult::Open(format!("{by} approved it{note}"))
                        }
                        DecisionOutcomeKind::Denied => {
                            GateResult::Closed(format!("{by} denied it{note}"))
                        }
                        DecisionOutcomeKind::Expired => {
                            GateResult::Closed("nobody approved it in time".to_owned())
                        }
                    }
                }
                None => {
                    GateResult::Closed(format!("{} must approve it", describe_approvers(rules)))
                }
            },
        }
    }

    fn check_file(&self, path: &str) -> GateResult {
        let path = &*RunInputs::for_run(&self.state).resolve_path(path);
        let known = self.input.files.get(path);
        if known.is_none() {
            self.unchecked_files.borrow_mut().insert(path.to_owned());
        }
        if known == Some(&true) {
            GateResult::Open(format!("the file `{path}` exists"))
        } else {
            GateResult::Closed(format!("the file `{path}` does not exist"))
        }
    }

    /// Handles a phase whose gates are all closed: schedules retries, requests approvals, and opens
    /// a wait for a patch if nothing else can let the run continue.
    fn wait_for_gates(
        &mut self,
        mut closed: Vec<ClosedGate>,
        transitions: &[(usize, &WorkflowTransition)],
    ) {
        let now = self.input.time;
        for gate in &mut closed {
            let transition = &self.workflow.transitions[gate.transition];
            let Some(retry) = transition.gate.as_ref().and_then(|gate| gate.retry) else {
                continue;
            };
            let due = gate.retry_at.is_some_and(|at| at <= now);
            if due {
                gate.attempts += 1;
                gate.retry_at = None;
            }
            if gate.attempts >= retry.max_attempts {
                let times = gate.attempts;
                gate.reason.push_str(&format!("; retried {times} times, no attempts left"));
            } else if gate.retry_at.is_none() {
                gate.retry_at = Some(now.plus_millis(retry.delay_for_attempt(gate.attempts + 1)));
            }
        }
        let again_at = closed.iter().filter_map(|gate| gate.retry_at).min();
        self.emit(RunEvent::GatesClosed { gates: closed.clone(), retry_at: again_at });
        self.request_approvals(transitions);
        let can_continue = again_at.is_some() || !self.state.waits.is_empty();
        if !can_continue {
            let reasons: Vec<String> =
                closed.iter().map(|gate| format!("→ {}: {}", gate.to, gate.reason)).collect();
            let phase = self.state.phase.clone();
            let question = format!(
                "No transition from `{phase}` is open. {}. Submit a patch that changes this, or resume to evaluate the gates again.",
                reasons.join(". ")
            );
            let wait = self.new_wait(WaitKind::Work, &phase, question);
            self.open_new_wait(wait);
        }
    }

    /// Opens a wait for each manual gate that has neither an open wait nor a decision on the current
    /// subject.
    fn request_approvals(&mut self, transitions: &[(usize, &WorkflowTransition)]) {
        for (index, transition) in transitions {
            if transition.after.is_some_and(|after| !self.has_decision(after)) {
                continue;
            }
            let requested = self.state.waits.values().any(|wait| wait.transition == Some(*index));
            if requested || self.find_current_decision(*index).is_some() {
                continue;
            }
            if let Some(wait) = self.build_approval_wait(*index) {
                self.open_new_wait(wait);
            }
        }
    }
}

fn evaluate_expression(expr: &Expr, context: &GateContext) -> GateResult {
    let source = expr.source().trim();
    match expr.eval_bool(&[Some(&context.document), Some(&context.run)]) {
        Ok(true) => GateResult::Open(format!("`{source}` holds")),
        Ok(false) => {
            let seen = describe_read_values(expr, context);
            GateResult::Closed(format!("`{source}` does not hold{seen}"))
        }
        Err(error) => {
            GateResult::Closed(format!("`{source}` cannot be evaluated: {}", error.message))
        }
    }
}

/// Lists up to three values that a false expression read, by the names in its source.
fn describe_read_values(expr: &Expr, context: &GateContext) -> String {
    const MOST: usize = 3;
    let mut seen = Vec::new();
    for path in expr.read_paths() {
        let root = [&*context.document, &*context.run].into_iter().nth(path.slot);
        let fields = path.steps.iter().take_while(|step| matches!(step, ReadStep::Field(_)));
        let mut value = root;
        let mut name = ["state", "run"].get(path.slot).copied().unwrap_or("reply").to_owned();
        for step in fields {
            if let ReadStep::Field(field) = step {
                value = value.and_then(|value| value.get(field));
                name.push('.');
                name.push_str(field);
            }
        }
        let description = value.map_or_else(|| "undefined".to_owned(), format_value);
        let line = format!("{name} is {description}");
        if !seen.contains(&line) && seen.len() < MOST {
            seen.push(line);
        }
    }
    if seen.is_empty() { String::new() } else { format!("; {}", seen.join(", ")) }
}

/// Who must approve, for a sentence: `anna`, `2 of group:finance`, `somebody`.
fn describe_approvers(rules: &ApprovalRules) -> String {
    match (rules.who.is_empty(), rules.need) {
        (true, 1) => "somebody".to_owned(),
        (true, need) => format!("{need} people"),
        (false, 1) => format_assignees(&rules.who),
        (false, need) => format!("{need} of {}", format_assignees(&rules.who)),
    }
}
