//! A run in memory: its state, and what the next commit needs from the log.

use std::sync::Arc;

use countersign_protocol::Protocol;
use countersign_run::{CorruptLogError, GENESIS_HASH, RunState, fold_entry};
use countersign_store::LoadedRun;
use serde::{Deserialize, Serialize};

/// Version of the snapshot format.
const SNAPSHOT_FORMAT: u32 = 1;

/// Minimum size of the events before a snapshot is taken, in bytes: less can be folded in a
/// millisecond or two.
const MIN_SNAPSHOT_BYTES: usize = 64 * 1024;

/// A run in memory, at one version.
#[derive(Debug, Clone)]
pub struct LiveRun {
    /// The state at this version.
    pub state: Arc<RunState>,
    /// Hash of the last log entry.
    pub hash: String,
    /// The protocol that the run is pinned to.
    pub protocol: Arc<Protocol>,
    /// Bytes of log entries since the last snapshot.
    pub bytes_since_snapshot: usize,
    /// Size of the last snapshot in bytes; 0 if there is none.
    pub snapshot_bytes: usize,
}

/// A snapshot as it is stored.
#[derive(Debug, Serialize, Deserialize)]
struct SnapshotEnvelope<S> {
    v: u32,
    hash: String,
    state: S,
}

impl LiveRun {
    /// Folds the snapshot and the log entries that the store loaded.
    pub(super) fn from_loaded(
        loaded: &LoadedRun,
        protocol: Arc<Protocol>,
    ) -> Result<Self, CorruptLogError> {
        let run = &loaded.head.run.id;
        let (mut state, mut hash, mut snapshot) = (RunState::new(run), GENESIS_HASH.to_owned(), 0);
        if let Some(row) = &loaded.snapshot {
            let kept: SnapshotEnvelope<RunState> =
                serde_json::from_str(&row.body).map_err(|error| CorruptLogError::Unreadable {
                    seq: row.seq,
                    message: format!("cannot parse its snapshot: {error}"),
                })?;
            if kept.v > SNAPSHOT_FORMAT {
                let message = format!(
                    "its snapshot has format {}; this program supports up to {SNAPSHOT_FORMAT}",
                    kept.v
                );
                return Err(CorruptLogError::Unreadable { seq: row.seq, message });
            }
            (state, hash, snapshot) = (kept.state, kept.hash, row.body.len());
        }
        let mut since = 0;
        for row in &loaded.entries {
            fold_entry(&mut state, &row.body)?;
            since += row.body.len();
            hash.clone_from(&row.hash);
        }
        Ok(Self {
            state: Arc::new(state),
            hash,
            protocol,
            bytes_since_snapshot: since,
            snapshot_bytes: snapshot,
        })
    }

    /// Returns a snapshot of the current state as JSON.
    pub(crate) fn to_snapshot_json(&self) -> String {
        let kept =
            SnapshotEnvelope { v: SNAPSHOT_FORMAT, hash: self.hash.clone(), state: &*self.state };
        serde_json::to_string(&kept).expect("a run state serializes to JSON")
    }

    /// Returns a snapshot when the events since the last one exceed its size. This bounds all
    /// snapshots together by the size of the log, and loading reads a bounded share of it.
    pub(crate) fn take_due_snapshot(&mut self) -> Option<String> {
        if self.bytes_since_snapshot < self.snapshot_bytes.max(MIN_SNAPSHOT_BYTES) {
            return None;
        }
        let body = self.to_snapshot_json();
        (self.bytes_since_snapshot, self.snapshot_bytes) = (0, body.len());
        Some(body)
    }
}
