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
    /// Version of the protocol, as its author named it; empty if there is none.
    pub protocol_version: String,
    /// Who started the run; `None` if nobody is named.
    pub started_by: Option<String>,
    /// Id of the run that started this one and waits for it; `None` if it is not a child.
    pub parent: Option<String>,
    /// Title of the run: one line, empty if it has none.
    pub title: String,
    /// Whom the open waits of the run ask, separated by commas.
    pub asks: String,
    /// When the run ended, in milliseconds since the Unix epoch; `None` while it has not.
    pub ended_at: Option<i64>,
    /// Number of tokens in prompts so far.
    pub input_tokens: u64,
    /// Number of tokens in replies so far.
    pub output_tokens: u64,
    /// Cost so far, in millionths of the currency.
    pub cost: u64,
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
    /// Lists only runs of this version of their protocol.
    pub protocol_version: Option<String>,
    /// Lists only runs that this user started.
    pub started_by: Option<String>,
    /// Lists only runs that were created at this time or later, in milliseconds since the Unix
    /// epoch.
    pub since: Option<i64>,
    /// Lists only runs that were created before this time, in milliseconds since the Unix epoch.
    pub until: Option<i64>,
    /// Lists only runs that are found by all of these words; see [`crate::RunCommit::search_terms`].
    pub terms: Vec<String>,
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
            protocol_version: None,
            started_by: None,
            since: None,
            until: None,
            terms: Vec::new(),
            after: None,
            limit,
        }
    }

    /// The position that the list starts after: the cursor, or the end of the period if that is
    /// earlier.
    pub(crate) fn start_cursor(&self) -> Option<RunCursor> {
        let until = self.until.map(|until| RunCursor { created_at: until, id: String::new() });
        match (&self.after, until) {
            (Some(after), Some(until)) => Some(after.clone().min(until)),
            (after, until) => after.clone().or(until),
        }
    }
}

/// Selects the children of several runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildRunFilter {
    /// Tenant whose runs are listed.
    pub tenant: TenantId,
    /// Ids of the parents.
    pub parents: Vec<String>,
    /// Lists only children that have not ended.
    pub open_only: bool,
    /// Maximum number of children of each parent.
    pub limit: usize,
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
