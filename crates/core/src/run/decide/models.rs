//! A model's step: asked, judged, refused and asked again, or accepted.

use std::ops::ControlFlow::Break;

use super::document_update::{ChangeScope, DocumentUpdate};
use super::run_decision::RunDecision;
use super::settle_failure::PhaseFailure;
use super::size_limits::{SizeLimitExceeded, clip_text, truncate_list};
use crate::contract::{Contract, OnExhausted, load_inline_contract};
use crate::json::Repair;
use crate::protocol::{
    AgentWork, ChangeOperation, DocumentChange, FailurePolicy, FileOrigin, PhaseWork,
};
use crate::reply::{
    AcceptedValue, AdmissionVerdict, FinishReason, ReaskDecision, RuleContext, Violation,
    render_reask,
};
use crate::run::InputRejection;
use crate::run::event::RunEvent;
use crate::run::input::ModelReply;
use crate::run::prompt::resolve_model;
use crate::run::state::{BlockReason, Continuation, PendingAction, RunEndKind};
use crate::run::wait::{WaitKind, WaitResolution};
use crate::source::{ParsedSourceFile, SourceFile};
use std::sync::{Arc, LazyLock};

/// The longest pause before a provider is asked again.
const MAX_BACKOFF_MILLIS: i64 = 60_000;

/// The longest pause that a provider may ask for: a day.
const MAX_RETRY_AFTER_MILLIS: i64 = 86_400_000;

/// The name of the model that is a person.
const HUMAN_MODEL: &str = "human";

/// What may be handed in where nobody in particular is asked: one patch, or one merge.
static MANUAL_PATCH: LazyLock<(Contract, Vec<DocumentChange>)> = LazyLock::new(|| {
    let contract =
        load_inline_contract(include_str!("hand_in.yaml")).expect("our own contract loads");
    let source = SourceFile::new("<hand_in>", "{}");
    let origin = FileOrigin::root(&Arc::new(
        ParsedSourceFile::parse(source).expect("an empty object is YAML"),
    ));
    let change = |when: &str, verb: ChangeOperation| DocumentChange {
        when: Some(
            crate::expr::Expr::compile(when, &crate::protocol::EXPRESSION_NAMES)
                .expect("it compiles"),
        ),
        operation: verb,
        origin: origin.clone(),
    };
    let merge = crate::expr::Expr::compile("reply.merge", &crate::protocol::EXPRESSION_NAMES).ok();
    let changes = vec![
        change(
            "'patch' in reply",
            ChangeOperation::Patch { from: "/patch".to_owned(), writes: None },
        ),
        change("'merge' in reply", ChangeOperation::Merge { at: String::new(), value: merge }),
    ];
    (contract, changes)
});

/// The contract of what may be handed in where nobody in particular is asked.
#[must_use]
pub fn manual_patch_contract() -> &'static Contract {
    &MANUAL_PATCH.0
}

impl RunDecision<'_> {
    /// Asks the model of this phase, unless a budget says no.
    pub(super) fn request_model(
        &mut self,
        attempt: u32,
        pause: Option<i64>,
    ) -> Option<Continuation> {
        let PhaseWork::Agent(work) = &self.current_phase().work else { return None };
        if let Break(instead) = self.check_call_budget(&Continuation::Ask { attempt }) {
            return instead;
        }
        let action = self.next_action_id();
        let not_before = pause.map(|pause| self.input.time.plus_millis(pause));
        self.emit(RunEvent::ModelAsked { action, attempt, not_before });
        if resolve_model(self.protocol, &self.state, &work.agent).as_deref() == Some(HUMAN_MODEL) {
            let phase = self.state.phase.clone();
            let question =
                format!("Play the model: hand in the reply that phase `{phase}` asks for.");
            let wait = self.new_wait(WaitKind::Work, &phase, question);
            self.open_new_wait(wait);
        }
        None
    }

    /// Asks the model of this phase to go on with the same try: its tools were used.
    pub(super) fn continue_model_step(&mut self) -> Option<Continuation> {
        let attempt = self.state.step.as_ref().map_or(1, |step| step.attempt.max(1));
        self.request_model(attempt, None)
    }

    /// A model replied, or somebody in its place.
    pub(super) fn handle_model_reply(&mut self, reply: &ModelReply) -> Option<Continuation> {
        self.spend_usage(reply);
        self.close_work_waits(&reply.by);
        self.judge_reply(&reply.text, reply.finish, &reply.repairs)
    }

    /// A model replied with something that would make events which cannot be recorded.
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

    fn spend_usage(&mut self, reply: &ModelReply) {
        let tokens = reply.usage.input_tokens.saturating_add(reply.usage.output_tokens);
        for (budget, amount) in [("tokens", tokens), ("money", reply.usage.cost)] {
            if amount > 0 {
                self.emit(RunEvent::Spent { budget: budget.to_owned(), amount });
            }
        }
    }

    /// Closes the wait for work by hand: somebody did it.
    fn close_work_waits(&mut self, by: &str) {
        let waits = self.state.waits.values();
        let open = waits.filter(|wait| matches!(wait.kind, WaitKind::Work | WaitKind::Trouble));
        for wait in open.map(|wait| wait.id.clone()).collect::<Vec<_>>() {
            let closing = WaitResolution::Answered { by: by.to_owned() };
            self.emit(RunEvent::WaitClosed { wait, closing });
        }
    }

    /// Judges a text in which the driver made these repairs before.
    fn judge_reply(
        &mut self,
        text: &str,
        finish: FinishReason,
        before: &[Repair],
    ) -> Option<Continuation> {
        let PhaseWork::Agent(work) = &self.current_phase().work else { return None };
        match self.parse_tool_calls(work, text, finish) {
            Some(Ok(calls)) => return self.request_tools(calls),
            Some(Err(violations)) => return self.refuse_reply(work, violations),
            None => {}
        }
        match self.evaluate_reply(work, text, finish) {
            Err(violations) => self.refuse_reply(work, violations),
            Ok((accepted, written)) => {
                let attempt = self.state.step.as_ref().map_or(1, |step| step.attempt);
                self.accept_reply(&accepted, attempt, before);
                self.record_update(written);
                self.accept_work()
            }
        }
    }

    /// What a text comes to under the contract of its phase, and what it would write; or everything
    /// against it.
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
                .map(|written| (accepted, written)),
        }
    }

    /// Records that a reply was let in; attempt 0 is one that a person handed in.
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

    /// A reply was refused: ask again, or what follows when that is spent.
    fn refuse_reply(
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
        let told = match ReaskDecision::decide_within(
            &work.contract,
            reasks,
            attempt,
            &violations,
            before,
        ) {
            ReaskDecision::Ask(text) => Some(text),
            ReaskDecision::Exhausted | ReaskDecision::Repeated => None,
        };
        let asked = told.is_some();
        let tries = match attempt {
            1 => "the reply was refused".to_owned(),
            _ => format!("{attempt} replies were refused, the last one because of this"),
        };
        let last = violations.first().map_or_else(String::new, ToString::to_string);
        let what = format!("In phase `{}` {tries}: {last}", self.state.phase);
        self.emit(RunEvent::ReplyRefused { attempt, violations, told });
        if asked {
            return self.request_model(attempt + 1, None);
        }
        let what = allowed.and_then(|limit| limit.says).unwrap_or(what);
        Some(Continuation::Refused { what })
    }

    /// Every try was refused: the phase says what follows, then the budget, then the contract.
    pub(super) fn handle_exhausted_reasks(&mut self, what: String) -> Option<Continuation> {
        let PhaseWork::Agent(work) = &self.current_phase().work else { return None };
        if let Some(budget) = &work.refusal_spends {
            let again = Continuation::Refused { what: what.clone() };
            if let Break(instead) = self.check_budget(budget, &again) {
                return instead;
            }
            self.emit(RunEvent::Spent { budget: budget.clone(), amount: 1 });
        }
        let by_budget = self.refusal_limit().map(|limit| limit.then);
        let by_contract = match work.contract.on_violation.then {
            OnExhausted::Fail => FailurePolicy::Fail,
            OnExhausted::Wait => FailurePolicy::Wait,
        };
        let outcome = work.on_refused.clone().or(by_budget).unwrap_or_else(|| by_contract.into());
        let step = self.state.step.as_ref();
        let failure =
            PhaseFailure::from_violations(step.map_or(&[], |step| &step.violations), &what);
        let (then, what) = self.settle_failure(&outcome, &failure, &ChangeScope::default(), what);
        match then {
            FailurePolicy::Wait => {
                let wait = self.new_incident_wait(&what);
                self.block_run(BlockReason::Refused, Continuation::Ask { attempt: 1 }, wait)
            }
            FailurePolicy::Fail => self.end_run(RunEndKind::Failed, Some(what)),
            FailurePolicy::GoOn => Some(Continuation::Leave),
            FailurePolicy::GoTo(to) => Some(Continuation::Go { way: None, to, because: what }),
        }
    }

    /// A provider failed: wait and ask again, as often as the budget allows.
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
        let next = Continuation::Ask { attempt };
        if !retryable {
            let what =
                format!("The model of phase `{}` cannot be asked: {message}", self.state.phase);
            return self.apply_failure_policy(&FailurePolicy::Wait, what, next);
        }
        if let Break(instead) = self.check_provider_failure_budget(failures, &next) {
            return instead;
        }
        let doubled = 1_000_i64 << failures.saturating_sub(1).min(16);
        let asked = retry_after.unwrap_or(0).min(MAX_RETRY_AFTER_MILLIS);
        self.request_model(attempt, Some(asked.max(doubled.min(MAX_BACKOFF_MILLIS))))
    }

    /// Somebody replies for a model that was refused, or cannot be asked. A wrong reply costs nothing: the run
    /// goes on waiting.
    fn handle_manual_reply(
        &mut self,
        work: &AgentWork,
        text: &str,
        by: &str,
    ) -> Option<Continuation> {
        match self.evaluate_reply(work, text, FinishReason::Stop) {
            Err(violations) => {
                let told = Some(render_reask(&work.contract, &violations));
                self.emit(RunEvent::ReplyRefused { attempt: 0, violations, told });
                None
            }
            Ok((accepted, written)) => {
                self.close_work_waits(by);
                self.accept_reply(&accepted, 0, &[]);
                self.record_update(written);
                self.accept_work()
            }
        }
    }

    /// Somebody hands in a text where nobody in particular was asked.
    pub(super) fn handle_manual_patch(
        &mut self,
        text: &str,
        by: &str,
    ) -> Result<Option<Continuation>, InputRejection> {
        let phase = self.current_phase();
        // A goto that may not be followed leaves the work of the phase to be done.
        let undone = matches!(self.state.held, Some(Continuation::Go { .. }));
        let helped = match (&phase.work, &self.state.blocked) {
            (PhaseWork::Agent(work), Some(BlockReason::NoTicket { .. })) if undone => {
                return Ok(self.handle_manual_reply(work, text, by));
            }
            (PhaseWork::Agent(work), Some(BlockReason::Refused | BlockReason::Trouble { .. })) => {
                return Ok(self.handle_manual_reply(work, text, by));
            }
            (_, Some(BlockReason::Trouble { .. } | BlockReason::NoTicket { .. })) => {
                self.state.held.clone()
            }
            _ => None,
        };
        let nothing = |why: &'static str| {
            Err(InputRejection::NothingToSubmit { phase: phase.id.clone(), reason: why })
        };
        if matches!(self.state.blocked, Some(BlockReason::Budget { .. })) {
            return nothing("a budget is spent; grant more, or end the run");
        }
        let idle = self.state.pending.values().all(|one| matches!(one, PendingAction::Tell { .. }));
        let asked = |one: &PendingAction| matches!(one, PendingAction::Model { .. });
        if self.state.pending.values().any(asked) {
            return nothing("a model is asked; reply to its order");
        }
        let takes = matches!(phase.work, PhaseWork::None) || !self.state.closed.is_empty();
        if !idle || !(takes || helped.is_some()) {
            return nothing("it waits for something else; `next` tells what");
        }
        let (contract, changes) = &*MANUAL_PATCH;
        let run = self.run_value();
        let context = RuleContext { state: Some(&self.state.document), run: Some(&run), new: None };
        let written = match contract.admit(text, FinishReason::Stop, &context) {
            AdmissionVerdict::Refused(violations) => Err(violations),
            AdmissionVerdict::Accepted(accepted) => self
                .build_update(changes, &accepted, &ChangeScope::default(), None)
                .map(|written| (written, accepted)),
        };
        match written {
            Err(violations) => {
                let told = Some(render_reask(contract, &violations));
                self.emit(RunEvent::ReplyRefused { attempt: 0, violations, told });
                Ok(None)
            }
            Ok((written, accepted)) => {
                self.accept_reply(&accepted, 0, &[]);
                self.record_update(written);
                self.close_work_waits(by);
                Ok(Some(helped.unwrap_or(Continuation::Leave)))
            }
        }
    }
}
