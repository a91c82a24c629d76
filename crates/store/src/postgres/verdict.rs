//! What came of a commit, in the numbers of the stored function.

use crate::{Commit, StoreError};

/// The answer to one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) code: i32,
    pub(super) found: i64,
}

impl Verdict {
    /// The same in the words of a store.
    pub(super) fn rule(self, commit: &Commit) -> Result<(), StoreError> {
        let found = self.found as u64;
        match self.code {
            0 => Ok(()),
            1 => Err(StoreError::NotFound { run: commit.run.clone() }),
            2 => Err(StoreError::DuplicateKey { version: found }),
            3 => {
                let epoch = commit.lease.as_ref().map_or(0, |lease| lease.epoch);
                Err(StoreError::Fenced { epoch, current: found })
            }
            4 => Err(StoreError::Conflict { expected: commit.expected_version, found }),
            5 => Err(StoreError::malformed(format!(
                "the log ends at event {found}, and the commit goes on with event {}",
                commit.entry.first
            ))),
            other => Err(StoreError::Corrupt {
                what: format!("the server's function says {other}, expected 0 to 5"),
            }),
        }
    }
}
