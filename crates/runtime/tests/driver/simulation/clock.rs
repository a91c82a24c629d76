//! Time in the simulation: it stands still, and who waits for a moment soon makes it come.

use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};

use countersign_run::Timestamp;
use countersign_runtime::clock::Clock;

use crate::rig::EPOCH;

/// Who waits this long watches over something; it never has to look.
const WATCH: i64 = 10_000;

/// The clock of a world.
pub(super) struct Simulated(AtomicI64);

impl Simulated {
    pub(super) fn new() -> Self {
        Self(AtomicI64::new(EPOCH))
    }

    pub(super) fn advance(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }

    pub(super) fn reach(&self, moment: i64) {
        self.0.fetch_max(moment, Ordering::SeqCst);
    }
}

impl Clock for Simulated {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }

    fn sleep_until(&self, moment: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let far = moment.millis_since(self.now()) >= WATCH.unsigned_abs();
        Box::pin(async move {
            if far {
                std::future::pending::<()>().await;
            }
            self.reach(moment.0);
        })
    }
}
