//! Exit codes and errors of the program. Every command uses these codes and no others.

use std::process::ExitCode;

use countersign_contract::contract::ContractRegistryError;
use countersign_contract::source::Diagnostic;
use countersign_memory::compose::ComposeError;
use countersign_memory::render::RenderError;
use countersign_memory::store::{MemoryError, PacketRebuildError};
use countersign_models::ModelError;
use countersign_run::InputRejection;
use countersign_runtime::RuntimeBuildError;
use countersign_runtime::effect::EffectJournalError;
use countersign_runtime::engine::{DocumentAnswerError, EngineError};
use countersign_runtime::folder::FolderError;
use countersign_runtime::memory_context::MemoryDecisionError;
use countersign_runtime::projection::ProjectionError;
use countersign_runtime::transfer::TransferError;
use countersign_runtime::trust::TrustError;
use countersign_runtime::workspace::WorkspaceError;
use countersign_store::StoreError;
use thiserror::Error;

/// The meaning of an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CliExit {
    /// The command succeeded: done, accepted or compatible.
    Success = 0,
    /// The result is negative: refused or incompatible.
    Refused = 1,
    /// The command line or an author's file is invalid.
    InvalidInput = 2,
    /// The system failed, for example because of an unreadable file or a full disk.
    SystemError = 3,
}

impl From<CliExit> for ExitCode {
    fn from(exit: CliExit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command failed.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    /// The command line names something that does not exist or is not allowed.
    #[error("{0}")]
    Usage(String),
    /// An author's files contain errors.
    #[error("{} in your files", count_faults(.0.len()))]
    InvalidFiles(Vec<Diagnostic>),
    /// The run rejected the input. Nothing changed.
    #[error(transparent)]
    Rejected(InputRejection),
    /// The run was started without input, but its workflow requires some.
    #[error("{rejection}\n  provide it with `--input`: {question}")]
    MissingInput {
        /// Why the run did not start.
        rejection: InputRejection,
        /// The input that the workflow asks for.
        question: String,
    },
    /// The engine cannot load or change a run.
    #[error(transparent)]
    Engine(EngineError),
    /// The store cannot complete an operation.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The memory cannot complete an operation.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A call to a model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A memory packet cannot be composed.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// A memory packet cannot be rebuilt.
    #[error(transparent)]
    Rebuild(#[from] PacketRebuildError),
    /// A memory packet cannot be rendered as text.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A file of the workspace cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The effect journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] EffectJournalError),
    /// The engine or its driver cannot be opened.
    #[error(transparent)]
    Runtime(#[from] RuntimeBuildError),
    /// The trust file cannot be read or written.
    #[error(transparent)]
    Trust(TrustError),
    /// A state file cannot be read or written.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// A run cannot be exported or imported.
    #[error(transparent)]
    Transfer(TransferError),
    /// A file could not be written.
    #[error("cannot write {what}: {source}")]
    Unwritable {
        /// The file, as the user named it.
        what: String,
        /// The error that the system reported.
        source: std::io::Error,
    },
    /// A contract is unknown, or its name is already taken.
    #[error(transparent)]
    Registry(#[from] ContractRegistryError),
    /// A file could not be read.
    #[error("cannot read {what}: {source}")]
    Unreadable {
        /// The file, as the user named it.
        what: String,
        /// The error that the system reported.
        source: std::io::Error,
    },
}

impl CliError {
    /// Returns the exit code for this error.
    pub(crate) fn exit_code(&self) -> CliExit {
        match self {
            Self::Rejected(_)
            | Self::MissingInput { .. }
            | Self::Engine(EngineError::KeyReused { .. }) => CliExit::Refused,
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
                | EngineError::ModelUnavailable { .. }
                | EngineError::InvalidProtocol(_),
            ) => CliExit::InvalidInput,
            Self::Transfer(
                TransferError::MissingBlob { .. } | TransferError::ConcurrentChange { .. },
            ) => CliExit::SystemError,
            // The file was read but does not verify, so the result is negative.
            Self::Transfer(_) => CliExit::Refused,
            Self::Unreadable { .. }
            | Self::Unwritable { .. }
            | Self::Engine(_)
            | Self::Model(_)
            | Self::Store(_)
            | Self::Folder(_)
            | Self::Workspace(_)
            | Self::Journal(_)
            | Self::Runtime(_)
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

impl From<DocumentAnswerError> for CliError {
    fn from(error: DocumentAnswerError) -> Self {
        let detail = error.to_string();
        match error {
            DocumentAnswerError::Engine(error) => error.into(),
            DocumentAnswerError::Workspace(error) => Self::Workspace(error),
            _ => Self::Usage(detail),
        }
    }
}

impl From<MemoryDecisionError> for CliError {
    fn from(error: MemoryDecisionError) -> Self {
        match error {
            MemoryDecisionError::Memory(error) => Self::Memory(error),
            ambiguous @ MemoryDecisionError::Ambiguous { .. } => Self::Usage(ambiguous.to_string()),
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
