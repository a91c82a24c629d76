//! The outcome of an admission.

use super::{AcceptedValue, Violation};

/// The accepted value, or everything that is wrong with the reply.
#[derive(Debug, Clone, PartialEq)]
pub enum AdmissionVerdict {
    /// The value with its span, repairs and defaults.
    Accepted(Box<AcceptedValue>),
    /// All violations found; never empty.
    Refused(Vec<Violation>),
}

impl AdmissionVerdict {
    /// Returns the accepted value, or `None` if the reply was refused.
    #[must_use]
    pub fn as_accepted(&self) -> Option<&AcceptedValue> {
        match self {
            Self::Accepted(accepted) => Some(accepted),
            Self::Refused(_) => None,
        }
    }

    /// Returns the violations; empty if the reply was accepted.
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
