//! Gates: the condition of a transition. Only the `run` module evaluates them, because only it has
//! the state.

use countersign_contract::expr::Expr;

use super::{ApprovalRules, DurationMillis, PresentationRule, TextTemplate};

/// The condition of a transition, and how often a closed gate is evaluated again.
#[derive(Debug)]
pub struct TransitionGate {
    /// A sentence for people; absent if the author gives none.
    pub description: Option<String>,
    /// The condition that opens the gate.
    pub check: GateCheck,
    /// When a closed gate is evaluated again by itself; never by itself if absent.
    pub retry: Option<RetryPolicy>,
}

/// The condition of a gate.
#[derive(Debug)]
pub enum GateCheck {
    /// `criteria` and `expression`: an expression over `state` and `run` is true.
    Expression(Expr),
    /// `status`: the value at a pointer, as text, equals a given text.
    Status {
        /// The pointer, converted if the author wrote a dotted path.
        pointer: String,
        /// The expected text.
        value: String,
    },
    /// `file_exists`: a file exists inside the workspace.
    FileExists {
        /// The relative path, with `/` as separator.
        path: String,
    },
    /// `file_exists` with a path template over `state` and `run`.
    FileExistsTemplate {
        /// The template of the path.
        path: TextTemplate,
    },
    /// `manual`: a person must approve.
    Manual {
        /// Who may decide, and what a decision needs.
        rules: ApprovalRules,
        /// Time for the decision. After it the gate stays closed, and a transition with
        /// `after: expired` can be taken.
        deadline: Option<DurationMillis>,
        /// Pointers of the document that the approval is for; the whole document if empty.
        subject: Vec<String>,
        /// What the approver is shown of the subject, in this order; the whole subject if empty.
        present: Vec<PresentationRule>,
        /// The question to the person: the gate's `description` as a template over `state` and
        /// `run`; a standard question if absent.
        question: Option<TextTemplate>,
    },
}

/// How an approval must have ended for a transition with `after` to be considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionTrigger {
    /// A person denied an approval of the phase.
    Denied,
    /// Nobody decided an approval of the phase before its deadline.
    Expired,
}

impl DecisionTrigger {
    /// The name in protocol files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Expired => "expired",
        }
    }

    /// What happened to the approval, for a sentence: `was denied`, `expired`.
    #[must_use]
    pub fn as_verb(self) -> &'static str {
        match self {
            Self::Denied => "was denied",
            Self::Expired => "expired",
        }
    }

    /// Parses the name in protocol files.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Denied, Self::Expired].into_iter().find(|one| one.as_str() == name)
    }
}

/// When a closed gate is evaluated again, or a failed effect is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Whether the delay grows.
    pub mode: RetryBackoff,
    /// Delay before the first retry.
    pub interval: DurationMillis,
    /// For an effect, the maximum number of attempts including the first; for a gate, the maximum
    /// number of further evaluations.
    pub max_attempts: u32,
}

/// How the delay between retries develops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryBackoff {
    /// The delay stays the same.
    Fixed,
    /// The delay doubles each time.
    Exponential,
}

impl RetryPolicy {
    /// Delay in milliseconds before retry number `attempt`, from 1. Doubling stops at one day, or
    /// at the interval if that is longer.
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
