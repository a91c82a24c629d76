//! The lease that a driver holds on a run and renews while it works.

use std::sync::atomic::{AtomicI64, Ordering};

use countersign_run::Timestamp;
use countersign_store::{Lease, RunId, StoreError};

use super::worker_heartbeat::WorkerHeartbeat;
use crate::engine::{Engine, EngineError};

/// Default time that a lease lasts without renewal, in milliseconds. After that, other workers
/// continue the runs of a dead worker.
pub const DEFAULT_LEASE_TTL_MS: i64 = 30_000;

/// A run that this driver holds a lease on.
pub(super) struct DriverLease<'e> {
    engine: &'e Engine,
    lease: Lease,
    lease_ttl: i64,
    /// Until when no other worker can acquire the run, by our own clock, in Unix milliseconds.
    valid_until: AtomicI64,
}

impl<'e> DriverLease<'e> {
    /// Acquires a run for a worker. Returns `None` while another worker holds it.
    pub(super) async fn acquire(
        engine: &'e Engine,
        run: &RunId,
        worker: &str,
        term: i64,
        presence: Option<&WorkerHeartbeat>,
    ) -> Result<Option<Self>, EngineError> {
        let mut since = engine.clock().now();
        let mut lease = request_lease(engine, run, worker, term).await?;
        if lease.is_none()
            && let Some(presence) = presence
            && let Some(other) = engine.store().load_head(run).await?.and_then(|head| head.lease)
            && presence.is_worker_dead(&other.worker)
        {
            // A lease is expired once: if another worker noticed too, one of the two gets the run.
            engine.store().expire_lease(&other).await?;
            since = engine.clock().now();
            lease = request_lease(engine, run, worker, term).await?;
        }
        Ok(lease.map(|lease| Self::from_lease(engine, lease, term, since)))
    }

    /// Wraps a lease that was acquired by a request made at `since`.
    pub(super) fn from_lease(
        engine: &'e Engine,
        lease: Lease,
        lease_ttl: i64,
        since: Timestamp,
    ) -> Self {
        Self {
            engine,
            lease,
            lease_ttl,
            valid_until: AtomicI64::new(since.plus_millis(lease_ttl).0),
        }
    }

    /// Returns the lease for a commit that is made now; the commit renews it.
    pub(super) fn to_renewed_lease(&self) -> Lease {
        let until = self.engine.clock().now().plus_millis(self.lease_ttl).0;
        Lease { until, ..self.lease.clone() }
    }

    /// Records that a commit with this lease was stored.
    pub(super) fn confirm_commit(&self, lease: &Lease) {
        self.valid_until.fetch_max(lease.until, Ordering::Relaxed);
    }

    /// Renews the lease. Fails if another worker has the run by now, because no result could be
    /// committed.
    pub(super) async fn renew(&mut self) -> Result<(), EngineError> {
        let Lease { run, worker, epoch, .. } = &self.lease;
        let epoch = *epoch;
        let until = self.engine.clock().now().plus_millis(self.lease_ttl).0;
        let lost = |current| Err(StoreError::Fenced { epoch, current }.into());
        match request_lease(self.engine, run, worker, self.lease_ttl).await {
            Ok(Some(lease)) if lease.epoch <= epoch + 1 => {
                // One more than our epoch: the lease expired, because the machine slept or the
                // store was unavailable, and no other worker has had the run since.
                self.lease = lease;
                self.valid_until.fetch_max(until, Ordering::Relaxed);
                Ok(())
            }
            Ok(Some(lease)) => {
                let current = lease.epoch;
                drop(self.engine.store().release_lease(&lease).await);
                lost(current)
            }
            Ok(None) => lost(epoch + 1),
            // An unreachable store gives the run to no other worker; the next commit reveals the
            // outcome.
            Err(EngineError::Store(_)) => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// Renews the lease if it may have expired unnoticed. A process that was suspended and resumes
    /// must not start work for a run that another worker has by now.
    pub(super) async fn renew_if_late(&mut self) -> Result<(), EngineError> {
        let late = self.engine.clock().now().0 >= self.valid_until.load(Ordering::Relaxed);
        if late { self.renew().await } else { Ok(()) }
    }

    /// Releases the run because nothing can be done for it before `wake_at`. Returns whether the
    /// run is idle: false if it received an input since `version`, or if another worker has it.
    pub(super) async fn release_until(
        self,
        version: u64,
        wake_at: Option<Timestamp>,
    ) -> Result<bool, EngineError> {
        let wake_at = wake_at.map(|time| time.0);
        Ok(self.engine.store().suspend_run(&self.lease, version, wake_at).await?)
    }

    /// Releases the run. If this fails, the lease expires by itself.
    pub(super) async fn release(self) {
        drop(self.engine.store().release_lease(&self.lease).await);
    }
}

async fn request_lease(
    engine: &Engine,
    run: &RunId,
    worker: &str,
    term: i64,
) -> Result<Option<Lease>, EngineError> {
    let now = engine.clock().now();
    match engine.store().acquire_lease(run, worker, now.0, now.plus_millis(term).0).await {
        Err(StoreError::NotFound { run }) => {
            Err(EngineError::RunNotFound { run: run.id, version: None })
        }
        other => Ok(other?),
    }
}
