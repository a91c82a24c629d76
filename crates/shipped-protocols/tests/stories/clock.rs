//! A clock that stands still until the story moves it.

use std::pin::Pin;

use countersign_run::Timestamp;
use countersign_runtime::clock::Clock;
use tokio::sync::watch;

/// When every story begins.
const EPOCH: i64 = 1_768_996_800_000;

/// The clock.
pub(crate) struct Manual(watch::Sender<i64>);

impl Manual {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(EPOCH))
    }

    /// Moves it, and wakes who waits for a moment that has come.
    pub(crate) fn advance(&self, millis: i64) {
        self.0.send_modify(|now| *now += millis);
    }
}

impl Clock for Manual {
    fn now(&self) -> Timestamp {
        Timestamp(*self.0.borrow())
    }

    fn sleep_until(&self, moment: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let mut now = self.0.subscribe();
        Box::pin(async move {
            now.wait_for(|now| *now >= moment.0).await.unwrap();
        })
    }
}
