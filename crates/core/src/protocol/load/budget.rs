//! Budgets: limits by name, in the units of each.

use std::sync::Arc;

use serde_json::Value;

use super::duration::duration;
use super::expression::expression;
use super::faults::Faults;
use super::member::Member;
use super::otherwise::outcome;
use super::scope::Scope;
use super::text::text;
use crate::nearest::nearest;
use crate::protocol::budget::amount;
use crate::protocol::{Budget, BudgetName, Limit, Most, NAMES};
use crate::reply::show;

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
        if let Some(most) = self::most(name, &most, faults) {
            let says = limit.get("says").and_then(|says| text(&says));
            budget.limits.insert(name.to_owned(), Limit { most, then, says });
        }
    }
    budget
}

/// A limit as it stands in the file: an amount, or an expression that gives one when the budget is asked.
fn most(name: &str, member: &Member<'_>, faults: &Faults) -> Option<Most> {
    match member.value {
        Value::String(text) if name == "wall_time" && begins_with_digit(text) => {
            let time = duration(member, faults)?;
            Some(Most::Fixed(time.millis.unsigned_abs()))
        }
        Value::String(_) => {
            let expr = expression(member, &NAMES[..2], faults)?;
            Some(Most::Asked(Arc::new(expr)))
        }
        Value::Number(_) => match amount(name, member.value) {
            Ok(amount) => Some(Most::Fixed(amount)),
            Err(expected) => {
                let found = show(member.value);
                let message = format!("a limit of `{name}` is {expected}, found {found}");
                faults.push(member.fault("type", message));
                None
            }
        },
        // The schema has told it.
        _ => None,
    }
}

/// No expression that gives a length of time begins so; a length of time does.
fn begins_with_digit(text: &str) -> bool {
    text.trim_start().starts_with(|character: char| character.is_ascii_digit())
}
