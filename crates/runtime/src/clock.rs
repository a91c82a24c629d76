//! The one place that knows what time it is, and that waits for another.

use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_core::run::Timestamp;

/// Tells the time. Tests have one that stands still until they move it.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;

    /// Waits for a moment; not at all where it has passed.
    fn sleep_until(&self, moment: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn sleep_until(&self, moment: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let left = Duration::from_millis(moment.millis_since(self.now()));
        Box::pin(tokio::time::sleep(left))
    }
}
