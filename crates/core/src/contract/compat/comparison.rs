//! What a comparison says.

use serde_json::Value;

use super::contract_change::ContractChange;
use crate::contract::CompatibilityLevel;

/// Whether one contract takes everything the other takes.
#[derive(Debug, Clone, PartialEq)]
pub enum CompatOutcome {
    /// It does, and that is proven.
    Yes,
    /// It does not.
    No {
        /// A value that one takes and the other refuses.
        witness: Value,
        /// The reply that carries it, where the value alone makes no difference.
        reply_text: Option<String>,
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
pub struct ContractComparison {
    /// Does the new one take all that the old one took?
    pub backward: CompatOutcome,
    /// Does the old one take all that the new one takes?
    pub forward: CompatOutcome,
    /// What changed, by place.
    pub changes: Vec<ContractChange>,
}

impl ContractComparison {
    /// The relation in one word. What is not proven does not count.
    #[must_use]
    pub fn compatibility(&self) -> CompatibilityLevel {
        match (&self.backward, &self.forward) {
            (CompatOutcome::Yes, CompatOutcome::Yes) => CompatibilityLevel::Full,
            (CompatOutcome::Yes, _) => CompatibilityLevel::Backward,
            (_, CompatOutcome::Yes) => CompatibilityLevel::Forward,
            _ => CompatibilityLevel::Breaking,
        }
    }

    /// Whether a direction stayed undecided, so that the word may be too hard.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        [&self.backward, &self.forward]
            .into_iter()
            .any(|answer| matches!(answer, CompatOutcome::Unknown { .. }))
    }
}
