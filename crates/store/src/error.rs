//! Errors of a store. An error never contains the text of a row.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use crate::RunId;

/// The underlying error. Shared, because one failed flush fails many callers.
pub type SharedError = Arc<dyn Error + Send + Sync>;

/// Why a store call failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another writer committed first: load the run and decide again.
    #[error("the run is at version {found}, expected {expected}")]
    Conflict {
        /// The version that the writer had loaded.
        expected: u64,
        /// The version that is stored.
        found: u64,
    },
    /// The writer's lease is no longer current and another worker may hold the run: stop working on
    /// it.
    #[error("the lease with epoch {epoch} is no longer held; the run's epoch is {current}")]
    Fenced {
        /// Epoch of the writer's lease.
        epoch: u64,
        /// Epoch of the run's latest lease.
        current: u64,
    },
    /// The run accepted an input with this idempotency key before; the input itself did not fail.
    #[error("the idempotency key was already used, at version {version}")]
    DuplicateKey {
        /// The version that accepted it.
        version: u64,
    },
    /// The run does not exist.
    #[error("no run `{run}`")]
    NotFound {
        /// The run that was requested.
        run: RunId,
    },
    /// The request contains something no store may keep; nothing was kept.
    #[error("malformed request: {reason}")]
    Malformed {
        /// What is wrong with the request.
        reason: String,
    },
    /// A newer program wrote the database.
    #[error("the database has schema {found}; this program supports schemas up to {known}")]
    SchemaTooNew {
        /// Schema version of the database.
        found: u32,
        /// The newest schema version that this program supports.
        known: u32,
    },
    /// The database belongs to another program.
    #[error(
        "the file is a database of another program; expected a Countersign database or no file"
    )]
    ForeignDatabase,
    /// Another process kept the database locked for too long; nothing was kept.
    #[error("another process keeps the database locked")]
    Busy {
        /// The error from the database.
        #[source]
        source: SharedError,
    },
    /// The database failed; it is not known whether a write was kept.
    #[error("the database is not available")]
    Unavailable {
        /// The error from the database.
        #[source]
        source: SharedError,
    },
    /// The file at the path is not the one that is open; nothing was kept. The error goes away when
    /// the file is put back.
    #[error(
        "`{}` was deleted, moved or replaced while it was open; put it back, or restart this process", path.display()
    )]
    FileReplaced {
        /// Path of the database file or of its write-ahead log.
        path: PathBuf,
    },
    /// The disk has so little space left that commits may fail soon.
    #[error("the disk of the database has {free} bytes left but needs {required}; free some space")]
    LowDiskSpace {
        /// Bytes that are free.
        free: u64,
        /// Bytes that should be free.
        required: u64,
    },
    /// The database or its disk is full; nothing was kept.
    #[error("the database or its disk is full")]
    DiskFull,
    /// The stored data is inconsistent.
    #[error("the database is damaged: {reason}")]
    Corrupt {
        /// The inconsistency that was found.
        reason: String,
    },
    /// The store has stopped; it is not known whether a write was kept.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// Whether the error may go away by itself, so that a later retry may succeed.
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
