//! Where runs stand, how they are listed, and what their state is folded from.

use crate::{Lease, LogEntryRow, MAX_WORKER_DEATHS, PruneSeal, RunId, SnapshotRow, TenantId};

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunHead {
    /// The run.
    pub run: RunId,
    /// The digest of the protocol it runs.
    pub protocol: String,
    /// The workflow of that protocol.
    pub workflow: String,
    /// When it was created.
    pub created_at: i64,
    /// How many commits it has had.
    pub version: u64,
    /// The last event of its log.
    pub seq: u64,
    /// The hash of its last entry.
    pub hash: String,
    /// Its status.
    pub status: String,
    /// The phase it is in.
    pub phase: String,
    /// When it last changed.
    pub updated_at: i64,
    /// One line for lists.
    pub summary: String,
    /// When a worker must look at it; in the past, since when one should have.
    pub wake_at: Option<i64>,
    /// The lease last given and not given back; it may be over.
    pub lease: Option<Lease>,
    /// How many workers ended at this version without giving the run back, the holder of `lease` not counted.
    pub deaths: u64,
    /// What was written down when its bodies were taken out; `Empty` where they are there.
    pub pruned: Option<PruneSeal>,
}

impl RunHead {
    /// Whether the run is parked at a time: [`MAX_WORKER_DEATHS`] workers ended while they worked on this
    /// version, and nobody takes it until it is unparked.
    #[must_use]
    pub fn is_parked(&self, now: i64) -> bool {
        let ended = match &self.lease {
            Some(lease) if lease.until > now => return false,
            Some(_) => 1,
            None => 0,
        };
        self.deaths + ended >= MAX_WORKER_DEATHS
    }

    /// Where a list goes on after this run.
    #[must_use]
    pub fn to_cursor(&self) -> RunCursor {
        RunCursor { created_at: self.created_at, id: self.run.id.clone() }
    }
}

/// Which runs to list. Everything that is given must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFilter {
    /// Whose runs.
    pub tenant: TenantId,
    /// Only with this status.
    pub status: Option<String>,
    /// Only in this phase.
    pub phase: Option<String>,
    /// Only of this workflow.
    pub workflow: Option<String>,
    /// Only of the protocol with this digest.
    pub protocol: Option<String>,
    /// Only those that come after this one in the list.
    pub after: Option<RunCursor>,
    /// At most so many.
    pub limit: usize,
}

impl RunFilter {
    /// The newest runs of a tenant.
    #[must_use]
    pub fn newest(tenant: TenantId, limit: usize) -> Self {
        Self {
            tenant,
            status: None,
            phase: None,
            workflow: None,
            protocol: None,
            after: None,
            limit,
        }
    }
}

/// A place in a list of runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunCursor {
    /// When the run there was created.
    pub created_at: i64,
    /// Its id.
    pub id: String,
}

/// What a run's state is folded from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedRun {
    /// Where the run stands now, which may be later than the version asked for.
    pub head: RunHead,
    /// The version the rest folds to.
    pub version: u64,
    /// Where to begin; without one, at the beginning.
    pub snapshot: Option<SnapshotRow>,
    /// The entries after the snapshot, up to the version.
    pub entries: Vec<LogEntryRow>,
}
