//! Handles an unavailable store: retries with increasing delays, and reports the incident once.

use std::collections::hash_map::RandomState;
use std::error::Error;
use std::hash::{BuildHasher, Hasher};

use countersign_run::Timestamp;
use countersign_store::StoreError;

use super::worker_event::{WorkerEvent, WorkerObserver};

/// The first delay in milliseconds; each further delay doubles, up to the maximum.
const MIN_BACKOFF_MS: i64 = 250;
pub(super) const MAX_BACKOFF_MS: i64 = 15_000;

/// Tracks whether the store is reachable.
#[derive(Debug, Default)]
pub(super) struct WorkerBackoff {
    down_since: Option<Timestamp>,
    delay: i64,
}

impl WorkerBackoff {
    /// Records a failure. Returns the delay in milliseconds, or the error if a retry cannot help.
    pub(super) fn record_failure(
        &mut self,
        error: StoreError,
        now: Timestamp,
        report: &dyn WorkerObserver,
    ) -> Result<i64, StoreError> {
        if !error.is_transient() {
            return Err(error);
        }
        if self.down_since.is_none() {
            self.down_since = Some(now);
            report.on_event(WorkerEvent::StoreUnavailable(format_error_chain(&error)));
        }
        self.delay = (2 * self.delay).clamp(MIN_BACKOFF_MS, MAX_BACKOFF_MS);
        Ok(add_jitter(self.delay))
    }

    /// Records a success, and reports the recovery if the store was down.
    pub(super) fn record_success(&mut self, now: Timestamp, report: &dyn WorkerObserver) {
        self.delay = 0;
        if let Some(since) = self.down_since.take() {
            report.on_event(WorkerEvent::StoreRecovered(now.0 - since.0));
        }
    }

    /// Returns whether the last request succeeded.
    pub(super) fn is_store_reachable(&self) -> bool {
        self.down_since.is_none()
    }
}

/// Formats an error with its causes in a single line.
pub(super) fn format_error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(cause) = below {
        let words = cause.to_string();
        if !text.ends_with(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        below = cause.source();
    }
    text
}

/// Varies a delay by up to a fifth, so that workers that started together do not keep polling
/// together.
pub(super) fn add_jitter(millis: i64) -> i64 {
    // The standard library seeds each of these from the system's random source.
    let chance = RandomState::new().build_hasher().finish();
    let fifth = (millis / 5).max(0);
    millis - fifth + (chance % (2 * fifth as u64 + 1)) as i64
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Default)]
    struct Heard(Mutex<Vec<WorkerEvent>>);

    impl WorkerObserver for Heard {
        fn on_event(&self, news: WorkerEvent) {
            self.0.lock().unwrap().push(news);
        }
    }

    fn gone() -> StoreError {
        StoreError::Unavailable { source: Arc::new(std::io::Error::other("connection refused")) }
    }

    #[test]
    fn trouble_is_told_once_and_so_is_its_end() {
        let (mut away, heard) = (WorkerBackoff::default(), Heard::default());
        away.record_success(Timestamp(1), &heard);
        let pauses: Vec<i64> = (0..9)
            .map(|time| away.record_failure(gone(), Timestamp(time), &heard).unwrap())
            .collect();
        assert!((200..=300).contains(&pauses[0]), "{pauses:?}");
        assert!((12_000..=18_000).contains(&pauses[8]), "{pauses:?}");
        away.record_success(Timestamp(20), &heard);
        away.record_success(Timestamp(21), &heard);
        let message = "the database is not available: connection refused".to_owned();
        assert_eq!(
            *heard.0.lock().unwrap(),
            [WorkerEvent::StoreUnavailable(message), WorkerEvent::StoreRecovered(20)]
        );
        assert!((200..=300).contains(&away.record_failure(gone(), Timestamp(22), &heard).unwrap()));
    }

    #[test]
    fn what_waiting_cannot_mend_is_given_back() {
        let error = WorkerBackoff::default().record_failure(
            StoreError::Closed,
            Timestamp(0),
            &Heard::default(),
        );
        assert!(matches!(error, Err(StoreError::Closed)));
    }

    #[test]
    fn a_time_is_moved_by_a_fifth_at_most() {
        for _ in 0..200 {
            assert!((800..=1200).contains(&add_jitter(1000)));
        }
        assert_eq!(add_jitter(0), 0);
    }
}
