//! How a `PostgreSQL` store works: how many connections, how patient, by whose clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How a store on `PostgreSQL` works.
#[derive(Debug, Clone)]
pub struct PostgresSettings {
    /// How many calls write at the same time; each takes whatever waits when it begins.
    pub writers: usize,
    /// How many connections there are at most, those that write among them.
    pub connections: usize,
    /// How long what fails for a while is tried again before it is told.
    pub retry_for: Duration,
    /// How long an answer is waited for.
    pub query_timeout: Duration,
    /// By whose clock leases end.
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

/// By whose clock leases end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseClock {
    /// The server's: a lease is asked for as a term and counts from the server's now, so that machines
    /// whose clocks differ agree. What is told of a lease is in the clock of who asks.
    Server,
    /// The caller's, as it is given: for tests, which make times up.
    Caller,
}

impl LeaseClock {
    /// A time as the server keeps it is told as this one, where its clock shows `now`.
    pub(super) fn to_caller_time(self, until: i64, now: i64) -> i64 {
        match self {
            Self::Caller => until,
            Self::Server => until.saturating_sub(now).saturating_add(local_now_ms()),
        }
    }

    /// What a commit says about its lease, as the server takes it: a time, or a term from now.
    pub(super) fn to_server_time(self, until: i64) -> i64 {
        match self {
            Self::Caller => until,
            Self::Server => until.saturating_sub(local_now_ms()),
        }
    }
}

/// This machine's time.
fn local_now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
