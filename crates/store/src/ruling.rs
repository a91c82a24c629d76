//! Whether a commit may follow what is stored. Every store asks this one function, so that they
//! cannot disagree.

use crate::lease::Tenure;
use crate::{Commit, StoreError};

/// What a store knows about a run when a commit comes.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) version: u64,
    pub(crate) seq: u64,
    pub(crate) tenure: Tenure,
    pub(crate) wake_at: Option<i64>,
    /// The version that took the commit's key before.
    pub(crate) keyed: Option<u64>,
}

impl Standing {
    /// Lets a commit pass, or says why not.
    ///
    /// The key comes first: who repeats an input that was taken wants to hear just that, even where
    /// the lease is over and the version is not the one they knew.
    pub(crate) fn rule(&self, commit: &Commit) -> Result<(), StoreError> {
        if let Some(version) = self.keyed {
            return Err(StoreError::DuplicateKey { version });
        }
        if let Some(lease) = &commit.lease
            && !self.tenure.is(lease)
        {
            return Err(StoreError::Fenced { epoch: lease.epoch, current: self.tenure.epoch });
        }
        if commit.expected_version != self.version {
            return Err(StoreError::Conflict {
                expected: commit.expected_version,
                found: self.version,
            });
        }
        if commit.entry.first != self.seq + 1 {
            return Err(StoreError::malformed(format!(
                "the log ends at event {}, and the commit goes on with event {}",
                self.seq, commit.entry.first
            )));
        }
        Ok(())
    }

    /// Until when the lease runs after the commit.
    pub(crate) fn until(&self, commit: &Commit) -> i64 {
        commit.lease.as_ref().map_or(self.tenure.until, |lease| lease.until.max(self.tenure.until))
    }

    /// When the run is due after the commit.
    pub(crate) fn wake_at(&self, commit: &Commit) -> Option<i64> {
        let now = commit.entry.time;
        match (self.wake_at, commit.wake_at) {
            // A row of an index is not written at every step, and who waits longest comes first.
            (Some(since), Some(again)) if since <= now && again <= now => Some(since),
            (_, asked) => asked,
        }
    }
}
