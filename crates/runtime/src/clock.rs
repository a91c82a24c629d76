//! The one place that knows what time it is.

use std::time::{SystemTime, UNIX_EPOCH};

use countersign_core::run::Time;

/// Tells the time. Tests have one that stands still.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Time;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Time(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
