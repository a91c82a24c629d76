//! Workers: who they are, and what they ask for. What they do with a run is not known here.

use crate::validation::{check_name, check_text};
use crate::{StoreError, TenantId};

/// How long, in milliseconds, the row of a worker stays that never said goodbye: long enough to see
/// that one was lost, short enough that the table stays small.
pub(crate) const LOST_WORKER_RETENTION_MS: i64 = 24 * 60 * 60 * 1000;

/// A process that works on runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerInfo {
    /// What its leases are known by; no other worker has it.
    pub name: String,
    /// The machine it runs on.
    pub host: String,
    /// Its process there.
    pub pid: u32,
    /// The program's version.
    pub version: String,
    /// How many runs it works on at once.
    pub capacity: u64,
    /// Since when.
    pub started_at: i64,
}

/// A worker as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerRow {
    /// Who it is.
    pub info: WorkerInfo,
    /// When it last announced itself.
    pub seen_at: i64,
    /// Until when it counts as alive; past that it was lost, or it would have said goodbye.
    pub until: i64,
    /// How many runs it holds.
    pub holds: u64,
}

/// What a worker asks for: as many due runs as it has hands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueRunsRequest {
    /// Who asks.
    pub worker: String,
    /// When.
    pub now: i64,
    /// Until when it wants them.
    pub until: i64,
    /// At most so many.
    pub limit: usize,
    /// At most so many of one tenant, with what any worker holds of it already.
    pub per_tenant: usize,
    /// Only of these tenants; of all where there are none.
    pub tenants: Vec<TenantId>,
}

impl DueRunsRequest {
    /// At most `limit` runs, whosever they are.
    #[must_use]
    pub fn new(worker: impl Into<String>, now: i64, until: i64, limit: usize) -> Self {
        let (per_tenant, tenants) = (usize::MAX, Vec::new());
        Self { worker: worker.into(), now, until, limit, per_tenant, tenants }
    }

    /// Whether runs of a tenant are asked for.
    pub(crate) fn includes_tenant(&self, tenant: &TenantId) -> bool {
        self.tenants.is_empty() || self.tenants.contains(tenant)
    }
}

/// A worker must have a name, and must not be over before it begins.
pub(crate) fn check_worker(worker: &WorkerInfo, now: i64, until: i64) -> Result<(), StoreError> {
    check_name("name of the worker", &worker.name)?;
    check_text("host of the worker", &worker.host)?;
    check_text("version of the worker", &worker.version)?;
    if worker.capacity > i64::MAX as u64 {
        return Err(StoreError::malformed("a capacity ends at 2^63 - 1"));
    }
    if until <= now {
        return Err(StoreError::malformed(format!(
            "a worker until {until} is over at {now}, when it is announced"
        )));
    }
    Ok(())
}
