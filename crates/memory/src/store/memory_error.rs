//! Errors of the memory. Messages never contain the words of a row.

use countersign_store::StoreError;

use crate::MemoryScopeError;
use crate::rules::MemoryRefusal;

/// The reason why a memory operation failed. Nothing was stored.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// Another writer was first; read again and retry.
    #[error("the working state is at version {found}, expected {expected}")]
    Conflict {
        /// The version that the writer had read.
        expected: u64,
        /// The current version.
        found: u64,
    },
    /// The rules refused the write.
    #[error(transparent)]
    Refused(#[from] MemoryRefusal),
    /// The scope is invalid.
    #[error(transparent)]
    Scope(#[from] MemoryScopeError),
    /// The scope has no such row.
    #[error("no {kind} `{id}` in this scope")]
    NotFound {
        /// The kind of the requested row.
        kind: &'static str,
        /// The id of the requested row.
        id: String,
    },
    /// The candidate already has a decision.
    #[error("candidate `{id}` was already decided: it was {found}")]
    AlreadyDecided {
        /// The id of the candidate.
        id: String,
        /// The decision, as a word.
        found: &'static str,
    },
    /// The embedder has produced vectors of another length before, so it is a different embedder
    /// now.
    #[error(
        "vectors of `{embedder}` have {expected} numbers here, found {found}; use a different name for a different embedder"
    )]
    Dimensions {
        /// The name of the embedder.
        embedder: String,
        /// The number of dimensions of the stored vectors.
        expected: usize,
        /// The number of dimensions of the new vector.
        found: usize,
    },
    /// The build cannot be composed again, because a row that it used was swept or erased.
    #[error("{}", describe_gone(kind, id, *revision))]
    RowGone {
        /// The kind of the missing row.
        kind: &'static str,
        /// The id of the row; empty if it was erased together with its author.
        id: String,
        /// The revision of the row.
        revision: u64,
    },
    /// The underlying store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[cfg(feature = "sqlite")]
impl From<rusqlite::Error> for MemoryError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

fn describe_gone(kind: &str, id: &str, revision: u64) -> String {
    match id {
        "" => format!("a {} that it uses was forgotten", kind.replace('_', " ")),
        id => format!("revision {revision} of {kind} `{id}` is no longer stored"),
    }
}

/// Creates an error for stored data that cannot be read.
pub(super) fn corrupt_error(what: impl Into<String>) -> MemoryError {
    StoreError::Corrupt { reason: what.into() }.into()
}
