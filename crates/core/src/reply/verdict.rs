//! How an admission ended.

use super::{AcceptedValue, Violation};

/// Accepted, or everything that was wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum AdmissionVerdict {
    /// The value, and what was done to get it.
    Accepted(Box<AcceptedValue>),
    /// All violations; never empty.
    Refused(Vec<Violation>),
}

impl AdmissionVerdict {
    /// The accepted value, if there is one.
    #[must_use]
    pub fn as_accepted(&self) -> Option<&AcceptedValue> {
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

impl From<Result<AcceptedValue, Vec<Violation>>> for AdmissionVerdict {
    fn from(outcome: Result<AcceptedValue, Vec<Violation>>) -> Self {
        match outcome {
            Ok(accepted) => Self::Accepted(Box::new(accepted)),
            Err(violations) => Self::Refused(violations),
        }
    }
}
