//! The one place that knows what time it is, and that waits for another.

use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_core::run::Time;

/// Tells the time. Tests have one that stands still until they move it.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Time;

    /// Waits for a moment; not at all where it has passed.
    fn until(&self, moment: Time) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Time(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn until(&self, moment: Time) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let left = Duration::from_millis(moment.since(self.now()));
        Box::pin(tokio::time::sleep(left))
    }
}
