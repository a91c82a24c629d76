//! Budgets: a name, a limit, and what happens when it is spent.

use std::collections::BTreeMap;

use super::Outcome;

/// Limits by name.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    /// Each limit; what is not named here is not limited here.
    pub limits: BTreeMap<String, Limit>,
}

/// One limit.
#[derive(Debug, Clone)]
pub struct Limit {
    /// How much: a count, tokens, millionths of the currency, or milliseconds.
    pub most: u64,
    /// What happens when it is spent.
    pub then: Outcome,
    /// The sentence for people, where the author has a better one.
    pub says: Option<String>,
}

/// The budgets the engine counts by itself. Any other name is counted by transitions and phases that spend it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BudgetName {
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

impl BudgetName {
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
    pub fn default_most(self) -> Option<u64> {
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
