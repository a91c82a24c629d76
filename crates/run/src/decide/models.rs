//! The step of a model: requests a model call, admits the reply, and updates the document or
//! retries. Replies and patches that a person submits pass through the same checks.

use std::collections::BTreeMap;
use std::ops::ControlFlow::Break;

use countersign_contract::contract::{Contract, OnExhausted, load_inline_contract};
use countersign_contract::json::Repair;
use countersign_contract::reply::{
    AcceptedValue, AdmissionVerdict, FinishReason, ReaskDecision, RuleContext, Violation,
    render_reask,
};
use countersign_contract::source::{ParsedSourceFile, SourceFile};
use countersign_protocol::{
    AgentWork, ChangeOperation, DocumentChange, FailurePolicy, FileOrigin, PhaseWork,
};

use super::document_update::{ChangeScope, DocumentUpdate};
use super::run_decision::RunDecision;
use super::settle_failure::PhaseFailure;
use super::size_limits::{SizeLimitExceeded, clip_text, truncate_list};
use crate::InputRejection;
use crate::event::RunEvent;
use crate::input::ModelReply;
use crate::pending_action::PendingAction;
use crate::prompt::resolve_model;
use crate::state::{BlockReason, Continuation, RunEndKind};
use crate::wait::{WaitKind, WaitResolution};
use std::sync::{Arc, LazyLock};

/// Maximum backoff before a provider call is retried, in milliseconds.
const MAX_BACKOFF_MILLIS: i64 = 60_000;

/// Maximum delay that a provider's `retry_after` can request, in milliseconds: one day.
const MAX_RETRY_AFTER_MILLIS: i64 = 86_400_000;

/// Model name under which a person writes the replies.
const HUMAN_MODEL: &str = "human";

/// Contract and changes of a manual patch: one patch or one merge.
static MANUAL_PATCH: LazyLock<(Contract, Vec<DocumentChange>)> = LazyLock::new(|| {
    let contract = load_inline_contract(include_str!("manual_patch.yaml"))
        .expect("the built-in contract loads");
    let source = SourceFile::new("<manual_patch>", "{}");
    let origin = FileOrigin::root(&Arc::new(
        ParsedSourceFile::parse(source).expect("an empty object is YAML"),
    ));
    let change = |when: &str, verb: ChangeOperation| DocumentChange {
        when: Some(
            countersign_contract::expr::Expr::compile(
                when,
                &countersign_protocol::EXPRESSION_NAMES,
            )
            .expect("a built-in expression compiles"),
        ),
        operation: verb,
        origin: origin.clone(),
    };
    let merge = countersign_contract::expr::Expr::compile(
        "reply.merge",
        &countersign_protocol::EXPRESSION_NAMES,
    )
    .ok();
    let changes = vec![
        change(
            "'patch' in reply",
            ChangeOperation::Patch { from: "/patch".to_owned(), writes: None },
        ),
        change("'merge' in reply", ChangeOperation::Merge { pointer: String::new(), value: merge }),
    ];
    (contract, changes)
});

/// The contract of a manual patch, which a person can submit while no assigned work is pending.
#[must_use]
pub fn manual_patch_contract() -> &'static Contract {
    &MANUAL_PATCH.0
}

impl RunDecision<'_> {
    /// Requests a call of the phase's model, unless a budget is spent. `pause` delays the call by
    /// milliseconds.
    pub(super) fn request_model(
        &mut self,
        attempt: u32,
        pause: Option<i64>,
    ) -> Option<Continuation> {
        let PhaseWork::Agent(work) = &self.current_phase().work else { return None };
        if let Break(instead) = self.check_call_budget(&Continuation::RequestModel { attempt }) {
            return instead;
        }
        if self.request_missing_tool_lists(&work.agent) {
            return None;
        }
        let action = self.next_action_id();
        let not_before = pause.map(|pause| self.input.time.plus_millis(pause));
        self.emit(RunEvent::ModelRequested { action, attempt, not_before });
        if resolve_model(self.protocol, &self.state, &work.agent).as_deref() == Some(HUMAN_MODEL) {
            self.open_human_reply_wait();
        }
        None
    }

    /// Asks a person to reply in place of the model.
    fn open_human_reply_wait(&mut self) {
        let phase = self.state.phase.clone();
        let question = format!("Act as the model: submit the reply that phase `{phase}` expects.");
        let wait = self.new_wait(WaitKind::Work, &phase, question);
        self.open_new_wait(wait);
    }

    /// Handles the selection of another model. If the model of the phase failed or was refused, the
    /// step starts again with the new one; a halted run does so when it is resumed.
    pub(super) fn handle_model_selected(&mut self, model: &str, by: &str) -> Option<Continuation> {
        self.emit(RunEvent::ModelSelected { model: model.to_owned() });
        let asks_model = matches!(self.current_phase().work, PhaseWork::Agent(_));
        let is_failed =
            matches!(self.state.blocked, Some(BlockReason::Incident { .. } | BlockReason::Refused));
        if asks_model && is_failed && self.state.halted.is_none() {
            return self.unblock_run(by, &BTreeMap::new());
        }
        let is_model_call = |one: &PendingAction| matches!(one, PendingAction::Model { .. });
        if !self.state.pending.values().any(is_model_call) {
            return None;
        }
        let asked = self.state.waits.values().filter(|wait| wait.kind == WaitKind::Work);
        let asked: Vec<String> = asked.map(|wait| wait.id.clone()).collect();
        if model != HUMAN_MODEL {
            // The model replies to the pending call; nobody has to.
            for wait in asked {
                self.emit(RunEvent::WaitClosed { wait, resolution: WaitResolution::Dropped });
            }
        } else if asked.is_empty() {
            self.open_human_reply_wait();
        }
        None
    }

    /// Calls the model again within the same attempt, after its tool calls have finished.
    pub(super) fn continue_model_step(&mut self) -> Option<Continuation> {
        let attempt = self.state.step.as_ref().map_or(1, |step| step.attempt.max(1));
        self.request_model(attempt, None)
    }

    /// Handles the reply of a model, or of a person in its place.
    pub(super) fn handle_model_reply(&mut self, reply: &ModelReply) -> Option<Continuation> {
        tracing::trace!(bytes = reply.text.len(), "judging the reply");
        self.spend_usage(reply);
        self.close_work_waits(&reply.by);
        self.judge_reply(&reply.text, reply.finish, &reply.repairs)
    }

    /// Refuses a reply whose events would exceed a size limit.
    pub(super) fn refuse_oversize(
        &mut self,
        reply: &ModelReply,
        over: &SizeLimitExceeded,
    ) -> Option<Continuation> {
        self.spend_usage(reply);
        self.close_work_waits(&reply.by);
        let PhaseWork::Agent(work) = &self.current_phase().work else { return None };
        self.refuse_reply(work, vec![over.to_violation()])
    }

    /// Charges the tokens and the cost of a reply to the budgets.
    fn spend_usage(&mut self, reply: &ModelReply) {
        let tokens = reply.usage.input_tokens.saturating_add(reply.usage.output_tokens);
        for (budget, amount) in [("tokens", tokens), ("money", reply.usage.cost)] {
            if amount > 0 {
                self.emit(RunEvent::BudgetSpent { budget: budget.to_owned(), amount });
            }
        }
    }

    /// Closes the waits for manual work and incidents, because the work was done.
    fn close_work_waits(&mut self, by: &str) {
        let waits = self.state.waits.values();
        let open = waits.filter(|wait| matches!(wait.kind, WaitKind::Work | WaitKind::Incident));
        for wait in open.map(|wait| wait.id.clone()).collect::<Vec<_>>() {
            let closing = WaitResolution::Answered { by: by.to_owned() };
            self.emit(RunEvent::WaitClosed { wait, resolution: closing });
        }
    }

    /// Admits or refuses the text of a reply. `before` lists the repairs that the driver already
    /// made.
    fn judge_reply(
        &mut self,
        text: &str,
        finish: FinishReason,
        before: &[Repair],
    ) -> Option<Continuation> {
        let PhaseWork::Agent(work) = &self.current_phase().work else { return None };
        match self.parse_tool_calls(work, text, finish) {
            Some(Ok(calls)) => return self.request_tools(calls),
            Some(Err(violations)) => return self.refuse_tool_calls(work, violations),
            None => {}
        }
        match self.evaluate_reply(work, text, finish) {
            Err(violations) => self.refuse_reply(work, violations),
            Ok((accepted, update)) => {
                let attempt = self.state.step.as_ref().map_or(1, |step| step.attempt);
                self.accept_reply(&accepted, attempt, before);
                self.record_update(update);
                Some(self.accept_work())
            }
        }
    }

    /// Admits a text under the contract of its phase and builds its update, or returns all
    /// violations.
    fn evaluate_reply(
        &self,
        work: &AgentWork,
        text: &str,
        finish: FinishReason,
    ) -> Result<(Box<AcceptedValue>, DocumentUpdate), Vec<Violation>> {
        let run = self.run_value();
        let context = RuleContext { state: Some(&self.state.document), run: Some(&run), new: None };
        match work.contract.admit(text, finish, &context) {
            AdmissionVerdict::Refused(violations) => Err(violations),
            AdmissionVerdict::Accepted(accepted) => self
                .build_update(&work.apply, &accepted, &ChangeScope::default(), Some(&work.contract))
                .map(|update| (accepted, update)),
        }
    }

    /// Records that a reply was accepted; attempt 0 means that a person submitted it.
    fn accept_reply(&mut self, accepted: &AcceptedValue, attempt: u32, before: &[Repair]) {
        let repairs = [before, accepted.repairs()].concat();
        let made: usize = repairs.iter().map(|repair| repair.count).sum();
        let (repairs, _) = truncate_list(&repairs);
        let more_repairs = made - repairs.iter().map(|repair| repair.count).sum::<usize>();
        let (defaults, more_defaults) = truncate_list(accepted.defaults());
        let accepted =
            RunEvent::ReplyAccepted { attempt, repairs, more_repairs, defaults, more_defaults };
        self.emit(accepted);
    }

    /// Records a refused reply and retries, or continues with `Continuation::Refused` when the
    /// retries are exhausted or the model repeats its violations.
    pub(super) fn refuse_reply(
        &mut self,
        work: &AgentWork,
        violations: Vec<Violation>,
    ) -> Option<Continuation> {
        let step = self.state.step.as_ref();
        let attempt = step.map_or(1, |step| step.attempt.max(1));
        let before =
            step.map(|step| step.violations.as_slice()).filter(|before| !before.is_empty());
        let allowed = self.refusal_limit();
        let reasks = allowed.as_ref().map_or(work.contract.on_violation.reask, |limit| {
            limit.max_refusals.saturating_sub(1).min(u64::from(u32::MAX)) as u32
        });
        let feedback = match ReaskDecision::decide_within(
            &work.contract,
            reasks,
            attempt,
            &violations,
            before,
        ) {
            ReaskDecision::Ask(text) => Some(text),
            ReaskDecision::Exhausted | ReaskDecision::Repeated => None,
        };
        let retries = feedback.is_some();
        let tries = match attempt {
            1 => "the reply was refused".to_owned(),
            _ => format!("{attempt} replies were refused; the last violation"),
        };
        let last = violations.first().map_or_else(String::new, ToString::to_string);
        let what = format!("In phase `{}` {tries}: {last}", self.state.phase);
        self.emit(RunEvent::ReplyRefused { attempt, violations, feedback, tool_call: false });
        if retries {
            return self.request_model(attempt + 1, None);
        }
        let what = allowed.and_then(|limit| limit.says).unwrap_or(what);
        Some(Continuation::HandleRefusal { message: what })
    }

    /// Applies the failure handler after all attempts were refused: that of the phase, else of the
    /// budget, else of the contract.
    pub(super) fn handle_exhausted_reasks(&mut self, message: String) -> Option<Continuation> {
        let PhaseWork::Agent(work) = &self.current_phase().work else { return None };
        if let Some(budget) = &work.refusal_spends {
            let again = Continuation::HandleRefusal { message: message.clone() };
            if let Break(instead) = self.check_budget(budget, &again) {
                return instead;
            }
            self.emit(RunEvent::BudgetSpent { budget: budget.clone(), amount: 1 });
        }
        let by_budget = self.refusal_limit().map(|limit| limit.then);
        let by_contract = match work.contract.on_violation.then {
            OnExhausted::Fail => FailurePolicy::Fail,
            OnExhausted::Wait => FailurePolicy::Wait,
        };
        let outcome = work.on_refused.clone().or(by_budget).unwrap_or_else(|| by_contract.into());
        let step = self.state.step.as_ref();
        let failure =
            PhaseFailure::from_violations(step.map_or(&[], |step| &step.violations), &message);
        let (then, message) =
            self.settle_failure(&outcome, &failure, &ChangeScope::default(), message);
        match then {
            FailurePolicy::Wait => {
                let wait = self.new_incident_wait(&message);
                self.block_run(
                    BlockReason::Refused,
                    Continuation::RequestModel { attempt: 1 },
                    wait,
                )
            }
            FailurePolicy::Fail => self.end_run(RunEndKind::Failed, Some(message)),
            FailurePolicy::GoOn => Some(Continuation::ChooseTransition),
            FailurePolicy::GoTo(to) => {
                Some(Continuation::MoveToPhase { transition: None, to, reason: message })
            }
        }
    }

    /// Handles a failed provider call: retries with exponential backoff, as often as the budget
    /// allows.
    pub(super) fn handle_model_failed(
        &mut self,
        failure: &str,
        message: &str,
        retryable: bool,
        retry_after: Option<i64>,
    ) -> Option<Continuation> {
        let (failure, message) = (clip_text(failure), clip_text(message));
        self.emit(RunEvent::ProviderFailed { failure, message: message.clone() });
        let (attempt, failures) = self
            .state
            .step
            .as_ref()
            .map_or((1, 1), |step| (step.attempt.max(1), step.provider_failures));
        let next = Continuation::RequestModel { attempt };
        if !retryable {
            let what =
                format!("The model of phase `{}` cannot be called: {message}", self.state.phase);
            return self.apply_failure_policy(&FailurePolicy::Wait, what, next);
        }
        if let Break(instead) = self.check_provider_failure_budget(failures, &next) {
            return instead;
        }
        let doubled = 1_000_i64 << failures.saturating_sub(1).min(16);
        let requested = retry_after.unwrap_or(0).min(MAX_RETRY_AFTER_MILLIS);
        self.request_model(attempt, Some(requested.max(doubled.min(MAX_BACKOFF_MILLIS))))
    }

    /// Handles a reply that a person submits for a model that was refused or cannot be called. A
    /// refused manual reply spends nothing, and the run keeps waiting.
    fn handle_manual_reply(
        &mut self,
        work: &AgentWork,
        text: &str,
        by: &str,
    ) -> Option<Continuation> {
        match self.evaluate_reply(work, text, FinishReason::Stop) {
            Err(violations) => {
                let feedback = Some(render_reask(&work.contract, &violations));
                self.emit(RunEvent::ReplyRefused {
                    attempt: 0,
                    violations,
                    feedback,
                    tool_call: false,
                });
                None
            }
            Ok((accepted, update)) => {
                self.close_work_waits(by);
                self.accept_reply(&accepted, 0, &[]);
                self.record_update(update);
                Some(self.accept_work())
            }
        }
    }

    /// Handles a text that a person submits: a reply for a blocked model step, or else a manual
    /// patch if no assigned work is pending.
    pub(super) fn handle_manual_patch(
        &mut self,
        text: &str,
        by: &str,
    ) -> Result<Option<Continuation>, InputRejection> {
        let phase = self.current_phase();
        // A move that lacks a ticket leaves the work of the phase undone.
        let undone = matches!(self.state.continuation, Some(Continuation::MoveToPhase { .. }));
        let resume_with = match (&phase.work, &self.state.blocked) {
            (PhaseWork::Agent(work), Some(BlockReason::MissingTicket { .. })) if undone => {
                return Ok(self.handle_manual_reply(work, text, by));
            }
            (PhaseWork::Agent(work), Some(BlockReason::Refused | BlockReason::Incident { .. })) => {
                return Ok(self.handle_manual_reply(work, text, by));
            }
            (_, Some(BlockReason::Incident { .. } | BlockReason::MissingTicket { .. })) => {
                self.state.continuation.clone()
            }
            _ => None,
        };
        let nothing = |why: &'static str| {
            Err(InputRejection::PatchNotExpected { phase: phase.id.clone(), reason: why })
        };
        if matches!(self.state.blocked, Some(BlockReason::Budget { .. })) {
            return nothing("a budget is spent; grant more, or end the run");
        }
        let decides = self.state.waits.values().any(|wait| wait.kind == WaitKind::Approval);
        let declares = matches!(phase.work, PhaseWork::None) && phase.writes.is_some();
        if decides && !declares {
            return nothing(
                "a person decides on the document, and the phase does not declare `writes`; deny it, or wait for the decision",
            );
        }
        let idle = self.state.pending.values().all(PendingAction::is_message);
        let is_model_call = |one: &PendingAction| matches!(one, PendingAction::Model { .. });
        if self.state.pending.values().any(is_model_call) {
            return nothing("a model call is pending; reply to its action");
        }
        let takes = matches!(phase.work, PhaseWork::None) || !self.state.closed_gates.is_empty();
        if !idle || !(takes || resume_with.is_some()) {
            return nothing("the run waits for something else; `next` shows what");
        }
        let (contract, changes) = &*MANUAL_PATCH;
        let run = self.run_value();
        let context = RuleContext { state: Some(&self.state.document), run: Some(&run), new: None };
        let update = match contract.admit(text, FinishReason::Stop, &context) {
            AdmissionVerdict::Refused(violations) => Err(violations),
            AdmissionVerdict::Accepted(accepted) => {
                self.build_manual_update(changes, &accepted).map(|update| (update, accepted))
            }
        };
        match update {
            Err(violations) => {
                let feedback = Some(render_reask(contract, &violations));
                self.emit(RunEvent::ReplyRefused {
                    attempt: 0,
                    violations,
                    feedback,
                    tool_call: false,
                });
                Ok(None)
            }
            Ok((update, accepted)) => {
                self.accept_reply(&accepted, 0, &[]);
                self.record_update(update);
                self.close_work_waits(by);
                Ok(Some(resume_with.unwrap_or(Continuation::ChooseTransition)))
            }
        }
    }
}
