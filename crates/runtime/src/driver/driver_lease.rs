//! Holding a run while it is worked on: a lease that is renewed as long as the work takes.

use std::sync::atomic::{AtomicI64, Ordering};

use countersign_core::run::Timestamp;
use countersign_store::{Lease, RunId, StoreError};

use super::worker_heartbeat::WorkerHeartbeat;
use crate::engine::{Engine, EngineError};

/// How long a lease lasts without being renewed, unless somebody says otherwise, in milliseconds. A dead
/// worker's runs go on after that.
pub const DEFAULT_LEASE_TTL_MS: i64 = 30_000;

/// A run that is held.
pub(super) struct DriverLease<'e> {
    engine: &'e Engine,
    lease: Lease,
    lease_ttl: i64,
    /// Until when nobody else can have the run, by our own clock.
    valid_until: AtomicI64,
}

impl<'e> DriverLease<'e> {
    /// Takes a run for a worker; `Empty` while it is another's.
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
            // A lease is given back once: where somebody else noticed too, one of us gets the run.
            engine.store().expire_lease(&other).await?;
            since = engine.clock().now();
            lease = request_lease(engine, run, worker, term).await?;
        }
        Ok(lease.map(|lease| Self::from_lease(engine, lease, term, since)))
    }

    /// A run that was asked for at a moment, and taken.
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

    /// The lease for a commit that is made now, which renews it.
    pub(super) fn to_renewed_lease(&self) -> Lease {
        let until = self.engine.clock().now().plus_millis(self.lease_ttl).0;
        Lease { until, ..self.lease.clone() }
    }

    /// A commit with this lease was kept.
    pub(super) fn confirm_commit(&self, lease: &Lease) {
        self.valid_until.fetch_max(lease.until, Ordering::Relaxed);
    }

    /// Holds on. Fails where the run is another's by now: what is done for it could not be kept.
    pub(super) async fn renew(&mut self) -> Result<(), EngineError> {
        let Lease { run, worker, epoch, .. } = &self.lease;
        let epoch = *epoch;
        let until = self.engine.clock().now().plus_millis(self.lease_ttl).0;
        let lost = |current| Err(StoreError::Fenced { epoch, current }.into());
        match request_lease(self.engine, run, worker, self.lease_ttl).await {
            Ok(Some(lease)) if lease.epoch <= epoch + 1 => {
                // One more than ours: it ran out, because the machine slept or the store was gone,
                // and nobody has had the run since.
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
            // A store that cannot be reached takes the run from nobody; the commit will tell.
            Err(EngineError::Store(_)) => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// Holds on where the lease may have run out unseen: a process that was stopped and goes on must not
    /// begin anything for a run that is another's by now.
    pub(super) async fn renew_if_late(&mut self) -> Result<(), EngineError> {
        let late = self.engine.clock().now().0 >= self.valid_until.load(Ordering::Relaxed);
        if late { self.renew().await } else { Ok(()) }
    }

    /// Gives the run back because nothing can be done for it before a moment. Tells whether it rests:
    /// not where somebody gave it something since this version, or where it is another's.
    pub(super) async fn release_until(
        self,
        version: u64,
        wake_at: Option<Timestamp>,
    ) -> Result<bool, EngineError> {
        let wake_at = wake_at.map(|time| time.0);
        Ok(self.engine.store().suspend_run(&self.lease, version, wake_at).await?)
    }

    /// Gives the run back. Where that fails, the lease runs out by itself.
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
