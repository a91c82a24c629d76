//! On which terms a worker works.

use countersign_store::TenantId;

use super::worker_backoff;
use crate::driver::DEFAULT_LEASE_TTL_MS;

/// How many runs, for how long, how often it looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerConfig {
    /// What its leases are known by; no other worker may have it.
    pub name: String,
    /// The machine it runs on, for people.
    pub host: String,
    /// The program's version, for people.
    pub version: String,
    /// How many runs it works on at once.
    pub capacity: usize,
    /// How many runs of one tenant all workers together may hold for it to take another.
    pub max_per_tenant: usize,
    /// Only runs of these tenants; of all where there are none.
    pub tenants: Vec<TenantId>,
    /// How long a lease lasts without being renewed, in milliseconds.
    pub lease_ttl: i64,
    /// How long what is under way may take once it is told to stop, in milliseconds.
    pub grace_period: i64,
    /// How often it looks for what is due where nothing hints at it, in milliseconds.
    pub poll_interval: i64,
}

impl WorkerConfig {
    /// The usual terms under a name.
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

    /// How long it waits at most before it looks again or says that it is there, in milliseconds.
    pub(super) fn max_pause(&self) -> i64 {
        // A pause is drawn from around its length.
        (2 * self.poll_interval)
            .max(2 * worker_backoff::MAX_BACKOFF_MS)
            .max(self.heartbeat_interval())
    }

    /// When it next says that it is there: often enough that two losses in a row are not the end.
    pub(super) fn heartbeat_interval(&self) -> i64 {
        (self.lease_ttl / 3).max(1)
    }
}
