//! How the program ends. Every command uses these codes and no others.

use std::process::ExitCode;

use countersign_core::contract::ContractRegistryError;
use countersign_core::run::InputRejection;
use countersign_core::source::Diagnostic;
use countersign_memory::compose::ComposeError;
use countersign_memory::render::RenderError;
use countersign_memory::store::{MemoryError, PacketRebuildError};
use countersign_models::ModelError;
use countersign_runtime::effect::EffectJournalError;
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
pub(crate) enum CliExit {
    /// Done; accepted; compatible.
    Success = 0,
    /// The answer is no: refused, incompatible.
    Refused = 1,
    /// The command line or an author's file is wrong.
    InvalidInput = 2,
    /// The outside world: a file that cannot be read, a disk that is full.
    SystemError = 3,
}

impl From<CliExit> for ExitCode {
    fn from(exit: CliExit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command could not do what was asked.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    /// The command line asks for something that is not there.
    #[error("{0}")]
    Usage(String),
    /// An author's files have faults.
    #[error("{} in your files", count_faults(.0.len()))]
    InvalidFiles(Vec<Diagnostic>),
    /// A run does not take what was given. Nothing changed.
    #[error(transparent)]
    Rejected(InputRejection),
    /// The same where it was given nothing, and its workflow asks for something.
    #[error("{rejection}\n  `--input` gives what is asked for: {question}")]
    MissingInput {
        /// Why it does not begin.
        rejection: InputRejection,
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
    Rebuild(#[from] PacketRebuildError),
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
    Journal(#[from] EffectJournalError),
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
    Registry(#[from] ContractRegistryError),
    /// A file could not be read.
    #[error("cannot read {what}: {source}")]
    Unreadable {
        /// The file, as it was named.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl CliError {
    /// The code this ends with.
    pub(crate) fn exit_code(&self) -> CliExit {
        match self {
            Self::Rejected(_) | Self::MissingInput { .. } => CliExit::Refused,
            Self::Memory(MemoryError::Scope(_) | MemoryError::NotFound { .. }) => {
                CliExit::InvalidInput
            }
            Self::Memory(MemoryError::Store(_)) => CliExit::SystemError,
            Self::Memory(_) | Self::Compose(_) | Self::Rebuild(_) | Self::Render(_) => {
                CliExit::Refused
            }
            Self::Usage(_) | Self::InvalidFiles(_) | Self::Registry(_) => CliExit::InvalidInput,
            Self::Engine(
                EngineError::RunNotFound { .. }
                | EngineError::RunPruned { .. }
                | EngineError::CredentialsInAddress
                | EngineError::InvalidProtocol(_),
            ) => CliExit::InvalidInput,
            Self::Transfer(
                TransferError::MissingBlob { .. } | TransferError::ConcurrentChange { .. },
            ) => CliExit::SystemError,
            // The file was read, and it does not hold: the answer is no.
            Self::Transfer(_) => CliExit::Refused,
            Self::Unreadable { .. }
            | Self::Unwritable { .. }
            | Self::Engine(_)
            | Self::Model(_)
            | Self::Store(_)
            | Self::Folder(_)
            | Self::Workspace(_)
            | Self::Journal(_)
            | Self::Trust(_)
            | Self::Projection(_) => CliExit::SystemError,
        }
    }
}

impl From<EngineError> for CliError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Rejected(rejection) => Self::Rejected(rejection),
            EngineError::InvalidProtocol(faults) => Self::InvalidFiles(faults),
            other => Self::Engine(other),
        }
    }
}

impl From<TransferError> for CliError {
    fn from(error: TransferError) -> Self {
        match error {
            TransferError::Engine(error) => error.into(),
            other => Self::Transfer(other),
        }
    }
}

fn count_faults(faults: usize) -> String {
    if faults == 1 { "1 fault".to_owned() } else { format!("{faults} faults") }
}
