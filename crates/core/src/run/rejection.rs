//! Inputs that change nothing: told back to whoever brought them, and not recorded.

use thiserror::Error;

use crate::reply::Violation;

/// Why an input was not taken. The run is as it was.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum InputRejection {
    /// There is no such run yet.
    #[error("the run has not begun")]
    NotStarted,
    /// It has begun already.
    #[error("the run has begun already")]
    AlreadyStarted,
    /// It cannot begin like this.
    #[error("the run cannot begin: {reason}{}", format_violations_suffix(violations))]
    CannotStart {
        /// Why not.
        reason: String,
        /// What is wrong with its first document.
        violations: Vec<Violation>,
    },
    /// Nothing happens any more.
    #[error("the run is over: {how}")]
    Ended {
        /// How it ended.
        how: String,
    },
    /// There is no such wait.
    #[error("no wait `{wait}`; open are: {open}")]
    UnknownWait {
        /// What was asked for.
        wait: String,
        /// What there is.
        open: String,
    },
    /// The wait is over.
    #[error(
        "`{wait}` was closed already: one answer is taken, and this one came second or too late"
    )]
    AlreadyClosed {
        /// Which.
        wait: String,
    },
    /// The deadline has passed.
    #[error("`{wait}` could be answered until {deadline}; it is too late")]
    TooLate {
        /// Which.
        wait: String,
        /// Until when.
        deadline: String,
    },
    /// The wait takes something else.
    #[error("`{wait}` ({kind}) takes no such answer: {expected}")]
    WrongKind {
        /// Which.
        wait: String,
        /// What it is.
        kind: &'static str,
        /// What moves it.
        expected: &'static str,
    },
    /// Somebody else must answer.
    #[error("`{wait}` is for `{assignee}`; `{by}` may not answer it")]
    NotYours {
        /// Which.
        wait: String,
        /// Whose it is.
        assignee: String,
        /// Who tried.
        by: String,
    },
    /// The answer has another shape.
    #[error("the answer to `{wait}` does not fit: {}", format_violations(violations))]
    WrongShape {
        /// Which.
        wait: String,
        /// Everything wrong with it.
        violations: Vec<Violation>,
    },
    /// A result nobody waits for: a repeated one, or one of an order that was dropped.
    #[error("no order `{action}` is out; its result came before, or is not wanted any more")]
    UnknownOrder {
        /// The order.
        action: String,
    },
    /// A result of another kind than the order.
    #[error("order `{action}` is of kind {kind}, and this is the result of one of kind {received}")]
    WrongOrder {
        /// The order.
        action: String,
        /// What it is.
        kind: &'static str,
        /// What the result is of.
        received: &'static str,
    },
    /// A value that the log could not be read back with.
    #[error("the {what} nests {found} levels deep; at most {limit} can be kept")]
    TooDeep {
        /// What came.
        what: String,
        /// How deep.
        found: usize,
        /// How deep it may be.
        limit: usize,
    },
    /// A value that is out of proportion.
    #[error("the {what} has {found} bytes; at most {limit} can be kept")]
    TooLarge {
        /// What came.
        what: String,
        /// How many bytes it has as JSON.
        found: usize,
        /// How many it may have.
        limit: usize,
    },
    /// Nothing is due.
    #[error("nothing is due at this time")]
    NothingDue,
    /// There is nothing to hand in here.
    #[error("phase `{phase}` takes nothing by hand: {reason}")]
    NothingToSubmit {
        /// The phase.
        phase: String,
        /// Why not.
        reason: &'static str,
    },
    /// It is not halted, nor blocked.
    #[error("there is nothing to resume: the run is {status}")]
    NothingToResume {
        /// Where it stands.
        status: &'static str,
    },
    /// It is halted already.
    #[error("the run is halted already")]
    AlreadyHalted,
    /// The protocol is not the one the run is pinned to.
    #[error("the run is pinned to protocol {pinned}, and this is {actual}")]
    OtherProtocol {
        /// The digest of the run's.
        pinned: String,
        /// The digest that was given.
        actual: String,
    },
}

impl InputRejection {
    /// A stable word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotStarted => "not_started",
            Self::AlreadyStarted => "already_started",
            Self::CannotStart { .. } => "cannot_start",
            Self::Ended { .. } => "run_ended",
            Self::UnknownWait { .. } => "unknown_wait",
            Self::AlreadyClosed { .. } => "already_closed",
            Self::TooLate { .. } => "too_late",
            Self::WrongKind { .. } => "wrong_kind",
            Self::NotYours { .. } => "not_yours",
            Self::WrongShape { .. } => "wrong_shape",
            Self::UnknownOrder { .. } => "unknown_order",
            Self::WrongOrder { .. } => "wrong_order",
            Self::TooDeep { .. } => "too_deep",
            Self::TooLarge { .. } => "too_large",
            Self::NothingDue => "nothing_due",
            Self::NothingToSubmit { .. } => "nothing_to_submit",
            Self::NothingToResume { .. } => "nothing_to_resume",
            Self::AlreadyHalted => "already_halted",
            Self::OtherProtocol { .. } => "other_protocol",
        }
    }

    /// What was wrong with the value, where it was one.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        match self {
            Self::WrongShape { violations, .. } | Self::CannotStart { violations, .. } => {
                violations
            }
            _ => &[],
        }
    }
}

fn format_violations_suffix(violations: &[Violation]) -> String {
    if violations.is_empty() {
        String::new()
    } else {
        format!(": {}", format_violations(violations))
    }
}

fn format_violations(violations: &[Violation]) -> String {
    let told = violations.iter().map(|violation| violation.message.replacen("the reply: ", "", 1));
    told.collect::<Vec<_>>().join("; ")
}
