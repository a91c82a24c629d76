//! What a memory says when it does not do what was asked. Never holds the words of a row.

use countersign_store::StoreError;

use crate::MemoryScopeError;
use crate::rules::MemoryRefusal;

/// Why a memory did not do what was asked. Nothing was kept.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// Another writer was first: read again and write again.
    #[error("the working state is at version {found}, expected {expected}")]
    Conflict {
        /// The version the writer had seen.
        expected: u64,
        /// The version that is there.
        found: u64,
    },
    /// The rules do not let it in.
    #[error(transparent)]
    Refused(#[from] MemoryRefusal),
    /// It names no scope.
    #[error(transparent)]
    Scope(#[from] MemoryScopeError),
    /// There is no such row in this scope.
    #[error("no {kind} `{id}` in this scope")]
    NotFound {
        /// What was asked for.
        kind: &'static str,
        /// Its id.
        id: String,
    },
    /// A candidate was ruled on already.
    #[error("candidate `{id}` was ruled on already: it was {found}")]
    AlreadyDecided {
        /// Its id.
        id: String,
        /// What became of it.
        found: &'static str,
    },
    /// An embedder made vectors of another length before: it is another one now.
    #[error(
        "vectors of `{embedder}` have {expected} numbers here, found {found}; expected another name for another embedder"
    )]
    Dimensions {
        /// Its name.
        embedder: String,
        /// How many numbers those have that are here.
        expected: usize,
        /// How many this one has.
        found: usize,
    },
    /// A build cannot be composed again: a row it used was swept or forgotten.
    #[error("{}", describe_gone(kind, id, *revision))]
    RowGone {
        /// What it was.
        kind: &'static str,
        /// Its id; empty where it was forgotten with whoever said it.
        id: String,
        /// Which revision.
        revision: u64,
    },
    /// The store below could not.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for MemoryError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

fn describe_gone(kind: &str, id: &str, revision: u64) -> String {
    match id {
        "" => format!("a {} of it was forgotten", kind.replace('_', " ")),
        id => format!("{kind} `{id}` in revision {revision} is not kept any more"),
    }
}

/// What cannot be read back.
pub(super) fn corrupt_error(what: impl Into<String>) -> MemoryError {
    StoreError::Corrupt { reason: what.into() }.into()
}
