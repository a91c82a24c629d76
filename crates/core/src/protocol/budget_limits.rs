//! Budgets: a name, a limit, and what happens when it is spent.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Localized, parse_duration};
use crate::expr::Expr;
use crate::reply::format_value;

use super::FailureHandler;

/// Limits by name.
#[derive(Debug, Clone, Default)]
pub struct BudgetLimits {
    /// Each limit; what is not named here is not limited here.
    pub limits: BTreeMap<String, BudgetLimit>,
}

/// One limit.
#[derive(Debug, Clone)]
pub struct BudgetLimit {
    /// How much.
    pub amount: LimitAmount,
    /// What happens when it is spent.
    pub then: FailureHandler,
    /// The sentence for people, where the author has a better one.
    pub says: Option<Localized<String>>,
}

/// How much a limit allows: a count, tokens, millionths of the currency, or milliseconds.
#[derive(Debug, Clone)]
pub enum LimitAmount {
    /// This much.
    Fixed(u64),
    /// As much as an expression over `state` and `run` gives when the budget is asked.
    Computed(Arc<Expr>),
}

impl PartialEq for LimitAmount {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Fixed(one), Self::Fixed(two)) => one == two,
            (Self::Computed(one), Self::Computed(two)) => one.source() == two.source(),
            _ => false,
        }
    }
}

impl Eq for LimitAmount {}

/// The amount, or the expression that gives it.
impl std::fmt::Display for LimitAmount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fixed(most) => write!(f, "{most}"),
            Self::Computed(expr) => f.write_str(expr.source().trim()),
        }
    }
}

impl LimitAmount {
    /// How much it is for a budget of this name, in a run with this document; a sentence where that
    /// cannot be told.
    pub fn resolve_amount(&self, name: &str, state: &Value, run: &Value) -> Result<u64, String> {
        let expr = match self {
            Self::Fixed(most) => return Ok(*most),
            Self::Computed(expr) => expr,
        };
        let source = expr.source().trim();
        let value = expr.eval(&[Some(state), Some(run)]).map_err(|error| error.message)?.to_json();
        let value = value.ok_or_else(|| format!("`{source}` is undefined"))?;
        parse_amount(name, &value).map_err(|expected| {
            format!(
                "`{source}` gives {}, and a limit of `{name}` is {expected}",
                format_value(&value)
            )
        })
    }
}

/// A value as an amount in the unit that a budget of this name is counted in; what is expected where it is none.
pub(crate) fn parse_amount(name: &str, value: &Value) -> Result<u64, &'static str> {
    // Expressions compute with doubles, so a whole number may come as `3.0`.
    let whole = || {
        let whole = |number: &f64| (0.0..9e15).contains(number) && number.fract() == 0.0;
        value.as_u64().or_else(|| value.as_f64().filter(whole).map(|number| number as u64))
    };
    match name {
        "wall_time" => {
            let time = value.as_str().and_then(parse_duration);
            let millis = time.map(|time| time.millis.unsigned_abs());
            millis.ok_or("a length of time such as `1h`")
        }
        "money" => {
            let units = value.as_f64().and_then(to_millionths);
            units.ok_or("an amount of money, 0 or more")
        }
        _ => whole().ok_or("a whole number, 0 or more"),
    }
}

/// An amount in units of the currency as millionths; `Empty` below zero and beyond counting.
pub(crate) fn to_millionths(units: f64) -> Option<u64> {
    let amount = (units * 1_000_000.0).round();
    (0.0..9e18).contains(&amount).then_some(amount as u64)
}

/// The budgets the engine counts by itself. Any other name is counted by transitions and phases that spend it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuiltinBudget {
    /// Refused replies in one step, the first included.
    Violations,
    /// Failures of the provider in a row.
    ProviderFailures,
    /// Entries of one phase.
    Loops,
    /// Questions asked.
    Questions,
    /// Tokens, in and out.
    Tokens,
    /// Millionths of the currency that prices are given in.
    Money,
    /// Milliseconds since the run began.
    WallTime,
    /// Rounds of tool use in one step.
    ToolRounds,
}

impl BuiltinBudget {
    /// Every one.
    pub const ALL: [Self; 8] = [
        Self::Violations,
        Self::ProviderFailures,
        Self::Loops,
        Self::Questions,
        Self::Tokens,
        Self::Money,
        Self::WallTime,
        Self::ToolRounds,
    ];

    /// The name in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Violations => "violations",
            Self::ProviderFailures => "provider_failures",
            Self::Loops => "loops",
            Self::Questions => "questions",
            Self::Tokens => "tokens",
            Self::Money => "money",
            Self::WallTime => "wall_time",
            Self::ToolRounds => "tool_rounds",
        }
    }

    /// The limit that holds where no file gives one: no run goes on for ever because nobody thought of it.
    #[must_use]
    pub fn default_amount(self) -> Option<u64> {
        match self {
            Self::ProviderFailures => Some(5),
            Self::Loops => Some(1_000),
            Self::ToolRounds => Some(8),
            Self::Violations | Self::Questions | Self::Tokens | Self::Money | Self::WallTime => {
                None
            }
        }
    }
}
