//! How the program ends. Every command uses these codes and no others.

use std::process::ExitCode;

use countersign_core::contract::RegistryError;
use countersign_core::run::Rejection;
use countersign_core::spec::Diagnostic;
use countersign_memory::compose::ComposeError;
use countersign_memory::render::RenderError;
use countersign_memory::store::{MemoryError, RebuildError};
use countersign_models::ModelError;
use countersign_runtime::effect::JournalError;
use countersign_runtime::engine::EngineError;
use countersign_runtime::folder::FolderError;
use countersign_runtime::projection::ProjectionError;
use countersign_runtime::transfer::TransferError;
use countersign_runtime::trust::TrustError;
use countersign_runtime::workspace::WorkspaceError;
use countersign_store::StoreError;
use thiserror::Error;

/// The meaning of an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; accepted; compatible.
    Good = 0,
    /// The answer is no: refused, incompatible.
    Refused = 1,
    /// The command line or an author's file is wrong.
    Author = 2,
    /// The outside world: a file that cannot be read, a disk that is full.
    World = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command could not do what was asked.
#[derive(Debug, Error)]
pub(crate) enum Error {
    /// The command line asks for something that is not there.
    #[error("{0}")]
    Usage(String),
    /// An author's files have faults.
    #[error("{} in your files", count(.0.len()))]
    Author(Vec<Diagnostic>),
    /// A run does not take what was given. Nothing changed.
    #[error(transparent)]
    Rejected(Rejection),
    /// The same where it was given nothing, and its workflow asks for something.
    #[error("{rejection}\n  `--input` gives what is asked for: {question}")]
    NotGiven {
        /// Why it does not begin.
        rejection: Rejection,
        /// What the workflow asks.
        question: String,
    },
    /// A run cannot be had.
    #[error(transparent)]
    Engine(EngineError),
    /// The store cannot do its part.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The memory did not do what was asked.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A model did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// No packet can be composed.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// A packet cannot be composed again.
    #[error(transparent)]
    Rebuild(#[from] RebuildError),
    /// A packet cannot be written as text.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A file of the workspace cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The notes about effects cannot be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The file of trust cannot be used.
    #[error(transparent)]
    Trust(TrustError),
    /// A state file cannot be used.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// A run did not go into a file, or come out of one.
    #[error(transparent)]
    Transfer(TransferError),
    /// A file could not be written.
    #[error("cannot write {what}: {source}")]
    Unwritable {
        /// The file, as it was named.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A contract is unknown, or claims a name that is taken.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A file could not be read.
    #[error("cannot read {what}: {source}")]
    Unreadable {
        /// The file, as it was named.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Error {
    /// The code this ends with.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Rejected(_) | Self::NotGiven { .. } => Exit::Refused,
            Self::Memory(MemoryError::Scope(_) | MemoryError::NotFound { .. }) => Exit::Author,
            Self::Memory(MemoryError::Store(_)) => Exit::World,
            Self::Memory(_) | Self::Compose(_) | Self::Rebuild(_) | Self::Render(_) => {
                Exit::Refused
            }
            Self::Usage(_) | Self::Author(_) | Self::Registry(_) => Exit::Author,
            Self::Engine(
                EngineError::NoRun { .. }
                | EngineError::Pruned { .. }
                | EngineError::Credentials
                | EngineError::Faults(_),
            ) => Exit::Author,
            Self::Transfer(TransferError::Lost { .. } | TransferError::Changed { .. }) => {
                Exit::World
            }
            // The file was read, and it does not hold: the answer is no.
            Self::Transfer(_) => Exit::Refused,
            Self::Unreadable { .. }
            | Self::Unwritable { .. }
            | Self::Engine(_)
            | Self::Model(_)
            | Self::Store(_)
            | Self::Folder(_)
            | Self::Workspace(_)
            | Self::Journal(_)
            | Self::Trust(_)
            | Self::Projection(_) => Exit::World,
        }
    }
}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Rejected(rejection) => Self::Rejected(rejection),
            EngineError::Faults(faults) => Self::Author(faults),
            other => Self::Engine(other),
        }
    }
}

impl From<TransferError> for Error {
    fn from(error: TransferError) -> Self {
        match error {
            TransferError::Engine(error) => error.into(),
            other => Self::Transfer(other),
        }
    }
}

fn count(faults: usize) -> String {
    if faults == 1 { "1 fault".to_owned() } else { format!("{faults} faults") }
}
