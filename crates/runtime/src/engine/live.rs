//! A run in memory: its state, and what the next commit must know of the log.

use std::sync::Arc;

use countersign_core::protocol::Protocol;
use countersign_core::run::{CorruptLog, GENESIS, State, fold};
use countersign_store::Loaded;
use serde::{Deserialize, Serialize};

/// The version of the format of snapshots.
const FORMAT: u32 = 1;

/// A snapshot is not worth its bytes below this: so much is folded in a millisecond or two.
const LEAST: usize = 64 * 1024;

/// A run in memory.
#[derive(Debug, Clone)]
pub struct Live {
    /// What it is.
    pub state: Arc<State>,
    /// The last hash of its log.
    pub hash: String,
    /// What it is pinned to.
    pub protocol: Arc<Protocol>,
    /// Bytes of events since the last snapshot.
    pub since: usize,
    /// Bytes of the last snapshot.
    pub snapshot: usize,
}

/// A snapshot as it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Kept<S> {
    v: u32,
    hash: String,
    state: S,
}

impl Live {
    /// Folds what the store gave.
    pub(super) fn of(loaded: &Loaded, protocol: Arc<Protocol>) -> Result<Self, CorruptLog> {
        let run = &loaded.head.run.id;
        let (mut state, mut hash, mut snapshot) = (State::blank(run), GENESIS.to_owned(), 0);
        if let Some(row) = &loaded.snapshot {
            let kept: Kept<State> = serde_json::from_str(&row.body).map_err(|error| {
                CorruptLog::Unreadable { seq: row.seq, message: format!("its snapshot: {error}") }
            })?;
            if kept.v > FORMAT {
                let message =
                    format!("its snapshot has format {}, and this program knows {FORMAT}", kept.v);
                return Err(CorruptLog::Unreadable { seq: row.seq, message });
            }
            (state, hash, snapshot) = (kept.state, kept.hash, row.body.len());
        }
        let mut since = 0;
        for row in &loaded.entries {
            fold(&mut state, &row.body)?;
            since += row.body.len();
            hash.clone_from(&row.hash);
        }
        Ok(Self { state: Arc::new(state), hash, protocol, since, snapshot })
    }

    /// A snapshot of this moment.
    pub(crate) fn snapshot(&self) -> String {
        let kept = Kept { v: FORMAT, hash: self.hash.clone(), state: &*self.state };
        serde_json::to_string(&kept).expect("a state is JSON")
    }

    /// A snapshot of this moment, when the events since the last one have outgrown it: so all
    /// snapshots together are no larger than the log, and loading reads a bounded share of it.
    pub(crate) fn due(&mut self) -> Option<String> {
        if self.since < self.snapshot.max(LEAST) {
            return None;
        }
        let body = self.snapshot();
        (self.since, self.snapshot) = (0, body.len());
        Some(body)
    }
}
