//! The source of the current time, and of timers that wait for a later time.

use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_run::Timestamp;

/// Provides the current time and timers. Tests use an implementation whose time changes only when
/// the test advances it.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Waits until a timestamp; returns immediately if it has passed.
    fn sleep_until(&self, moment: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// The system clock, with timers of the tokio runtime.
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
