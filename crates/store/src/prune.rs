//! Removing the bodies from a run that has ended. Its hashes and its head stay.

use crate::{RunId, SnapshotRow, StoreError};

/// What the row of a run holds after its bodies were removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneSeal {
    /// When the bodies were removed, in milliseconds since the Unix epoch.
    pub pruned_at: i64,
    /// Digest of the log rows at that time, without the bodies. The caller that prunes computes it,
    /// and a caller that verifies computes it again.
    pub digest: String,
}

/// What to remove from a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneRequest {
    /// Run to prune.
    pub run: RunId,
    /// The version that the run must be at.
    pub version: u64,
    /// The seal to write into the run's row.
    pub seal: PruneSeal,
    /// Snapshots that stay, or that are written before the entries that lead to them are removed,
    /// because other runs start from them.
    pub kept_snapshots: Vec<SnapshotRow>,
    /// Digests of blobs that nothing else referred to at `since`. A blob that a later commit refers
    /// to stays.
    pub blobs: Vec<String>,
    /// A store position from `StoreMaintenance::read_watermark`.
    pub since: StoreWatermark,
}

/// A position of a store: it separates what was written before it from what was written after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoreWatermark(pub i64);

/// Counts of what pruning removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PruneStats {
    /// Number of versions that lost their body.
    pub versions: u64,
    /// Number of snapshots that were removed.
    pub snapshots: u64,
    /// Number of blobs that were removed.
    pub blobs: u64,
    /// Total size in bytes of everything that was removed.
    pub bytes: u64,
}

impl PruneStats {
    /// Adds the counts of another pruning to these.
    pub fn add(&mut self, other: Self) {
        self.versions += other.versions;
        self.snapshots += other.snapshots;
        self.blobs += other.blobs;
        self.bytes += other.bytes;
    }
}

/// Rejects requests that no store may carry out.
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
