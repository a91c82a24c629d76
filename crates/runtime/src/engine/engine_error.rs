//! Why an input was not taken, or a run could not be had.

use countersign_core::run::{CorruptLogError, InputRejection, Timestamp};
use countersign_core::source::Diagnostic;
use countersign_store::StoreError;
use thiserror::Error;

/// What went wrong between a caller and a run.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The run does not take this. Nothing changed.
    #[error(transparent)]
    Rejected(#[from] InputRejection),
    /// There is no such run.
    #[error("no run `{run}`{}", version.map_or_else(String::new, |version| format!(" at version {version}")))]
    RunNotFound {
        /// What was asked for.
        run: String,
        /// At which version, where one was named.
        version: Option<u64>,
    },
    /// The store could not do its part.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is kept of the run cannot be right.
    #[error("run `{run}` is damaged: {source}")]
    Corrupt {
        /// Which.
        run: String,
        /// Why.
        source: Box<CorruptLogError>,
    },
    /// Its words were taken out when it had ended; what is left are hashes.
    #[error(
        "run `{run}` was pruned pruned_at {pruned_at}: its hashes are kept, and what was said and done in it is not"
    )]
    RunPruned {
        /// Which.
        run: String,
        /// When.
        pruned_at: Timestamp,
    },
    /// The protocol the run is pinned to is not there, or cannot be read any more.
    #[error("run `{run}` is pinned to protocol {digest}, which cannot be used: {reason}")]
    ProtocolUnavailable {
        /// Which run.
        run: String,
        /// Its protocol.
        digest: String,
        /// Why not.
        reason: String,
    },
    /// The protocol has faults.
    #[error("the protocol has {} faults", .0.len())]
    InvalidProtocol(Vec<Diagnostic>),
    /// The run is not at the version that the caller decided on. Nothing changed.
    #[error("run `{run}` is at version {found}, expected {expected}")]
    VersionMismatch {
        /// Which.
        run: String,
        /// The version the caller had seen.
        expected: u64,
        /// The version it is at.
        found: u64,
    },
    /// The key was used before, for something else.
    #[error("the key was used for another input of run `{run}`, at version {version}")]
    KeyReused {
        /// Which.
        run: String,
        /// The version that took the key.
        version: u64,
    },
    /// A password would be recorded for good.
    #[error(
        "the address of the model has a user or a password in it, which would stand in the log; put the key into the environment instead"
    )]
    CredentialsInAddress,
    /// Another writer was first, again and again.
    #[error("run `{run}` changes faster than this input can be decided")]
    Contended {
        /// Which.
        run: String,
    },
}

impl EngineError {
    /// What is kept of a run cannot be right.
    #[must_use]
    pub fn corrupt(run: impl Into<String>, source: CorruptLogError) -> Self {
        Self::Corrupt { run: run.into(), source: Box::new(source) }
    }
}
