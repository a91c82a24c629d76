//! What a comparison says.

use serde_json::Value;

use super::change::Change;
use crate::contract::Compatibility;

/// Whether one contract takes everything the other takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It does, and that is proven.
    Yes,
    /// It does not.
    No {
        /// A value that one takes and the other refuses.
        witness: Value,
        /// The reply that carries it, where the value alone makes no difference.
        text: Option<String>,
        /// The violations of the one that refuses.
        because: Vec<String>,
    },
    /// Neither was proven.
    Unknown {
        /// What stands in the way of a proof.
        reason: String,
    },
}

/// Two versions of a contract, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Does the new one take all that the old one took?
    pub backward: Answer,
    /// Does the old one take all that the new one takes?
    pub forward: Answer,
    /// What changed, by place.
    pub changes: Vec<Change>,
}

impl Comparison {
    /// The relation in one word. What is not proven does not count.
    #[must_use]
    pub fn compatibility(&self) -> Compatibility {
        match (&self.backward, &self.forward) {
            (Answer::Yes, Answer::Yes) => Compatibility::Full,
            (Answer::Yes, _) => Compatibility::Backward,
            (_, Answer::Yes) => Compatibility::Forward,
            _ => Compatibility::Breaking,
        }
    }

    /// Whether a direction stayed undecided, so that the word may be too hard.
    #[must_use]
    pub fn undecided(&self) -> bool {
        [&self.backward, &self.forward]
            .into_iter()
            .any(|answer| matches!(answer, Answer::Unknown { .. }))
    }
}
