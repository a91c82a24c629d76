//! Budgets: limits by name, in the units of each.

use super::duration::duration;
use super::faults::Faults;
use super::member::Member;
use super::otherwise::outcome;
use super::scope::Scope;
use crate::nearest::nearest;
use crate::protocol::{Budget, BudgetName, Limit};

/// Reads limits. A name that nothing counts or spends, and that is nearly one the engine counts, is a slip.
pub(super) fn budget(member: &Member<'_>, scope: &Scope<'_>) -> Budget {
    let (spent, faults) = (&scope.names.spent, scope.faults);
    let mut budget = Budget::default();
    for (name, limit) in member.entries() {
        let own = BudgetName::ALL.iter().map(|own| own.as_str());
        let known = spent.contains(name) || own.clone().any(|own| own == name);
        if let Some(near) = nearest(name, own).filter(|_| !known) {
            let message =
                format!("no budget `{name}`: the engine does not count it, and nothing spends it");
            let fault = member.fault_at_key("unknown_budget", name, message);
            faults.push(fault.hinting(Some(format!("did you mean `{near}`?"))));
        }
        let (most, then) = match limit.get("limit") {
            Some(most) => (most, limit.get("then")),
            None => (limit.clone(), None),
        };
        let then = outcome(then.as_ref(), scope);
        if let Some(most) = amount(name, &most, faults) {
            budget.limits.insert(name.to_owned(), Limit { most, then, says: limit.owned("says") });
        }
    }
    budget
}

fn amount(name: &str, member: &Member<'_>, faults: &Faults) -> Option<u64> {
    if !member.value.is_number() && !member.value.is_string() {
        return None;
    }
    let expected = match name {
        "wall_time" => {
            if member.text().is_some() {
                return duration(member, faults).map(|time| time.millis.unsigned_abs());
            }
            "a length of time such as `1h`"
        }
        "money" => match member.value.as_f64().and_then(millionths) {
            Some(amount) => return Some(amount),
            None => "an amount of money, 0 or more",
        },
        _ => match member.value.as_u64() {
            Some(count) => return Some(count),
            None => "a whole number, 0 or more",
        },
    };
    let found = crate::reply::show(member.value);
    let message = format!("a limit of `{name}` is {expected}, found {found}");
    faults.push(member.fault("type", message));
    None
}

/// An amount in units of the currency as millionths; `None` below zero and beyond counting.
pub(super) fn millionths(units: f64) -> Option<u64> {
    let amount = (units * 1_000_000.0).round();
    (0.0..9e18).contains(&amount).then_some(amount as u64)
}
