//! The configuration of a worker.

use countersign_store::TenantId;

use super::worker_backoff;
use crate::driver::DEFAULT_LEASE_TTL_MS;

/// Capacity, lease times and intervals of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerConfig {
    /// Name that identifies its leases; must be unique among all workers.
    pub name: String,
    /// Name of the machine, for people; empty by default.
    pub host: String,
    /// Version of the program, for people; the version of this crate by default.
    pub version: String,
    /// Maximum number of runs that it works on at once; 16 by default.
    pub capacity: usize,
    /// Maximum number of runs of one tenant that all workers together may hold before this one
    /// leases another; unlimited by default.
    pub max_per_tenant: usize,
    /// Tenants whose runs it takes; empty means all tenants.
    pub tenants: Vec<TenantId>,
    /// How long a lease lasts without renewal, in milliseconds; [`DEFAULT_LEASE_TTL_MS`] by
    /// default.
    pub lease_ttl: i64,
    /// How long running work may take after a stop request, in milliseconds; 20 000 by default.
    pub grace_period: i64,
    /// How often it polls for due runs without a wake-up notification, in milliseconds; 1000 by
    /// default.
    pub poll_interval: i64,
}

impl WorkerConfig {
    /// Creates the default configuration under a name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            host: String::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            capacity: 16,
            max_per_tenant: usize::MAX,
            tenants: Vec::new(),
            lease_ttl: DEFAULT_LEASE_TTL_MS,
            grace_period: 20_000,
            poll_interval: 1_000,
        }
    }

    /// Returns the longest wait before the next poll or heartbeat, in milliseconds.
    pub(super) fn max_pause(&self) -> i64 {
        // Doubled, because a delay varies around its nominal value.
        (2 * self.poll_interval)
            .max(2 * worker_backoff::MAX_BACKOFF_MS)
            .max(self.heartbeat_interval())
    }

    /// Returns the heartbeat interval in milliseconds, which tolerates two lost heartbeats in a
    /// row.
    pub(super) fn heartbeat_interval(&self) -> i64 {
        (self.lease_ttl / 3).max(1)
    }
}
