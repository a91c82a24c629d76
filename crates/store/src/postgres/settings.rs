//! Settings of a `PostgreSQL` store: connections, timeouts, and the clock for leases.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Settings of a store on `PostgreSQL`.
#[derive(Debug, Clone)]
pub struct PostgresSettings {
    /// Number of calls that may write at the same time; each sends all commits that wait when it
    /// starts. Default: 2.
    pub writers: usize,
    /// Maximum number of connections, including those of the writers. Default: 10.
    pub connections: usize,
    /// How long to retry a transient failure before it is reported. Default: 3 seconds.
    pub retry_for: Duration,
    /// How long to wait for a reply of the server. Default: 30 seconds.
    pub query_timeout: Duration,
    /// Which clock decides when leases expire. Default: the server's.
    pub clock: LeaseClock,
}

impl Default for PostgresSettings {
    fn default() -> Self {
        Self {
            writers: 2,
            connections: 10,
            retry_for: Duration::from_secs(3),
            query_timeout: Duration::from_secs(30),
            clock: LeaseClock::Server,
        }
    }
}

/// Which clock decides when leases expire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseClock {
    /// The server's clock: a lease is requested as a duration and counts from the server's current
    /// time, so that machines with different clocks agree. Lease times that the store returns are
    /// in the caller's clock.
    Server,
    /// The caller's clock, with times as the caller passes them; for tests, which invent times.
    Caller,
}

impl LeaseClock {
    /// Converts a time from the server to the caller's clock, given that the server's clock shows
    /// `now`.
    pub(super) fn to_caller_time(self, until: i64, now: i64) -> i64 {
        match self {
            Self::Caller => until,
            Self::Server => until.saturating_sub(now).saturating_add(local_now_ms()),
        }
    }

    /// Converts the expiry of a commit's lease to what the server expects: a time, or a duration
    /// from now.
    pub(super) fn to_server_time(self, until: i64) -> i64 {
        match self {
            Self::Caller => until,
            Self::Server => until.saturating_sub(local_now_ms()),
        }
    }
}

/// Current time of this machine, in milliseconds since the Unix epoch.
fn local_now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
