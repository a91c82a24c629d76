//! Gates: what must hold before a way is open. Asked by `run`, which alone knows the state.

use super::{DurationMillis, TextTemplate};
use crate::expr::Expr;

/// What must hold, and how often a closed gate is asked again.
#[derive(Debug)]
pub struct TransitionGate {
    /// A sentence for people.
    pub description: Option<String>,
    /// The question.
    pub check: GateCheck,
    /// When a closed gate is asked again.
    pub retry: Option<RetryPolicy>,
}

/// The question a gate asks.
#[derive(Debug)]
pub enum GateCheck {
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
    FileExists {
        /// The path, relative, with `/` between names.
        path: String,
    },
    /// The same with places to fill, over `state` and `run`.
    FileExistsTemplate {
        /// The path.
        path: TextTemplate,
    },
    /// `manual`: somebody must approve.
    Manual {
        /// Who may; everybody when absent.
        who: Option<String>,
        /// How long is waited for a decision; the run goes on waiting, and says that it is late.
        deadline: Option<DurationMillis>,
    },
}

/// When a closed gate is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Whether the pause grows.
    pub mode: RetryBackoff,
    /// The first pause.
    pub interval: DurationMillis,
    /// How often at most.
    pub max_attempts: u32,
}

/// Whether the pause between attempts grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryBackoff {
    /// It stays.
    Fixed,
    /// It doubles.
    Exponential,
}

impl RetryPolicy {
    /// The pause before the `attempt`-th repetition (the first is 1), at most a day.
    #[must_use]
    pub fn delay_for_attempt(&self, attempt: u32) -> i64 {
        const DAY: i64 = 86_400_000;
        let first = self.interval.millis;
        match self.mode {
            RetryBackoff::Fixed => first,
            RetryBackoff::Exponential => {
                let factor =
                    1_i64.checked_shl(attempt.saturating_sub(1).min(40)).unwrap_or(i64::MAX);
                first.saturating_mul(factor).min(DAY.max(first))
            }
        }
    }
}
