//! Which rows a sweep finds, and the columns by which an index finds them.

use countersign_contract::Timestamp;

use crate::record::MemoryExpiry;

/// Selects rows that have expired: those past their timestamp, and those that end with a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExpiryFilter<'a> {
    /// Rows whose last timestamp is before this one have expired.
    pub(super) now: Timestamp,
    /// The run that has ended, if one has.
    pub(super) ended_run: Option<&'a str>,
}

impl ExpiryFilter<'_> {
    /// Returns whether a row of a run has expired.
    pub(super) fn matches(self, expires: MemoryExpiry, run: &str) -> bool {
        match expires {
            MemoryExpiry::Until(end) => end < self.now,
            MemoryExpiry::RunEnd => self.ended_run == Some(run),
        }
    }
}

/// Returns the columns `expires_at` and `expires_with_run` of a row of a run; at most one of them
/// has a value.
pub(super) fn split_expiry(
    expires: Option<MemoryExpiry>,
    run: &str,
) -> (Option<i64>, Option<&str>) {
    match expires {
        None => (None, None),
        Some(MemoryExpiry::Until(end)) => (Some(end.0), None),
        Some(MemoryExpiry::RunEnd) => (None, Some(run)),
    }
}
