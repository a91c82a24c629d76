//! Why an input was rejected, or a run could not be loaded.

use countersign_contract::source::Diagnostic;
use countersign_run::{CorruptLogError, InputRejection, Timestamp};
use countersign_store::StoreError;
use thiserror::Error;

/// Errors of engine operations.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The run rejects the input. Nothing changed.
    #[error(transparent)]
    Rejected(#[from] InputRejection),
    /// The run does not exist, or does not have the requested version.
    #[error("no run `{run}`{}", version.map_or_else(String::new, |version| format!(" at version {version}")))]
    RunNotFound {
        /// Id of the requested run.
        run: String,
        /// The requested version; absent if the newest one was requested.
        version: Option<u64>,
    },
    /// The store returned an error.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stored data of the run is inconsistent.
    #[error("run `{run}` is damaged: {source}")]
    Corrupt {
        /// Id of the damaged run.
        run: String,
        /// What is inconsistent in the log.
        source: Box<CorruptLogError>,
    },
    /// The content of the run was removed after it ended; only hashes remain.
    #[error("run `{run}` was pruned at {pruned_at}: only its hashes are kept, not its content")]
    RunPruned {
        /// Id of the pruned run.
        run: String,
        /// When the run was pruned.
        pruned_at: Timestamp,
    },
    /// The protocol that the run is pinned to is missing or can no longer be loaded.
    #[error("run `{run}` is pinned to protocol {digest}, which cannot be used: {reason}")]
    ProtocolUnavailable {
        /// Id of the run that needs the protocol.
        run: String,
        /// Digest of the pinned protocol.
        digest: String,
        /// Why the protocol cannot be used.
        reason: String,
    },
    /// The protocol has faults, each with its location.
    #[error("the protocol has {} faults", .0.len())]
    InvalidProtocol(Vec<Diagnostic>),
    /// The run is not at the version that the caller expected. Nothing changed.
    #[error("run `{run}` is at version {found}, expected {expected}")]
    VersionMismatch {
        /// Id of the run that has changed.
        run: String,
        /// The version that the caller expected.
        expected: u64,
        /// The current version of the run.
        found: u64,
    },
    /// The idempotency key was used before for a different input.
    #[error(
        "the idempotency key was already used for another input of run `{run}`, at version {version}"
    )]
    KeyReused {
        /// Id of the run that has the key.
        run: String,
        /// The version that accepted the key.
        version: u64,
    },
    /// The address of the model contains credentials, which the log would record permanently.
    #[error(
        "the model address contains a user name or a password, which the log would record; put the key into an environment variable instead"
    )]
    CredentialsInAddress,
    /// A model that the run would use does not exist, or is not set up here. Nothing changed.
    #[error("cannot use model `{model}`: {reason}")]
    ModelUnavailable {
        /// Name of the model, without credentials.
        model: String,
        /// What is wrong with it, and what to correct.
        reason: String,
    },
    /// Other writers committed first on every attempt.
    #[error("run `{run}` changed during every attempt to process this input; try again")]
    Contended {
        /// Id of the contended run.
        run: String,
    },
}

impl EngineError {
    /// Creates the error for a run whose stored data is inconsistent.
    #[must_use]
    pub fn corrupt(run: impl Into<String>, source: CorruptLogError) -> Self {
        Self::Corrupt { run: run.into(), source: Box::new(source) }
    }
}
