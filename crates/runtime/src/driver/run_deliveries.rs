//! Deliveries of a run: performed beside its other actions, so that a channel that is away holds up
//! nothing.

use std::sync::Arc;

use countersign_run::{InputKind, PendingAction, Timestamp};
use countersign_store::RunId;

use super::driver::Driver;
use super::driver_lease::DriverLease;
use super::keyed_futures::KeyedFutures;
use crate::channel::DeliveryContext;
use crate::engine::{Engine, EngineError, LiveRun};

/// Maximum number of deliveries of one run that are performed at the same time.
const MAX_CONCURRENT_DELIVERIES: usize = 8;

/// How often the driver looks for other work while only deliveries are under way, in milliseconds.
const LOOK_INTERVAL_MS: i64 = 200;

/// Deliveries under way, by action; each yields the input that reports its result.
pub(super) type DeliveriesUnderWay = KeyedFutures<'static, String, InputKind>;

/// Starts the deliveries of a run that are ready.
pub(super) fn start_ready_deliveries(
    engine: &Arc<Engine>,
    live: &LiveRun,
    now: Timestamp,
    under_way: &mut DeliveriesUnderWay,
) {
    for (action, order) in live.state.ready_actions(now) {
        let PendingAction::Delivery { attempt, delivery, .. } = order else { continue };
        if under_way.len() >= MAX_CONCURRENT_DELIVERIES || under_way.contains_key(action) {
            continue;
        }
        let (engine, run) = (Arc::clone(engine), live.state.run.clone());
        let (id, attempt, delivery) = (action.clone(), *attempt, delivery.clone());
        under_way.push(action.clone(), async move {
            let context = DeliveryContext {
                tenant: engine.tenant_name(),
                run: &run,
                public_url: None,
                now: engine.clock().now(),
            };
            engine.channels().deliver_for_run(&id, attempt, &delivery, context).await
        });
    }
}

impl Driver {
    /// Waits for the next result of a delivery and submits it, or returns after a short while to
    /// look for other work.
    pub(super) async fn await_deliveries(
        &self,
        run: &RunId,
        hold: &mut DriverLease<'_>,
        under_way: &mut DeliveriesUnderWay,
    ) -> Result<(), EngineError> {
        let clock = self.engine.clock();
        let look_at = clock.now().plus_millis(LOOK_INTERVAL_MS);
        tokio::select! {
            biased;
            Some((_, done)) = under_way.next() => {
                hold.renew_if_late().await?;
                self.submit_result(run, hold, done, Vec::new()).await
            }
            () = clock.sleep_until(look_at) => {
                hold.renew_if_late().await?;
                self.engine.refresh_live_run(run).await?;
                Ok(())
            }
        }
    }
}
