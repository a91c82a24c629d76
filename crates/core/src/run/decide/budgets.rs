//! Budgets: what was spent against what may be, and what happens when it is too much.

use super::deciding::Deciding;
use crate::protocol::{BudgetName, Limit, Spent};
use crate::run::event::Event;
use crate::run::state::{Blocked, EndKind};
use crate::run::wait::WaitKind;

impl Deciding<'_> {
    /// Whether another model call may be made: tokens, money and time are asked before, not after.
    pub(super) fn within_call(&mut self) -> bool {
        let elapsed = self.input.time.since(self.state.created_at);
        [
            (BudgetName::Tokens, None),
            (BudgetName::Money, None),
            (BudgetName::WallTime, Some(elapsed)),
        ]
        .into_iter()
        .all(|(name, spent)| self.room(name.as_str(), spent, 1))
    }

    /// Whether this many more questions may be asked.
    pub(super) fn within_questions(&mut self, more: u64) -> bool {
        self.room(BudgetName::Questions.as_str(), None, more)
    }

    /// Whether a budget that was just spent from still holds.
    pub(super) fn within(&mut self, name: &str) -> bool {
        self.room(name, None, 0)
    }

    /// Whether this phase may be entered once more. Each phase counts for itself.
    pub(super) fn within_loops(&mut self) -> bool {
        let name = BudgetName::Loops.as_str();
        let limit = self.phase().budget.limits.get(name);
        let limit = limit.or_else(|| self.protocol.policy.budget.limits.get(name)).cloned();
        let key = format!("{name}@{}", self.state.phase);
        self.holds(&key, limit.or_else(|| default_limit(BudgetName::Loops)), None, 0)
    }

    /// Whether the provider may fail once more in a row.
    pub(super) fn within_provider_failures(&mut self, failures: u32) -> bool {
        self.counted(BudgetName::ProviderFailures, u64::from(failures))
    }

    /// Whether tools may be used for another round in this step.
    pub(super) fn within_tool_rounds(&mut self, rounds: u32) -> bool {
        self.counted(BudgetName::ToolRounds, u64::from(rounds))
    }

    /// The refused replies that one step may have, where a file says so.
    pub(super) fn violations_allowed(&self) -> Option<u32> {
        let name = BudgetName::Violations.as_str();
        let limit = self.phase().budget.limits.get(name);
        let limit = limit.or_else(|| self.protocol.policy.budget.limits.get(name))?;
        Some(limit.most.min(u64::from(u32::MAX)) as u32)
    }

    /// A budget that counts inside one step.
    fn counted(&mut self, name: BudgetName, spent: u64) -> bool {
        let limit = self.phase().budget.limits.get(name.as_str());
        let limit = limit.or_else(|| self.protocol.policy.budget.limits.get(name.as_str()));
        let limit = limit.cloned().or_else(|| default_limit(name));
        let key = format!("{}@{}", name.as_str(), self.state.phase);
        self.holds(&key, limit, Some(spent), 0)
    }

    /// Asks the phase's limit, then the run's.
    fn room(&mut self, name: &str, spent: Option<u64>, more: u64) -> bool {
        let of_phase = self.phase().budget.limits.get(name).cloned();
        let of_run = self.protocol.policy.budget.limits.get(name).cloned();
        let key = format!("{name}@{}", self.state.phase);
        self.holds(&key, of_phase, spent, more) && self.holds(name, of_run, spent, more)
    }

    fn holds(&mut self, key: &str, limit: Option<Limit>, spent: Option<u64>, more: u64) -> bool {
        let Some(limit) = limit else { return true };
        let spent = spent.unwrap_or_else(|| self.state.spent_of(key));
        let granted = self.state.granted.get(key).copied().unwrap_or(0);
        let most = limit.most.saturating_add(granted);
        if spent.saturating_add(more) <= most {
            return true;
        }
        self.exhausted(key, &limit, spent, most);
        false
    }

    fn exhausted(&mut self, key: &str, limit: &Limit, spent: u64, most: u64) {
        let (name, phase) = key.split_once('@').unwrap_or((key, ""));
        let of = if phase.is_empty() { String::new() } else { format!(" of phase `{phase}`") };
        let sentence = limit.says.clone().unwrap_or_else(|| {
            format!(
                "The budget `{name}`{of} is spent: {} of {}.",
                told(name, spent),
                told(name, most)
            )
        });
        match &limit.then {
            Spent::Fail => self.end(EndKind::Failed, Some(sentence)),
            Spent::Phase(to) => self.go(None, to, sentence),
            Spent::Wait => {
                let blocked = Blocked::Budget { budget: key.to_owned(), limit: limit.most };
                self.emit(Event::Blocked { blocked });
                let question = format!("{sentence} Grant more, or end the run?");
                let wait = self.wait(WaitKind::Budget, key, question);
                self.open(wait);
            }
        }
    }
}

fn default_limit(name: BudgetName) -> Option<Limit> {
    name.default_most().map(|most| Limit { most, then: Spent::Wait, says: None })
}

/// An amount in the unit of its budget.
fn told(name: &str, amount: u64) -> String {
    match name {
        "money" => format!("{:.4}", amount as f64 / 1e6),
        "wall_time" => format!("{} s", amount / 1_000),
        _ => amount.to_string(),
    }
}
