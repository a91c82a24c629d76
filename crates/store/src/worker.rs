//! Workers: how they describe themselves, and how they request due runs. The store does not know
//! what they do with a run.

use crate::validation::{check_name, check_text};
use crate::{StoreError, TenantId};

/// How long, in milliseconds, the store keeps the row of a worker that ended without removing
/// itself: long enough to notice that a worker was lost, short enough that the table stays small.
pub(crate) const LOST_WORKER_RETENTION_MS: i64 = 24 * 60 * 60 * 1000;

/// A process that works on runs, as it describes itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerInfo {
    /// Name in the worker's leases; no two workers may share it.
    pub name: String,
    /// Name of the machine it runs on.
    pub host: String,
    /// Process id on that machine.
    pub pid: u32,
    /// Version of the program.
    pub version: String,
    /// Maximum number of runs it works on at once.
    pub capacity: u64,
    /// Start time in milliseconds since the Unix epoch.
    pub started_at: i64,
}

/// A worker as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerRow {
    /// The worker's own description, from its last heartbeat.
    pub info: WorkerInfo,
    /// Time of the last heartbeat, in milliseconds since the Unix epoch.
    pub seen_at: i64,
    /// Until when the worker counts as alive. After this time it is lost, because a worker that
    /// stops in order removes itself.
    pub expires_at: i64,
    /// Number of runs it holds.
    pub lease_count: u64,
}

/// A worker's request for due runs, up to its free capacity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueRunsRequest {
    /// Name of the requesting worker.
    pub worker: String,
    /// Time of the request, in milliseconds since the Unix epoch.
    pub now: i64,
    /// Expiry of the leases to acquire, in milliseconds since the Unix epoch.
    pub until: i64,
    /// Maximum number of runs to acquire.
    pub limit: usize,
    /// Maximum number of runs of one tenant, counting those that any worker already holds.
    pub per_tenant: usize,
    /// Acquires only runs of these tenants; an empty list means all tenants.
    pub tenants: Vec<TenantId>,
}

impl DueRunsRequest {
    /// Creates a request for at most `limit` runs of any tenant.
    #[must_use]
    pub fn new(worker: impl Into<String>, now: i64, until: i64, limit: usize) -> Self {
        let (per_tenant, tenants) = (usize::MAX, Vec::new());
        Self { worker: worker.into(), now, until, limit, per_tenant, tenants }
    }

    /// Whether the request covers runs of this tenant.
    pub(crate) fn includes_tenant(&self, tenant: &TenantId) -> bool {
        self.tenants.is_empty() || self.tenants.contains(tenant)
    }
}

/// Checks that a worker has a name and that its heartbeat ends after `now`.
pub(crate) fn check_worker(worker: &WorkerInfo, now: i64, until: i64) -> Result<(), StoreError> {
    check_name("name of the worker", &worker.name)?;
    check_text("host of the worker", &worker.host)?;
    check_text("version of the worker", &worker.version)?;
    if worker.capacity > i64::MAX as u64 {
        return Err(StoreError::malformed("a capacity must be at most 2^63 - 1"));
    }
    if until <= now {
        return Err(StoreError::malformed(format!(
            "worker expiry {until} is not after the current time {now}"
        )));
    }
    Ok(())
}
