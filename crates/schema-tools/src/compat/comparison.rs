//! The result of comparing two versions of a contract.

use countersign_contract::contract::CompatibilityLevel;
use serde_json::Value;

use super::contract_change::ContractChange;

/// Whether one contract accepts everything that the other accepts.
#[derive(Debug, Clone, PartialEq)]
pub enum CompatOutcome {
    /// It does, and this is proven.
    Yes,
    /// It does not, and a witness shows it.
    No {
        /// A value that one contract accepts and the other refuses.
        witness: Value,
        /// A reply text that carries the value; present only if the contracts differ in the text,
        /// not in the value.
        reply_text: Option<String>,
        /// The violations of the contract that refuses, one line each.
        violations: Vec<String>,
    },
    /// Neither answer was proven.
    Unknown {
        /// What prevents a proof.
        reason: String,
    },
}

/// The comparison of two versions of a contract.
#[derive(Debug, Clone, PartialEq)]
pub struct ContractComparison {
    /// Whether the new version accepts everything that the old one accepts.
    pub backward: CompatOutcome,
    /// Whether the old version accepts everything that the new one accepts.
    pub forward: CompatOutcome,
    /// The changes from the old version to the new one, in the order of the schema; then those of
    /// rules, intake and repairs.
    pub changes: Vec<ContractChange>,
}

impl ContractComparison {
    /// Returns the compatibility level. An unproven direction counts as not compatible.
    #[must_use]
    pub fn compatibility(&self) -> CompatibilityLevel {
        match (&self.backward, &self.forward) {
            (CompatOutcome::Yes, CompatOutcome::Yes) => CompatibilityLevel::Full,
            (CompatOutcome::Yes, _) => CompatibilityLevel::Backward,
            (_, CompatOutcome::Yes) => CompatibilityLevel::Forward,
            _ => CompatibilityLevel::Breaking,
        }
    }

    /// Returns whether a direction is undecided, so that the level may be stricter than necessary.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        [&self.backward, &self.forward]
            .into_iter()
            .any(|answer| matches!(answer, CompatOutcome::Unknown { .. }))
    }
}
