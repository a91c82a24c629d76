//! Why an input was not taken, or a run could not be had.

use countersign_core::run::{CorruptLog, Rejection, Time};
use countersign_core::spec::Diagnostic;
use countersign_store::StoreError;
use thiserror::Error;

/// What went wrong between a caller and a run.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The run does not take this. Nothing changed.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// There is no such run.
    #[error("no run `{run}`{}", version.map_or_else(String::new, |version| format!(" at version {version}")))]
    NoRun {
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
        source: Box<CorruptLog>,
    },
    /// Its words were taken out when it had ended; what is left are hashes.
    #[error(
        "run `{run}` was pruned at {at}: its hashes are kept, and what was said and done in it is not"
    )]
    Pruned {
        /// Which.
        run: String,
        /// When.
        at: Time,
    },
    /// The protocol the run is pinned to is not there, or cannot be read any more.
    #[error("run `{run}` is pinned to protocol {digest}, which cannot be used: {why}")]
    Protocol {
        /// Which run.
        run: String,
        /// Its protocol.
        digest: String,
        /// Why not.
        why: String,
    },
    /// The protocol has faults.
    #[error("the protocol has {} faults", .0.len())]
    Faults(Vec<Diagnostic>),
    /// The run is not at the version that the caller decided on. Nothing changed.
    #[error("run `{run}` is at version {found}, expected {expected}")]
    Moved {
        /// Which.
        run: String,
        /// The version the caller had seen.
        expected: u64,
        /// The version it is at.
        found: u64,
    },
    /// The key was used before, for something else.
    #[error("the key was used for another input of run `{run}`, at version {version}")]
    OtherInput {
        /// Which.
        run: String,
        /// The version that took the key.
        version: u64,
    },
    /// A password would be recorded for good.
    #[error(
        "the address of the model has a user or a password in it, which would stand in the log; put the key into the environment instead"
    )]
    Credentials,
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
    pub fn corrupt(run: impl Into<String>, source: CorruptLog) -> Self {
        Self::Corrupt { run: run.into(), source: Box::new(source) }
    }
}
