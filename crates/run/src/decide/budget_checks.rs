//! Checks budgets before the run spends from them, and applies the failure handler of a spent
//! budget.
//!
//! Every check takes the continuation that it guards. If the budget is spent and its policy is to
//! wait, the run keeps that continuation and resumes with it after a grant.

use std::ops::ControlFlow::{self, Break, Continue};

use countersign_protocol::{
    BudgetLimit, BuiltinBudget, FailureHandler, FailurePolicy, LimitAmount,
};

use super::document_update::ChangeScope;
use super::run_decision::RunDecision;
use super::settle_failure::PhaseFailure;
use crate::state::{BlockReason, Continuation, RunEndKind};
use crate::wait::WaitKind;

/// Result of a budget check: `Continue` if the budget has room, `Break` with what the run does
/// instead if not.
pub(super) type BudgetCheck = ControlFlow<Option<Continuation>>;

impl RunDecision<'_> {
    /// Checks tokens, money and time before a model call.
    pub(super) fn check_call_budget(&mut self, next: &Continuation) -> BudgetCheck {
        for name in [BuiltinBudget::Tokens, BuiltinBudget::Money] {
            self.check_phase_and_run_budget(name.as_str(), None, 1, next)?;
        }
        self.check_time_budget(next)
    }

    /// Checks the wall time since the run started, before any action is requested.
    pub(super) fn check_time_budget(&mut self, next: &Continuation) -> BudgetCheck {
        let elapsed = self.input.time.millis_since(self.state.created_at);
        self.check_phase_and_run_budget(BuiltinBudget::WallTime.as_str(), Some(elapsed), 1, next)
    }

    /// Checks whether `more` further questions can be asked.
    pub(super) fn check_question_budget(&mut self, more: u64, next: &Continuation) -> BudgetCheck {
        self.check_phase_and_run_budget(BuiltinBudget::Questions.as_str(), None, more, next)
    }

    /// Checks whether one more unit can be spent from a budget that the protocol defines.
    pub(super) fn check_budget(&mut self, name: &str, next: &Continuation) -> BudgetCheck {
        self.check_phase_and_run_budget(name, None, 1, next)
    }

    /// Checks whether a phase can be entered once more. Each phase has its own count.
    pub(super) fn check_loop_budget(&mut self, phase: &str, next: &Continuation) -> BudgetCheck {
        let name = BuiltinBudget::Loops;
        let own =
            self.workflow.find_phase(phase).and_then(|to| to.budget.limits.get(name.as_str()));
        let limit = own.or_else(|| self.protocol.policy.budget.limits.get(name.as_str()));
        let limit = limit.cloned().or_else(|| default_limit(name));
        self.check_limit(&format!("{}@{phase}", name.as_str()), limit, None, 1, next)
    }

    /// Checks whether the provider can fail once more in a row.
    pub(super) fn check_provider_failure_budget(
        &mut self,
        failures: u32,
        next: &Continuation,
    ) -> BudgetCheck {
        self.check_step_budget(BuiltinBudget::ProviderFailures, u64::from(failures), next)
    }

    /// Checks whether the current step can have another round of tool calls.
    pub(super) fn check_tool_round_budget(
        &mut self,
        rounds: u32,
        next: &Continuation,
    ) -> BudgetCheck {
        self.check_step_budget(BuiltinBudget::ToolRounds, u64::from(rounds), next)
    }

    /// The limit of refused replies in one step, including grants; `None` if neither the phase nor
    /// the policy of the protocol sets one.
    pub(super) fn refusal_limit(&self) -> Option<RefusalLimit> {
        let name = BuiltinBudget::Violations.as_str();
        let limit = self.current_phase().budget.limits.get(name);
        let limit = limit.or_else(|| self.protocol.policy.budget.limits.get(name))?;
        let keys = [name.to_owned(), format!("{name}@{}", self.state.phase)];
        let granted = keys.iter().filter_map(|key| self.state.granted.get(key));
        let (then, says) = (limit.then.clone(), self.limit_message(limit));
        Some(match self.resolve_limit(name, &limit.amount) {
            Ok(limit) => {
                let most = granted.fold(limit, |most, more| most.saturating_add(*more));
                RefusalLimit { max_refusals: most, then, says }
            }
            // A limit that cannot be computed allows no retry.
            Err(why) => RefusalLimit {
                max_refusals: 1,
                then,
                says: Some(describe_unresolved_limit(name, "", &why)),
            },
        })
    }

    /// Checks a budget that counts within one step.
    fn check_step_budget(
        &mut self,
        name: BuiltinBudget,
        spent: u64,
        next: &Continuation,
    ) -> BudgetCheck {
        let limit = self.current_phase().budget.limits.get(name.as_str());
        let limit = limit.or_else(|| self.protocol.policy.budget.limits.get(name.as_str()));
        let limit = limit.cloned().or_else(|| default_limit(name));
        let key = format!("{}@{}", name.as_str(), self.state.phase);
        self.check_limit(&key, limit, Some(spent), 1, next)
    }

    /// Checks the limit of the phase, then the limit of the run.
    fn check_phase_and_run_budget(
        &mut self,
        name: &str,
        spent: Option<u64>,
        more: u64,
        next: &Continuation,
    ) -> BudgetCheck {
        let of_phase = self.current_phase().budget.limits.get(name).cloned();
        let of_run = self.protocol.policy.budget.limits.get(name).cloned();
        if of_phase.is_some() {
            let key = format!("{name}@{}", self.state.phase);
            self.check_limit(&key, of_phase, spent, more, next)?;
        }
        self.check_limit(name, of_run, spent, more, next)
    }

    fn check_limit(
        &mut self,
        key: &str,
        limit: Option<BudgetLimit>,
        spent: Option<u64>,
        more: u64,
        next: &Continuation,
    ) -> BudgetCheck {
        let Some(limit) = limit else { return Continue(()) };
        let spent = spent.unwrap_or_else(|| self.state.amount_spent(key));
        let granted = self.state.granted.get(key).copied().unwrap_or(0);
        let (name, phase) = key.split_once('@').unwrap_or((key, ""));
        let limited = match self.resolve_limit(name, &limit.amount) {
            Ok(most) => most,
            Err(why) => {
                let message = describe_unresolved_limit(name, phase, &why);
                let next = self.apply_failure_policy(&FailurePolicy::Wait, message, next.clone());
                return Break(next);
            }
        };
        let most = limited.saturating_add(granted);
        if spent.saturating_add(more) <= most {
            return Continue(());
        }
        Break(self.handle_exhausted_budget(key, &limit, (spent, limited, most), next.clone()))
    }

    /// The protocol author's message for a spent budget, in the language of the run.
    fn limit_message(&self, limit: &BudgetLimit) -> Option<String> {
        let says = limit.says.as_ref()?.version_for(self.resolve_language().as_deref());
        let run = self.run_value();
        Some(says.render(&[Some(&self.state.document), Some(&run)]).unwrap_or_else(|error| {
            format!("A limit is reached; its text cannot be shown: {}.", error.message)
        }))
    }

    /// Resolves a fixed or computed limit to an amount in the unit of its budget.
    fn resolve_limit(&self, name: &str, most: &LimitAmount) -> Result<u64, String> {
        match most {
            LimitAmount::Fixed(most) => Ok(*most),
            LimitAmount::Computed(_) => {
                most.resolve_amount(name, &self.state.document, &self.run_value())
            }
        }
    }

    fn handle_exhausted_budget(
        &mut self,
        key: &str,
        limit: &BudgetLimit,
        (spent, limited, most): (u64, u64, u64),
        next: Continuation,
    ) -> Option<Continuation> {
        let (name, phase) = key.split_once('@').unwrap_or((key, ""));
        let of = format_phase_suffix(phase);
        let sentence = self.limit_message(limit).unwrap_or_else(|| {
            format!(
                "The budget `{name}`{of} is spent: {} of {}.",
                format_amount(name, spent),
                format_amount(name, most)
            )
        });
        let failure = PhaseFailure::new("budget_spent", &sentence);
        let (then, sentence) =
            self.settle_failure(&limit.then, &failure, &ChangeScope::default(), sentence);
        match then {
            FailurePolicy::Fail => self.end_run(RunEndKind::Failed, Some(sentence)),
            // Going to the current phase would need the same budget again, so the run waits.
            FailurePolicy::GoTo(to) if to != self.state.phase => {
                Some(Continuation::MoveToPhase { transition: None, to, reason: sentence })
            }
            FailurePolicy::Wait | FailurePolicy::GoOn | FailurePolicy::GoTo(_) => {
                let question = format!("{sentence} Grant more, or end the run?");
                let wait = self.new_wait(WaitKind::Budget, key, question);
                let budget = key.to_owned();
                self.block_run(BlockReason::Budget { budget, limit: limited }, next, wait)
            }
        }
    }
}

/// The built-in limit of a budget, if it has one; its policy is to wait.
fn default_limit(name: BuiltinBudget) -> Option<BudgetLimit> {
    let limit = |most| BudgetLimit {
        amount: LimitAmount::Fixed(most),
        then: FailurePolicy::Wait.into(),
        says: None,
    };
    name.default_amount().map(limit)
}

/// How many replies of one step can be refused, what the run does then, and the author's message.
pub(super) struct RefusalLimit {
    pub(super) max_refusals: u64,
    pub(super) then: FailureHandler,
    pub(super) says: Option<String>,
}

/// Describes a limit whose expression cannot be computed.
fn describe_unresolved_limit(name: &str, phase: &str, why: &str) -> String {
    format!(
        "The limit of the budget `{name}`{} cannot be evaluated: {why}",
        format_phase_suffix(phase)
    )
}

fn format_phase_suffix(phase: &str) -> String {
    if phase.is_empty() { String::new() } else { format!(" of phase `{phase}`") }
}

/// Formats an amount in the unit of its budget: money in whole units, wall time in seconds.
fn format_amount(name: &str, amount: u64) -> String {
    match name {
        "money" => format!("{:.4}", amount as f64 / 1e6),
        "wall_time" => format!("{} s", amount / 1_000),
        _ => amount.to_string(),
    }
}
