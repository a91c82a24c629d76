//! A model's step: asked, judged, refused and asked again, or accepted.

use super::bounds::{Oversize, clip, keep_listed};
use super::deciding::Deciding;
use super::outcomes::Failure;
use super::writing::{Beside, Written};
use crate::contract::{Contract, Then, load_inline};
use crate::json::Repair;
use crate::protocol::{AgentWork, Change, Origin, Otherwise, Verb, Work};
use crate::reply::{Accepted, Context, Finish, Reask, Verdict, Violation, reask};
use crate::run::Rejection;
use crate::run::event::Event;
use crate::run::input::ModelReply;
use crate::run::prompt::model_of;
use crate::run::state::{Blocked, EndKind, Next, Pending};
use crate::run::wait::{Closing, WaitKind};
use crate::spec::{Source, Tree};
use std::sync::{Arc, LazyLock};

/// The longest pause before a provider is asked again.
const LONGEST_PAUSE: i64 = 60_000;

/// The longest pause that a provider may ask for: a day.
const LONGEST_RETRY_AFTER: i64 = 86_400_000;

/// The name of the model that is a person.
const HUMAN: &str = "human";

/// What may be handed in where nobody in particular is asked: one patch, or one merge.
static HAND_IN: LazyLock<(Contract, Vec<Change>)> = LazyLock::new(|| {
    let contract = load_inline(include_str!("hand_in.yaml")).expect("our own contract loads");
    let source = Source::new("<hand_in>", "{}");
    let origin = Origin::root(&Arc::new(Tree::parse(source).expect("an empty object is YAML")));
    let change = |when: &str, verb: Verb| Change {
        when: Some(crate::expr::Expr::compile(when, &crate::protocol::NAMES).expect("it compiles")),
        verb,
        origin: origin.clone(),
    };
    let merge = crate::expr::Expr::compile("reply.merge", &crate::protocol::NAMES).ok();
    let changes = vec![
        change("'patch' in reply", Verb::Patch { from: "/patch".to_owned(), writes: None }),
        change("'merge' in reply", Verb::Merge { at: String::new(), value: merge }),
    ];
    (contract, changes)
});

/// The contract of what may be handed in where nobody in particular is asked.
#[must_use]
pub fn hand_in() -> &'static Contract {
    &HAND_IN.0
}

impl Deciding<'_> {
    /// Asks the model of this phase, unless a budget says no.
    pub(super) fn ask_model_again(&mut self, attempt: u32, pause: Option<i64>) {
        let Work::Agent(work) = &self.phase().work else { return };
        if !self.within_call(&Next::Ask { attempt }) {
            return;
        }
        let action = self.order();
        let not_before = pause.map(|pause| self.input.time.after(pause));
        self.emit(Event::ModelAsked { action, attempt, not_before });
        if model_of(self.protocol, &self.state, &work.agent).as_deref() == Some(HUMAN) {
            let phase = self.state.phase.clone();
            let question =
                format!("Play the model: hand in the reply that phase `{phase}` asks for.");
            let wait = self.wait(WaitKind::Work, &phase, question);
            self.open(wait);
        }
    }

    /// Asks the model of this phase to go on with the same try: its tools were used.
    pub(super) fn ask_model_on(&mut self) {
        let attempt = self.state.step.as_ref().map_or(1, |step| step.attempt.max(1));
        self.ask_model_again(attempt, None);
    }

    /// A model replied, or somebody in its place.
    pub(super) fn replied(&mut self, reply: &ModelReply) {
        self.spend_usage(reply);
        self.close_work(&reply.by);
        self.judge(&reply.text, reply.finish, &reply.repairs);
    }

    /// A model replied with something that would make events which cannot be recorded.
    pub(super) fn refuse_oversize(&mut self, reply: &ModelReply, over: &Oversize) {
        self.spend_usage(reply);
        self.close_work(&reply.by);
        if let Work::Agent(work) = &self.phase().work {
            self.refuse(work, vec![over.violation()]);
        }
    }

    fn spend_usage(&mut self, reply: &ModelReply) {
        let tokens = reply.usage.input_tokens.saturating_add(reply.usage.output_tokens);
        for (budget, amount) in [("tokens", tokens), ("money", reply.usage.cost)] {
            if amount > 0 {
                self.emit(Event::Spent { budget: budget.to_owned(), amount });
            }
        }
    }

    /// Closes the wait for work by hand: somebody did it.
    fn close_work(&mut self, by: &str) {
        let waits = self.state.waits.values();
        let open = waits.filter(|wait| matches!(wait.kind, WaitKind::Work | WaitKind::Trouble));
        for wait in open.map(|wait| wait.id.clone()).collect::<Vec<_>>() {
            let closing = Closing::Answered { by: by.to_owned() };
            self.emit(Event::WaitClosed { wait, closing });
        }
    }

    /// Judges a text in which the driver made these repairs before.
    fn judge(&mut self, text: &str, finish: Finish, before: &[Repair]) {
        let Work::Agent(work) = &self.phase().work else { return };
        match self.tool_calls(work, text, finish) {
            Some(Ok(calls)) => return self.ask_tools(calls),
            Some(Err(violations)) => return self.refuse(work, violations),
            None => {}
        }
        match self.judged(work, text, finish) {
            Err(violations) => self.refuse(work, violations),
            Ok((accepted, written)) => {
                let attempt = self.state.step.as_ref().map_or(1, |step| step.attempt);
                self.accept(&accepted, attempt, before);
                self.change(written);
                self.done();
            }
        }
    }

    /// What a text comes to under the contract of its phase, and what it would write; or everything
    /// against it.
    fn judged(
        &self,
        work: &AgentWork,
        text: &str,
        finish: Finish,
    ) -> Result<(Box<Accepted>, Written), Vec<Violation>> {
        let run = self.run();
        let context = Context { state: Some(&self.state.document), run: Some(&run), new: None };
        match work.contract.admit(text, finish, &context) {
            Verdict::Refused(violations) => Err(violations),
            Verdict::Accepted(accepted) => self
                .written(&work.apply, &accepted, &Beside::default(), Some(&work.contract))
                .map(|written| (accepted, written)),
        }
    }

    /// Records that a reply was let in; attempt 0 is one that a person handed in.
    fn accept(&mut self, accepted: &Accepted, attempt: u32, before: &[Repair]) {
        let repairs = [before, accepted.repairs()].concat();
        let made: usize = repairs.iter().map(|repair| repair.count).sum();
        let (repairs, _) = keep_listed(&repairs);
        let more_repairs = made - repairs.iter().map(|repair| repair.count).sum::<usize>();
        let (defaults, more_defaults) = keep_listed(accepted.defaults());
        let accepted =
            Event::ReplyAccepted { attempt, repairs, more_repairs, defaults, more_defaults };
        self.emit(accepted);
    }

    /// A reply was refused: ask again, or what follows when that is spent.
    fn refuse(&mut self, work: &AgentWork, violations: Vec<Violation>) {
        let step = self.state.step.as_ref();
        let attempt = step.map_or(1, |step| step.attempt.max(1));
        let before =
            step.map(|step| step.violations.as_slice()).filter(|before| !before.is_empty());
        let allowed = self.violations_allowed();
        let reasks = allowed.as_ref().map_or(work.contract.on_violation.reask, |limit| {
            limit.most.saturating_sub(1).min(u64::from(u32::MAX)) as u32
        });
        let told = match Reask::within(&work.contract, reasks, attempt, &violations, before) {
            Reask::Ask(text) => Some(text),
            Reask::Spent | Reask::Repeated => None,
        };
        let asked = told.is_some();
        let tries = match attempt {
            1 => "the reply was refused".to_owned(),
            _ => format!("{attempt} replies were refused, the last one because of this"),
        };
        let last = violations.first().map_or_else(String::new, ToString::to_string);
        let what = format!("In phase `{}` {tries}: {last}", self.state.phase);
        self.emit(Event::ReplyRefused { attempt, violations, told });
        if asked {
            return self.ask_model_again(attempt + 1, None);
        }
        let what = allowed.and_then(|limit| limit.says).unwrap_or(what);
        self.refused_for_good(what);
    }

    /// Every try was refused: the phase says what follows, then the budget, then the contract.
    pub(super) fn refused_for_good(&mut self, what: String) {
        let Work::Agent(work) = &self.phase().work else { return };
        if let Some(budget) = &work.refusal_spends {
            if !self.within(budget, &Next::Refused { what: what.clone() }) {
                return;
            }
            self.emit(Event::Spent { budget: budget.clone(), amount: 1 });
        }
        let by_budget = self.violations_allowed().map(|limit| limit.then);
        let by_contract = match work.contract.on_violation.then {
            Then::Fail => Otherwise::Fail,
            Then::Wait => Otherwise::Wait,
        };
        let outcome = work.on_refused.clone().or(by_budget).unwrap_or_else(|| by_contract.into());
        let step = self.state.step.as_ref();
        let failure = Failure::refused(step.map_or(&[], |step| &step.violations), &what);
        let (then, what) = self.settled(&outcome, &failure, &Beside::default(), what);
        match then {
            Otherwise::Wait => {
                let wait = self.trouble(&what);
                self.block(Blocked::Refused, Next::Ask { attempt: 1 }, wait);
            }
            Otherwise::Fail => self.end(EndKind::Failed, Some(what)),
            Otherwise::GoOn => self.worked(),
            Otherwise::Phase(to) => self.go(None, &to, what),
        }
    }

    /// A provider failed: wait and ask again, as often as the budget allows.
    pub(super) fn model_failed(
        &mut self,
        failure: &str,
        message: &str,
        retryable: bool,
        retry_after: Option<i64>,
    ) {
        let (failure, message) = (clip(failure), clip(message));
        self.emit(Event::ProviderFailed { failure, message: message.clone() });
        let (attempt, failures) = self
            .state
            .step
            .as_ref()
            .map_or((1, 1), |step| (step.attempt.max(1), step.provider_failures));
        let next = Next::Ask { attempt };
        if !retryable {
            let what =
                format!("The model of phase `{}` cannot be asked: {message}", self.state.phase);
            return self.otherwise(&Otherwise::Wait, what, next);
        }
        if !self.within_provider_failures(failures, &next) {
            return;
        }
        let doubled = 1_000_i64 << failures.saturating_sub(1).min(16);
        let asked = retry_after.unwrap_or(0).min(LONGEST_RETRY_AFTER);
        self.ask_model_again(attempt, Some(asked.max(doubled.min(LONGEST_PAUSE))));
    }

    /// Somebody replies for a model that was refused, or cannot be asked. A wrong reply costs nothing: the run
    /// goes on waiting.
    fn replied_by_hand(&mut self, work: &AgentWork, text: &str, by: &str) {
        match self.judged(work, text, Finish::Stop) {
            Err(violations) => {
                let told = Some(reask(&work.contract, &violations));
                self.emit(Event::ReplyRefused { attempt: 0, violations, told });
            }
            Ok((accepted, written)) => {
                self.close_work(by);
                self.accept(&accepted, 0, &[]);
                self.change(written);
                self.done();
            }
        }
    }

    /// Somebody hands in a text where nobody in particular was asked.
    pub(super) fn submitted(&mut self, text: &str, by: &str) -> Result<(), Rejection> {
        let phase = self.phase();
        // A goto that may not be followed leaves the work of the phase to be done.
        let undone = matches!(self.state.held, Some(Next::Go { .. }));
        let helped = match (&phase.work, &self.state.blocked) {
            (Work::Agent(work), Some(Blocked::NoTicket { .. })) if undone => {
                self.replied_by_hand(work, text, by);
                return Ok(());
            }
            (Work::Agent(work), Some(Blocked::Refused | Blocked::Trouble { .. })) => {
                self.replied_by_hand(work, text, by);
                return Ok(());
            }
            (_, Some(Blocked::Trouble { .. } | Blocked::NoTicket { .. })) => {
                self.state.held.clone()
            }
            _ => None,
        };
        let nothing =
            |why: &'static str| Err(Rejection::NothingToSubmit { phase: phase.id.clone(), why });
        if matches!(self.state.blocked, Some(Blocked::Budget { .. })) {
            return nothing("a budget is spent; grant more, or end the run");
        }
        let idle = self.state.pending.values().all(|one| matches!(one, Pending::Tell { .. }));
        let asked = |one: &Pending| matches!(one, Pending::Model { .. });
        if self.state.pending.values().any(asked) {
            return nothing("a model is asked; reply to its order");
        }
        let takes = matches!(phase.work, Work::None) || !self.state.closed.is_empty();
        if !idle || !(takes || helped.is_some()) {
            return nothing("it waits for something else; `next` tells what");
        }
        let (contract, changes) = &*HAND_IN;
        let run = self.run();
        let context = Context { state: Some(&self.state.document), run: Some(&run), new: None };
        let written = match contract.admit(text, Finish::Stop, &context) {
            Verdict::Refused(violations) => Err(violations),
            Verdict::Accepted(accepted) => self
                .written(changes, &accepted, &Beside::default(), None)
                .map(|written| (written, accepted)),
        };
        match written {
            Err(violations) => {
                let told = Some(reask(contract, &violations));
                self.emit(Event::ReplyRefused { attempt: 0, violations, told });
            }
            Ok((written, accepted)) => {
                self.accept(&accepted, 0, &[]);
                self.change(written);
                self.close_work(by);
                match helped {
                    Some(next) => self.go_on(next),
                    None => self.choose(),
                }
            }
        }
        Ok(())
    }
}
