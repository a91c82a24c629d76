//! Holding a run while it is worked on: a lease that is renewed as long as the work takes.

use countersign_store::{Lease, RunId, StoreError};

use super::presence::Presence;
use crate::engine::{Engine, EngineError};

/// How long a lease lasts without being renewed. A dead worker's runs go on after that.
pub(super) const TERM: i64 = 30_000;

/// A run that is held.
pub(super) struct Hold<'e> {
    engine: &'e Engine,
    lease: Lease,
}

impl<'e> Hold<'e> {
    /// Takes a run for a worker; `None` while it is another's.
    pub(super) async fn take(
        engine: &'e Engine,
        run: &RunId,
        worker: &str,
        presence: Option<&Presence>,
    ) -> Result<Option<Self>, EngineError> {
        let mut lease = asked(engine, run, worker).await?;
        if lease.is_none()
            && let Some(presence) = presence
            && let Some(other) = engine.store().head(run).await?.and_then(|head| head.lease)
            && presence.is_gone(&other.worker)
        {
            // A lease is given back once: where somebody else noticed too, one of us gets the run.
            engine.store().release(&other).await?;
            lease = asked(engine, run, worker).await?;
        }
        Ok(lease.map(|lease| Self { engine, lease }))
    }

    /// The lease for a commit that is made now, which renews it.
    pub(super) fn lease(&self) -> Lease {
        let until = self.engine.clock().now().after(TERM).0;
        Lease { until, ..self.lease.clone() }
    }

    /// Holds on. Fails where the run is another's by now: what is done for it could not be kept.
    pub(super) async fn renew(&mut self) -> Result<(), EngineError> {
        let Lease { run, worker, epoch, .. } = &self.lease;
        let epoch = *epoch;
        let lost = |current| Err(StoreError::Fenced { epoch, current }.into());
        match asked(self.engine, run, worker).await {
            Ok(Some(lease)) if lease.epoch <= epoch + 1 => {
                // One more than ours: it ran out, because the machine slept or the store was gone,
                // and nobody has had the run since.
                self.lease = lease;
                Ok(())
            }
            Ok(Some(lease)) => {
                let current = lease.epoch;
                drop(self.engine.store().release(&lease).await);
                lost(current)
            }
            Ok(None) => lost(epoch + 1),
            // A store that cannot be reached takes the run from nobody; the commit will tell.
            Err(EngineError::Store(_)) => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// Gives the run back. Where that fails, the lease runs out by itself.
    pub(super) async fn release(self) {
        drop(self.engine.store().release(&self.lease).await);
    }
}

async fn asked(engine: &Engine, run: &RunId, worker: &str) -> Result<Option<Lease>, EngineError> {
    let now = engine.clock().now();
    match engine.store().lease(run, worker, now.0, now.after(TERM).0).await {
        Err(StoreError::NotFound { run }) => Err(EngineError::NoRun { run: run.id, version: None }),
        other => Ok(other?),
    }
}
