//! Errors of exporting and importing runs.

use thiserror::Error;

use crate::engine::EngineError;
use crate::integrity::IntegrityError;

/// Why a run was not transferred. If a file was refused, nothing of it was stored.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The file is invalid.
    #[error("line {line}: {problem}")]
    File {
        /// Line of the file, counted from 1.
        line: usize,
        /// What is wrong with the line.
        problem: RunFileError,
    },
    /// The history in the file does not verify.
    #[error("the history of run `{run}` does not verify: {problem}")]
    InvalidHistory {
        /// Id of the run in the file.
        run: String,
        /// The first inconsistency.
        problem: Box<IntegrityError>,
    },
    /// The store has a run of this name with a different history.
    #[error(
        "run `{run}` already exists with a different history; the first difference is at version {version}"
    )]
    HistoryConflict {
        /// Id of the existing run.
        run: String,
        /// The first version that differs.
        version: u64,
    },
    /// Bytes that the run refers to are not in the store.
    #[error("run `{run}` cannot be exported completely: the bytes {digest} are not in the store")]
    MissingBlob {
        /// Id of the run to export.
        run: String,
        /// Digest of the missing bytes.
        digest: String,
    },
    /// Another writer changed the run during the import; import again to see the current state.
    #[error("another writer changed run `{run}` during the import; import it again")]
    ConcurrentChange {
        /// Id of the run that changed.
        run: String,
    },
    /// The run could not be loaded or stored.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// What is wrong with a line of a run file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunFileError {
    /// The line cannot be parsed.
    #[error("not a line of a run file: {0}")]
    Unreadable(String),
    /// The file has another format.
    #[error("expected a file of format `countersign-run`, found `{0}`")]
    WrongFormat(String),
    /// The file has a version of the format that this program does not support.
    #[error("the file has format version {0}; this program supports version 1")]
    UnsupportedVersion(u32),
    /// The line is not the one that is expected here.
    #[error("expected {expected}, found {found}")]
    UnexpectedLine {
        /// Description of the expected line.
        expected: String,
        /// Description of the line that was found.
        found: String,
    },
    /// The protocol cannot be used here.
    #[error("the protocol cannot be used: {0}")]
    Protocol(String),
    /// The content does not match its digest.
    #[error("expected the digest {expected}, found {found}")]
    DigestMismatch {
        /// The digest that the file states.
        expected: String,
        /// The digest of the content.
        found: String,
    },
}

impl RunFileError {
    pub(super) fn at_line(self, line: usize) -> TransferError {
        TransferError::File { line, problem: self }
    }
}
