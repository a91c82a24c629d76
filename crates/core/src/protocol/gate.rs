//! Gates: what must hold before a way is open. Asked by `run`, which alone knows the state.

use super::{Duration, Template};
use crate::expr::Expr;

/// What must hold, and how often a closed gate is asked again.
#[derive(Debug)]
pub struct Gate {
    /// A sentence for people.
    pub description: Option<String>,
    /// The question.
    pub check: Check,
    /// When a closed gate is asked again.
    pub retry: Option<Retry>,
}

/// The question a gate asks.
#[derive(Debug)]
pub enum Check {
    /// `criteria` and `expression`: true or false over `state` and `run`.
    Expression(Expr),
    /// `status`: the value at a pointer, as text, equals this.
    Status {
        /// The pointer, also where the author wrote a dotted path.
        pointer: String,
        /// The text.
        value: String,
    },
    /// `file_exists`: a path inside the workspace.
    File {
        /// The path, relative, with `/` between names.
        path: String,
    },
    /// The same with places to fill, over `state` and `run`.
    FileAt {
        /// The path.
        path: Template,
    },
    /// `manual`: somebody must approve.
    Manual {
        /// Who may; everybody when absent.
        who: Option<String>,
        /// How long is waited for a decision; the run goes on waiting, and says that it is late.
        deadline: Option<Duration>,
    },
}

/// When a closed gate is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Whether the pause grows.
    pub mode: RetryMode,
    /// The first pause.
    pub interval: Duration,
    /// How often at most.
    pub max_attempts: u32,
}

/// Whether the pause between attempts grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryMode {
    /// It stays.
    Fixed,
    /// It doubles.
    Exponential,
}

impl Retry {
    /// The pause before the `attempt`-th repetition (the first is 1), at most a day.
    #[must_use]
    pub fn pause(&self, attempt: u32) -> i64 {
        const DAY: i64 = 86_400_000;
        let first = self.interval.millis;
        match self.mode {
            RetryMode::Fixed => first,
            RetryMode::Exponential => {
                let factor =
                    1_i64.checked_shl(attempt.saturating_sub(1).min(40)).unwrap_or(i64::MAX);
                first.saturating_mul(factor).min(DAY.max(first))
            }
        }
    }
}
