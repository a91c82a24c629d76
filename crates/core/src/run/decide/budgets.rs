//! Budgets: what was spent against what may be, and what happens when it is too much.

use super::deciding::Deciding;
use super::outcomes::Failure;
use super::writing::Beside;
use crate::protocol::{BudgetName, Limit, Most, Otherwise, Outcome};
use crate::run::state::{Blocked, EndKind, Next};
use crate::run::wait::WaitKind;

impl Deciding<'_> {
    /// Whether another model call may be made: tokens, money and time are asked before, not after.
    pub(super) fn within_call(&mut self, next: &Next) -> bool {
        [BudgetName::Tokens, BudgetName::Money]
            .into_iter()
            .all(|name| self.room(name.as_str(), None, 1, next))
            && self.within_time(next)
    }

    /// Whether there is time for anything more to be ordered.
    pub(super) fn within_time(&mut self, next: &Next) -> bool {
        let elapsed = self.input.time.since(self.state.created_at);
        self.room(BudgetName::WallTime.as_str(), Some(elapsed), 1, next)
    }

    /// Whether this many more questions may be asked.
    pub(super) fn within_questions(&mut self, more: u64, next: &Next) -> bool {
        self.room(BudgetName::Questions.as_str(), None, more, next)
    }

    /// Whether one more may be spent from a budget.
    pub(super) fn within(&mut self, name: &str, next: &Next) -> bool {
        self.room(name, None, 1, next)
    }

    /// Whether a phase may be entered once more. Each phase counts for itself.
    pub(super) fn within_loops(&mut self, phase: &str, next: &Next) -> bool {
        let name = BudgetName::Loops;
        let own = self.workflow.phase(phase).and_then(|to| to.budget.limits.get(name.as_str()));
        let limit = own.or_else(|| self.protocol.policy.budget.limits.get(name.as_str()));
        let limit = limit.cloned().or_else(|| default_limit(name));
        self.holds(&format!("{}@{phase}", name.as_str()), limit, None, 1, next)
    }

    /// Whether the provider may fail once more in a row.
    pub(super) fn within_provider_failures(&mut self, failures: u32, next: &Next) -> bool {
        self.counted(BudgetName::ProviderFailures, u64::from(failures), next)
    }

    /// Whether tools may be used for another round in this step.
    pub(super) fn within_tool_rounds(&mut self, rounds: u32, next: &Next) -> bool {
        self.counted(BudgetName::ToolRounds, u64::from(rounds), next)
    }

    /// The limit of refused replies in one step, where a file says so, with what was granted.
    pub(super) fn violations_allowed(&self) -> Option<Allowed> {
        let name = BudgetName::Violations.as_str();
        let limit = self.phase().budget.limits.get(name);
        let limit = limit.or_else(|| self.protocol.policy.budget.limits.get(name))?;
        let keys = [name.to_owned(), format!("{name}@{}", self.state.phase)];
        let granted = keys.iter().filter_map(|key| self.state.granted.get(key));
        let (then, says) = (limit.then.clone(), self.said(limit));
        Some(match self.most_of(name, &limit.most) {
            Ok(limit) => {
                let most = granted.fold(limit, |most, more| most.saturating_add(*more));
                Allowed { most, then, says }
            }
            // Nobody is asked again under a limit that cannot be told.
            Err(why) => Allowed { most: 1, then, says: Some(untold(name, "", &why)) },
        })
    }

    /// A budget that counts inside one step.
    fn counted(&mut self, name: BudgetName, spent: u64, next: &Next) -> bool {
        let limit = self.phase().budget.limits.get(name.as_str());
        let limit = limit.or_else(|| self.protocol.policy.budget.limits.get(name.as_str()));
        let limit = limit.cloned().or_else(|| default_limit(name));
        let key = format!("{}@{}", name.as_str(), self.state.phase);
        self.holds(&key, limit, Some(spent), 1, next)
    }

    /// Asks the phase's limit, then the run's.
    fn room(&mut self, name: &str, spent: Option<u64>, more: u64, next: &Next) -> bool {
        let of_phase = self.phase().budget.limits.get(name).cloned();
        let of_run = self.protocol.policy.budget.limits.get(name).cloned();
        if of_phase.is_some() {
            let key = format!("{name}@{}", self.state.phase);
            if !self.holds(&key, of_phase, spent, more, next) {
                return false;
            }
        }
        self.holds(name, of_run, spent, more, next)
    }

    fn holds(
        &mut self,
        key: &str,
        limit: Option<Limit>,
        spent: Option<u64>,
        more: u64,
        next: &Next,
    ) -> bool {
        let Some(limit) = limit else { return true };
        let spent = spent.unwrap_or_else(|| self.state.spent_of(key));
        let granted = self.state.granted.get(key).copied().unwrap_or(0);
        let (name, phase) = key.split_once('@').unwrap_or((key, ""));
        let limited = match self.most_of(name, &limit.most) {
            Ok(most) => most,
            Err(why) => {
                let what = untold(name, phase, &why);
                self.otherwise(&Otherwise::Wait, what, next.clone());
                return false;
            }
        };
        let most = limited.saturating_add(granted);
        if spent.saturating_add(more) <= most {
            return true;
        }
        self.exhausted(key, &limit, (spent, limited, most), next.clone());
        false
    }

    /// The sentence that the author has for a spent budget, in the language of the run.
    fn said(&self, limit: &Limit) -> Option<String> {
        limit.says.as_ref().map(|says| says.in_language(self.language().as_deref()).clone())
    }

    /// How much a limit allows now.
    fn most_of(&self, name: &str, most: &Most) -> Result<u64, String> {
        match most {
            Most::Fixed(most) => Ok(*most),
            Most::Asked(_) => most.of(name, &self.state.document, &self.run()),
        }
    }

    fn exhausted(
        &mut self,
        key: &str,
        limit: &Limit,
        (spent, limited, most): (u64, u64, u64),
        next: Next,
    ) {
        let (name, phase) = key.split_once('@').unwrap_or((key, ""));
        let of = of_phase(phase);
        let sentence = self.said(limit).unwrap_or_else(|| {
            format!(
                "The budget `{name}`{of} is spent: {} of {}.",
                told(name, spent),
                told(name, most)
            )
        });
        let failure = Failure::new("budget_spent", &sentence);
        let (then, sentence) = self.settled(&limit.then, &failure, &Beside::default(), sentence);
        match then {
            Otherwise::Fail => self.end(EndKind::Failed, Some(sentence)),
            // A phase that needs the budget itself cannot be where a spent one leads.
            Otherwise::Phase(to) if to != self.state.phase => self.go(None, &to, sentence),
            Otherwise::Wait | Otherwise::GoOn | Otherwise::Phase(_) => {
                let question = format!("{sentence} Grant more, or end the run?");
                let wait = self.wait(WaitKind::Budget, key, question);
                let budget = key.to_owned();
                self.block(Blocked::Budget { budget, limit: limited }, next, wait);
            }
        }
    }
}

fn default_limit(name: BudgetName) -> Option<Limit> {
    let limit = |most| Limit { most: Most::Fixed(most), then: Otherwise::Wait.into(), says: None };
    name.default_most().map(limit)
}

/// How many replies of one step may be refused, and what follows.
pub(super) struct Allowed {
    pub(super) most: u64,
    pub(super) then: Outcome,
    pub(super) says: Option<String>,
}

/// That a limit cannot be told.
fn untold(name: &str, phase: &str, why: &str) -> String {
    format!("The limit of the budget `{name}`{} cannot be told: {why}", of_phase(phase))
}

fn of_phase(phase: &str) -> String {
    if phase.is_empty() { String::new() } else { format!(" of phase `{phase}`") }
}

/// An amount in the unit of its budget.
fn told(name: &str, amount: u64) -> String {
    match name {
        "money" => format!("{:.4}", amount as f64 / 1e6),
        "wall_time" => format!("{} s", amount / 1_000),
        _ => amount.to_string(),
    }
}
