//! The current head of a run, the filters and cursors that list runs, and the rows that a run's
//! state is folded from.

use crate::{Lease, LogEntryRow, MAX_WORKER_DEATHS, PruneSeal, RunId, SnapshotRow, TenantId};

/// The row with the current state of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunHead {
    /// Tenant and id of the run.
    pub run: RunId,
    /// Digest of the protocol that the run executes.
    pub protocol: String,
    /// Name of the workflow within that protocol.
    pub workflow: String,
    /// Creation time in milliseconds since the Unix epoch.
    pub created_at: i64,
    /// Number of commits that the run has had.
    pub version: u64,
    /// Position of the last event in its log.
    pub seq: u64,
    /// Hash of its last log entry.
    pub hash: String,
    /// Status after the last commit, in the words of the caller.
    pub status: String,
    /// Name of the current phase.
    pub phase: String,
    /// Time of the last change, in milliseconds since the Unix epoch.
    pub updated_at: i64,
    /// One line of text for lists.
    pub summary: String,
    /// When a worker must look at the run; a time in the past means that it is due since then.
    pub wake_at: Option<i64>,
    /// The last lease that was acquired and not released; it may have expired.
    pub lease: Option<Lease>,
    /// Number of workers that ended at this version without releasing the run, not counting the
    /// holder of `lease`.
    pub deaths: u64,
    /// The seal from pruning the run; `None` if its bodies are still there.
    pub pruned: Option<PruneSeal>,
}

impl RunHead {
    /// Whether the run is parked at the time `now`: [`MAX_WORKER_DEATHS`] workers ended while they
    /// worked on this version, and no worker acquires it until it is unparked.
    #[must_use]
    pub fn is_parked(&self, now: i64) -> bool {
        let ended = match &self.lease {
            Some(lease) if lease.until > now => return false,
            Some(_) => 1,
            None => 0,
        };
        self.deaths + ended >= MAX_WORKER_DEATHS
    }

    /// Returns the cursor that continues a list after this run.
    #[must_use]
    pub fn to_cursor(&self) -> RunCursor {
        RunCursor { created_at: self.created_at, id: self.run.id.clone() }
    }
}

/// Selects the runs to list. Every condition that is set must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFilter {
    /// Tenant whose runs are listed.
    pub tenant: TenantId,
    /// Lists only runs with this status.
    pub status: Option<String>,
    /// Lists only runs in this phase.
    pub phase: Option<String>,
    /// Lists only runs of this workflow.
    pub workflow: Option<String>,
    /// Lists only runs of the protocol with this digest.
    pub protocol: Option<String>,
    /// Lists only runs after this position.
    pub after: Option<RunCursor>,
    /// Maximum number of runs to return.
    pub limit: usize,
}

impl RunFilter {
    /// Selects the newest runs of a tenant.
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

/// A position in a list of runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunCursor {
    /// Creation time of the run at this position.
    pub created_at: i64,
    /// Id of the run at this position.
    pub id: String,
}

/// The rows that a run's state is folded from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedRun {
    /// The current head, which may be later than the requested version.
    pub head: RunHead,
    /// The version that the rest folds to.
    pub version: u64,
    /// The snapshot to start from; without one, the fold starts at the first entry.
    pub snapshot: Option<SnapshotRow>,
    /// The log entries after the snapshot, up to and including `version`.
    pub entries: Vec<LogEntryRow>,
}
