//! The result of a commit, as the codes of the stored function.

use crate::{RunCommit, StoreError};

/// The stored function's result for one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PgCommitVerdict {
    pub(super) code: i32,
    pub(super) observed: i64,
}

impl PgCommitVerdict {
    /// Converts the code to a store result.
    pub(super) fn to_result(self, commit: &RunCommit) -> Result<(), StoreError> {
        let found = self.observed as u64;
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
                "the log ends at event {found}, but the commit continues with event {}",
                commit.entry.first_seq
            ))),
            other => Err(StoreError::Corrupt {
                reason: format!("the server's function returned {other}, expected 0 to 5"),
            }),
        }
    }
}
