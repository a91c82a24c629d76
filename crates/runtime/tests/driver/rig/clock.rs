//! A clock that stands still until a test moves it.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};

use countersign_run::Timestamp;
use countersign_runtime::clock::Clock;
use tokio::sync::watch;

/// When every test begins.
pub(crate) const EPOCH: i64 = 1_768_996_800_000;

/// The clock.
pub(crate) struct Manual {
    now: watch::Sender<i64>,
    sleep_count: AtomicU64,
}

impl Manual {
    pub(crate) fn new() -> Self {
        Self { now: watch::Sender::new(EPOCH), sleep_count: AtomicU64::new(0) }
    }

    /// Moves it, and wakes who waits for a moment that has come.
    pub(crate) fn advance(&self, millis: i64) {
        self.now.send_modify(|now| *now += millis);
    }

    /// How often somebody began to wait for a moment.
    pub(crate) fn sleep_count(&self) -> u64 {
        self.sleep_count.load(Ordering::SeqCst)
    }
}

impl Clock for Manual {
    fn now(&self) -> Timestamp {
        Timestamp(*self.now.borrow())
    }

    fn sleep_until(&self, moment: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let mut now = self.now.subscribe();
        self.sleep_count.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            now.wait_for(|now| *now >= moment.0).await.unwrap();
        })
    }
}
