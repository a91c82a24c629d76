//! Why an extraction failed.

use countersign_contract::reply::Violation;
use countersign_memory::store::MemoryError;
use countersign_models::ModelError;

/// Why an extraction failed. Nothing was stored.
#[derive(Debug, thiserror::Error)]
pub enum ExtractionError {
    /// The memory returned an error or refused.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The model returned an error.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The replies violate the contract, also after retries.
    #[error(
        "contract `{contract}` refused the reply of `{model}` {attempts} times; the last reply has {}",
        format_violation_count(.violations.len())
    )]
    Refused {
        /// Name of the model.
        model: String,
        /// Id of the contract.
        contract: String,
        /// How many times the model was asked.
        attempts: u32,
        /// The violations of the last reply.
        violations: Vec<Violation>,
    },
    /// The session has no visible events.
    #[error("session `{session}` has no visible events to learn from")]
    NoEvents {
        /// Id of the session.
        session: String,
    },
}

fn format_violation_count(violations: usize) -> String {
    if violations == 1 { "1 violation".to_owned() } else { format!("{violations} violations") }
}
