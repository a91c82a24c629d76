//! Why nothing was learned of a model.

use countersign_core::reply::Violation;
use countersign_memory::store::MemoryError;
use countersign_models::ModelError;

/// Why nothing was learned. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ExtractionError {
    /// The memory could not, or would not.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The model did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// What it answered breaks its contract, also after it was asked again.
    #[error(
        "`{model}` was refused by the contract `{contract}` {attempts} times; the last reply has {} of it",
        format_violation_count(.violations.len())
    )]
    Refused {
        /// Who answered.
        model: String,
        /// The contract.
        contract: String,
        /// How often it was asked.
        attempts: u32,
        /// What was wrong with the last reply.
        violations: Vec<Violation>,
    },
    /// There is nothing that a model could be shown.
    #[error("there is nothing to learn from: session `{session}` has no events that may be seen")]
    NoEvents {
        /// The session.
        session: String,
    },
}

fn format_violation_count(violations: usize) -> String {
    if violations == 1 { "1 violation".to_owned() } else { format!("{violations} violations") }
}
