//! Taking the bodies out of a run that has ended. Its hashes stay, and so does where it stood.

use crate::{RunId, SnapshotRow, StoreError};

/// What stands in the row of a run whose bodies were taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneSeal {
    /// When they were.
    pub pruned_at: i64,
    /// A digest of the rows of its log as they stood then, without the bodies: whoever prunes makes it, and whoever
    /// checks makes it again.
    pub digest: String,
}

/// What is to be taken out of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneRequest {
    /// The run.
    pub run: RunId,
    /// The version it must be at.
    pub version: u64,
    /// What is written down of it.
    pub seal: PruneSeal,
    /// States that stay, or are put down before the way to them is gone: others began there.
    pub kept_snapshots: Vec<SnapshotRow>,
    /// Digests of bytes that nobody else named at `since`. One that is named by what came after stays.
    pub blobs: Vec<String>,
    /// A moment of the store, from `Store::read_watermark`.
    pub since: StoreWatermark,
}

/// A moment of a store: what came after it can be told from what was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoreWatermark(pub i64);

/// What was taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PruneStats {
    /// How many versions lost their body.
    pub versions: u64,
    /// How many snapshots went.
    pub snapshots: u64,
    /// How many blobs went.
    pub blobs: u64,
    /// How many bytes all of these had.
    pub bytes: u64,
}

impl PruneStats {
    /// The same with what was taken out elsewhere.
    pub fn add(&mut self, other: Self) {
        self.versions += other.versions;
        self.snapshots += other.snapshots;
        self.blobs += other.blobs;
        self.bytes += other.bytes;
    }
}

/// What no store may do.
pub(crate) fn check_prune_request(pruning: &PruneRequest) -> Result<(), StoreError> {
    let beyond = |state: &&SnapshotRow| !(1..=pruning.version).contains(&state.version);
    if let Some(SnapshotRow { version, .. }) = pruning.kept_snapshots.iter().find(beyond) {
        let version = *version;
        return Err(StoreError::malformed(format!("there is no version {version} to keep")));
    }
    if pruning.seal.digest.is_empty() {
        return Err(StoreError::malformed("a seal must not be empty"));
    }
    Ok(())
}
