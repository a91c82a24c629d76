//! Reads budgets: limits by name, each in its own unit.

use std::sync::Arc;

use countersign_contract::find_similar_name;
use countersign_contract::reply::format_value;
use serde_json::Value;

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::name_scope::NameScope;
use super::read_duration::read_duration;
use super::read_expression::read_expression;
use super::read_failure_handler::read_failure_handler;
use super::read_localized::read_localized_template;
use crate::budget_limits::parse_amount;
use crate::{BudgetLimit, BudgetLimits, BuiltinBudget, EXPRESSION_NAMES, LimitAmount};

/// Reads limits. A name that nothing counts or spends and that is similar to a built-in budget is
/// reported as a mistake.
pub(super) fn read_budget(member: &FileNode<'_>, scope: &NameScope<'_>) -> BudgetLimits {
    let (spent, faults) = (&scope.names.spent_budgets, scope.faults);
    let mut budget = BudgetLimits::default();
    for (name, limit) in member.entries() {
        let own = BuiltinBudget::ALL.iter().map(|own| own.as_str());
        let known = spent.contains(name) || own.clone().any(|own| own == name);
        if let Some(near) = find_similar_name(name, own).filter(|_| !known) {
            let message =
                format!("no budget `{name}`: the engine does not count it, and nothing spends it");
            let fault = member.diagnose_key("unknown_budget", name, message);
            faults.push(fault.with_hint(Some(format!("did you mean `{near}`?"))));
        }
        let (most, then) = match limit.get("limit") {
            Some(most) => (most, limit.get("then")),
            None => (limit.clone(), None),
        };
        let then = read_failure_handler(then.as_ref(), scope);
        if let Some(most) = self::read_limit_amount(name, &most, faults) {
            let says = limit.get("says").and_then(|says| {
                read_localized_template(&says, &EXPRESSION_NAMES[..2], faults).map(Arc::new)
            });
            budget.limits.insert(name.to_owned(), BudgetLimit { amount: most, then, says });
        }
    }
    budget
}

/// Reads a limit: an amount, or an expression that gives one when the budget is checked.
fn read_limit_amount(
    name: &str,
    member: &FileNode<'_>,
    faults: &LoadDiagnostics,
) -> Option<LimitAmount> {
    match member.value {
        Value::String(text) if name == "wall_time" && starts_with_digit(text) => {
            let time = read_duration(member, faults)?;
            Some(LimitAmount::Fixed(time.millis.unsigned_abs()))
        }
        Value::String(_) => {
            let expr = read_expression(member, &EXPRESSION_NAMES[..2], faults)?;
            Some(LimitAmount::Computed(Arc::new(expr)))
        }
        Value::Number(_) => match parse_amount(name, member.value) {
            Ok(amount) => Some(LimitAmount::Fixed(amount)),
            Err(expected) => {
                let found = format_value(member.value);
                let message = format!("a limit of `{name}` must be {expected}, found {found}");
                faults.push(member.diagnose("type", message));
                None
            }
        },
        // The schema check has reported it.
        _ => None,
    }
}

/// Whether the text is a duration: those start with a digit, and no expression that gives a
/// duration does.
fn starts_with_digit(text: &str) -> bool {
    text.trim_start().starts_with(|character: char| character.is_ascii_digit())
}
