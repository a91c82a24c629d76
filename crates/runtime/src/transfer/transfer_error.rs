//! Why a run did not go into a file, or come out of one.

use thiserror::Error;

use crate::engine::EngineError;
use crate::integrity::IntegrityError;

/// Why a run was not moved. Where a file was refused, nothing of it was kept.
#[derive(Debug, Error)]
pub enum TransferError {
    /// The file is not what it says it is.
    #[error("line {line}: {problem}")]
    File {
        /// Which line of the file, from 1.
        line: usize,
        /// What is wrong with it.
        problem: RunFileError,
    },
    /// The history in the file does not prove itself.
    #[error("the history of run `{run}` does not hold: {problem}")]
    InvalidHistory {
        /// The run.
        run: String,
        /// Where it fails.
        problem: Box<IntegrityError>,
    },
    /// The store has a run of this name, and something else happened in it.
    #[error("run `{run}` is here already with another history: they part at version {version}")]
    HistoryConflict {
        /// The run.
        run: String,
        /// The first event that differs.
        version: u64,
    },
    /// Bytes that the run speaks of are not in the store.
    #[error("run `{run}` cannot be exported whole: the bytes {digest} are not in the store")]
    MissingBlob {
        /// The run.
        run: String,
        /// Their digest.
        digest: String,
    },
    /// Something changed the run while it was imported; importing again tells what is now true.
    #[error("run `{run}` was changed by somebody else while it was imported")]
    ConcurrentChange {
        /// The run.
        run: String,
    },
    /// The run cannot be had, or kept.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// What is wrong with a line of a file.
#[derive(Debug, Error)]
pub enum RunFileError {
    /// It is no line of such a file.
    #[error("not a line of a run's file: {0}")]
    Unreadable(String),
    /// The file is another kind of file.
    #[error("expected a file of format `countersign-run`, found `{0}`")]
    WrongFormat(String),
    /// The file was written by a newer program.
    #[error("the file has version {0} of the format, and this program knows version 1")]
    UnsupportedVersion(u32),
    /// Something stands where something else belongs.
    #[error("expected {expected}, found {found}")]
    UnexpectedLine {
        /// What belongs here.
        expected: String,
        /// What stands here.
        found: String,
    },
    /// The protocol cannot be used here.
    #[error("the protocol cannot be used: {0}")]
    Protocol(String),
    /// Something does not have the digest it is under.
    #[error("expected the digest {expected}, found {found}")]
    DigestMismatch {
        /// What it is under.
        expected: String,
        /// What it has.
        found: String,
    },
}

impl RunFileError {
    pub(super) fn at_line(self, line: usize) -> TransferError {
        TransferError::File { line, problem: self }
    }
}
