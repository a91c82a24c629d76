//! Why no packet can be composed.

/// A request that no packet answers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComposeError {
    /// Too few tokens for any packet.
    #[error("a packet needs at least {minimum} tokens, found {found}")]
    Budget {
        /// The least there may be.
        minimum: u64,
        /// What was asked for.
        found: u64,
    },
    /// Goal, constraints and slots are never left out, and do not fit.
    #[error("goal, constraints and slots need {needed} tokens, allowed are {allowed}")]
    StateFloor {
        /// What they need.
        needed: u64,
        /// What they may take.
        allowed: u64,
    },
    /// The time that the cues speak of is none.
    #[error("`cues.time_range.{field}` must be {expected}")]
    Cue {
        /// Which end.
        field: &'static str,
        /// What it may be.
        expected: &'static str,
    },
    /// A moment that no date can be written for.
    #[error("`as_of` must lie in the years 0 to 9999, found {found} milliseconds since 1970")]
    AsOf {
        /// The moment.
        found: i64,
    },
    /// A scope that names nothing.
    #[error(transparent)]
    Scope(#[from] crate::MemoryScopeError),
}
