//! Errors of composing a packet.

/// The reason why a packet cannot be composed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComposeError {
    /// The token budget is below the minimum.
    #[error("a packet needs at least {minimum} tokens, found {found}")]
    Budget {
        /// The minimum budget in tokens.
        minimum: u64,
        /// The requested budget in tokens.
        found: u64,
    },
    /// Goal, constraints and slots are never left out, and they do not fit.
    #[error("goal, constraints and slots need {needed} tokens; the limit is {allowed}")]
    StateFloor {
        /// The number of tokens they need.
        needed: u64,
        /// The number of tokens they may use.
        allowed: u64,
    },
    /// The time range of the cues is invalid.
    #[error("`cues.time_range.{field}` must be {expected}")]
    Cue {
        /// The invalid end of the range: `start` or `end`.
        field: &'static str,
        /// A description of the allowed values.
        expected: &'static str,
    },
    /// The timestamp of the request cannot be written as a date with a four-digit year.
    #[error("`as_of` must be in the years 0 to 9999, found {found} milliseconds since 1970")]
    AsOf {
        /// The timestamp in Unix milliseconds.
        found: i64,
    },
    /// The scope of the request is invalid.
    #[error(transparent)]
    Scope(#[from] crate::MemoryScopeError),
}
