//! Holding a run while it is worked on: a lease that is renewed as long as the work takes.

use std::time::Duration;

use countersign_store::{Lease, RunId, StoreError};

use crate::engine::{Engine, EngineError};

/// How long a lease lasts without being renewed. A dead worker's runs go on after that.
const TERM: i64 = 30_000;

/// Takes a run for a worker, or renews what it holds; `None` while it is another's.
pub(super) async fn take(
    engine: &Engine,
    run: &RunId,
    worker: &str,
) -> Result<Option<Lease>, StoreError> {
    let now = engine.clock().now().0;
    engine.store().lease(run, worker, now, now + TERM).await
}

/// Does something under a lease that is renewed meanwhile. A lease that is lost ends the work: its
/// result could not be kept any more.
pub(super) async fn while_held<T>(
    engine: &Engine,
    lease: &Lease,
    work: impl Future<Output = T>,
) -> Result<T, EngineError> {
    tokio::pin!(work);
    let pause = Duration::from_millis(TERM.unsigned_abs() / 3);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return Ok(done),
            () = tokio::time::sleep(pause) => {
                let held = take(engine, &lease.run, &lease.worker).await?;
                if held.is_none_or(|held| held.epoch != lease.epoch) {
                    let (epoch, current) = (lease.epoch, lease.epoch + 1);
                    return Err(StoreError::Fenced { epoch, current }.into());
                }
            }
        }
    }
}
