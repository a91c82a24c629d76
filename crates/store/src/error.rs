//! What a store says when it cannot do what was asked. Never holds the text of a row.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use crate::RunId;

/// The error below ours. Shared, because one failed flush fails many callers.
pub type SharedError = Arc<dyn Error + Send + Sync>;

/// Why a store did not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another writer was first: load again and decide again.
    #[error("the run is at version {found}, expected {expected}")]
    Conflict {
        /// The version the writer had seen.
        expected: u64,
        /// The version that is there.
        found: u64,
    },
    /// The writer's lease is over, and someone else may hold the run: stop working on it.
    #[error("the lease with epoch {epoch} is not held any more; the run's epoch is {current}")]
    Fenced {
        /// The epoch the writer had.
        epoch: u64,
        /// The epoch of the run's last lease.
        current: u64,
    },
    /// The input with this key was taken before: this is no failure of the input.
    #[error("the idempotency key was taken before, at version {version}")]
    DuplicateKey {
        /// The version that took it.
        version: u64,
    },
    /// There is no such run.
    #[error("no run `{run}`")]
    NotFound {
        /// The run that was asked for.
        run: RunId,
    },
    /// The caller asked for something no store may keep; nothing was kept.
    #[error("not a well-formed request: {reason}")]
    Malformed {
        /// What is wrong with it.
        reason: String,
    },
    /// The file was written by a newer program.
    #[error("the database has schema {found}, this program knows schemas up to {known}")]
    SchemaTooNew {
        /// The schema of the file.
        found: u32,
        /// The newest schema this program knows.
        known: u32,
    },
    /// The database belongs to another program.
    #[error("the file is a database of another program: expected one of Countersign, or none")]
    ForeignDatabase,
    /// Another process kept the database for too long; nothing was kept.
    #[error("the database is kept busy by another process")]
    Busy {
        /// What the database said.
        #[source]
        source: SharedError,
    },
    /// The database did not do its work; whether a write was kept is not known.
    #[error("the database is not available")]
    Unavailable {
        /// What the database said.
        #[source]
        source: SharedError,
    },
    /// The file at the path is not the one that is open; nothing was kept. Passes when the file is put back.
    #[error(
        "`{}` was deleted, moved or replaced while it was open; put it back, or restart this process", path.display()
    )]
    FileReplaced {
        /// The file, or its write-ahead log.
        path: PathBuf,
    },
    /// So little room is left on the disk that commits may fail soon.
    #[error(
        "the disk of the database has {free} bytes left, and needs {required}: free some space"
    )]
    LowDiskSpace {
        /// Bytes that are free.
        free: u64,
        /// Bytes that should be.
        required: u64,
    },
    /// There is no room for more; nothing was kept.
    #[error("the database or its disk is full")]
    DiskFull,
    /// What is stored cannot be right.
    #[error("the database is damaged: {reason}")]
    Corrupt {
        /// What was found.
        reason: String,
    },
    /// The store has stopped; whether a write was kept is not known.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// Whether it may pass by itself: asking again later may help.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Busy { .. }
                | Self::Unavailable { .. }
                | Self::FileReplaced { .. }
                | Self::DiskFull
        )
    }

    pub(crate) fn malformed(what: impl Into<String>) -> Self {
        Self::Malformed { reason: what.into() }
    }
}
