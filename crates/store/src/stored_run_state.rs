//! Decides whether a commit may follow the stored state of a run. Every store calls this one
//! function, so that they cannot disagree.

use crate::lease::LeaseState;
use crate::{RunCommit, StoreError};

/// What a store knows about a run when a commit arrives.
#[derive(Debug)]
pub(crate) struct StoredRunState {
    pub(crate) version: u64,
    pub(crate) seq: u64,
    pub(crate) lease: LeaseState,
    pub(crate) wake_at: Option<i64>,
    /// The version that already used the commit's idempotency key.
    pub(crate) key_version: Option<u64>,
}

impl StoredRunState {
    /// Accepts a commit, or returns why not.
    ///
    /// The idempotency key is checked first: a caller that repeats an accepted input must get
    /// `DuplicateKey`, even if its lease has expired and the version has changed.
    pub(crate) fn validate_commit(&self, commit: &RunCommit) -> Result<(), StoreError> {
        if let Some(version) = self.key_version {
            return Err(StoreError::DuplicateKey { version });
        }
        if let Some(lease) = &commit.lease
            && !self.lease.matches_lease(lease)
        {
            return Err(StoreError::Fenced { epoch: lease.epoch, current: self.lease.epoch });
        }
        if commit.expected_version != self.version {
            return Err(StoreError::Conflict {
                expected: commit.expected_version,
                found: self.version,
            });
        }
        if commit.entry.first_seq != self.seq + 1 {
            return Err(StoreError::malformed(format!(
                "the log ends at event {}, but the commit continues with event {}",
                self.seq, commit.entry.first_seq
            )));
        }
        Ok(())
    }

    /// Expiry of the lease after the commit.
    pub(crate) fn next_lease_until(&self, commit: &RunCommit) -> i64 {
        commit.lease.as_ref().map_or(self.lease.until, |lease| lease.until.max(self.lease.until))
    }

    /// When the run is due after the commit.
    pub(crate) fn next_wake_at(&self, commit: &RunCommit) -> Option<i64> {
        let now = commit.entry.time;
        match (self.wake_at, commit.wake_at) {
            // The earlier time stays: the index row is not rewritten at every step, and the run
            // that has been due longest comes first.
            (Some(since), Some(again)) if since <= now && again <= now => Some(since),
            (_, asked) => asked,
        }
    }
}
