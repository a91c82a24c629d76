//! Budgets: a name, a limit, and what happens when the limit is reached.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_contract::expr::Expr;
use countersign_contract::reply::format_value;
use serde_json::Value;

use super::{Localized, TextTemplate, parse_duration};

use super::FailureHandler;

/// Budget limits by name.
#[derive(Debug, Clone, Default)]
pub struct BudgetLimits {
    /// The limits of this level; a budget that is not listed has no limit here.
    pub limits: BTreeMap<String, BudgetLimit>,
}

/// The limit of one budget.
#[derive(Debug, Clone)]
pub struct BudgetLimit {
    /// How much may be spent.
    pub amount: LimitAmount,
    /// What happens when the budget is spent.
    pub then: FailureHandler,
    /// The author's sentence for people, which may read `state` and `run`; a generated one if
    /// absent.
    pub says: Option<Arc<Localized<TextTemplate>>>,
}

/// The amount that a limit allows: a count, tokens, millionths of the currency, or milliseconds,
/// depending on the budget.
#[derive(Debug, Clone)]
pub enum LimitAmount {
    /// An amount fixed in the file.
    Fixed(u64),
    /// The result of an expression over `state` and `run`, evaluated each time the budget is
    /// checked.
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

/// Formats the amount, or the source of the expression.
impl std::fmt::Display for LimitAmount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fixed(most) => write!(f, "{most}"),
            Self::Computed(expr) => f.write_str(expr.source().trim()),
        }
    }
}

impl LimitAmount {
    /// Resolves the amount for the budget `name` in a run with this document. The error is a
    /// sentence that says why there is no amount.
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
                "`{source}` is {}, but a limit of `{name}` must be {expected}",
                format_value(&value)
            )
        })
    }
}

/// Converts a value to an amount in the unit of the budget `name`. The error says what was
/// expected.
pub(crate) fn parse_amount(name: &str, value: &Value) -> Result<u64, &'static str> {
    // Expressions compute with doubles, so an integer may arrive as `3.0`.
    let whole = || {
        let whole = |number: &f64| (0.0..9e15).contains(number) && number.fract() == 0.0;
        value.as_u64().or_else(|| value.as_f64().filter(whole).map(|number| number as u64))
    };
    match name {
        "wall_time" => {
            let time = value.as_str().and_then(parse_duration);
            let millis = time.map(|time| time.millis.unsigned_abs());
            millis.ok_or("a duration such as `1h`")
        }
        "money" => {
            let units = value.as_f64().and_then(to_millionths);
            units.ok_or("an amount of money, 0 or more")
        }
        _ => whole().ok_or("a whole number, 0 or more"),
    }
}

/// Converts units of the currency to millionths; `None` for negative or too large amounts.
pub(crate) fn to_millionths(units: f64) -> Option<u64> {
    let amount = (units * 1_000_000.0).round();
    (0.0..9e18).contains(&amount).then_some(amount as u64)
}

/// The budgets that the engine counts itself. Transitions and phases count budgets of any other
/// name when they spend them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuiltinBudget {
    /// Refused replies in one step, including the first.
    Violations,
    /// Consecutive failures of the provider.
    ProviderFailures,
    /// Entries into one phase.
    Loops,
    /// Questions asked to people.
    Questions,
    /// Tokens of prompts and replies.
    Tokens,
    /// Millionths of the currency that prices are given in.
    Money,
    /// Milliseconds since the run was started.
    WallTime,
    /// Rounds of tool use in one step.
    ToolRounds,
}

impl BuiltinBudget {
    /// Every built-in budget, in the order of declaration.
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

    /// The name in protocol files.
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

    /// The limit that applies if no file sets one. The defaults stop a run from looping forever
    /// when its author set no limit.
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
