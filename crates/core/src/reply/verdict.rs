//! How an admission ended.

use super::{Accepted, Violation};

/// Accepted, or everything that was wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The value, and what was done to get it.
    Accepted(Box<Accepted>),
    /// All violations; never empty.
    Refused(Vec<Violation>),
}

impl Verdict {
    /// The accepted value, if there is one.
    #[must_use]
    pub fn accepted(&self) -> Option<&Accepted> {
        match self {
            Self::Accepted(accepted) => Some(accepted),
            Self::Refused(_) => None,
        }
    }

    /// The violations; none where the reply was accepted.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        match self {
            Self::Accepted(_) => &[],
            Self::Refused(violations) => violations,
        }
    }
}

impl From<Result<Accepted, Vec<Violation>>> for Verdict {
    fn from(outcome: Result<Accepted, Vec<Violation>>) -> Self {
        match outcome {
            Ok(accepted) => Self::Accepted(Box::new(accepted)),
            Err(violations) => Self::Refused(violations),
        }
    }
}
