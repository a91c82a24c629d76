//! A store that is away: it is asked again, ever more slowly, and the trouble is told once.

use std::collections::hash_map::RandomState;
use std::error::Error;
use std::hash::{BuildHasher, Hasher};

use countersign_core::run::Time;
use countersign_store::StoreError;

use super::news::{News, Report};

/// The first pause in milliseconds; each one after is twice as long, up to the last.
const FIRST: i64 = 250;
pub(super) const LAST: i64 = 15_000;

/// Whether the store answers.
#[derive(Debug, Default)]
pub(super) struct Away {
    since: Option<Time>,
    pause: i64,
}

impl Away {
    /// It did not answer. Tells how long to wait, or gives the error back where waiting cannot help.
    pub(super) fn failed(
        &mut self,
        error: StoreError,
        now: Time,
        report: &dyn Report,
    ) -> Result<i64, StoreError> {
        if !error.may_pass() {
            return Err(error);
        }
        if self.since.is_none() {
            self.since = Some(now);
            report.told(News::Away(whole(&error)));
        }
        self.pause = (2 * self.pause).clamp(FIRST, LAST);
        Ok(jittered(self.pause))
    }

    /// It answered.
    pub(super) fn answered(&mut self, now: Time, report: &dyn Report) {
        self.pause = 0;
        if let Some(since) = self.since.take() {
            report.told(News::Back(now.0 - since.0));
        }
    }

    /// Whether it answered the last time.
    pub(super) fn is_here(&self) -> bool {
        self.since.is_none()
    }
}

/// An error with what lies below it, in one line.
pub(super) fn whole(error: &dyn Error) -> String {
    let mut told = error.to_string();
    let mut below = error.source();
    while let Some(cause) = below {
        let words = cause.to_string();
        if !told.ends_with(&words) {
            told.push_str(": ");
            told.push_str(&words);
        }
        below = cause.source();
    }
    told
}

/// A time around this one: workers that began together must not ask together for ever.
pub(super) fn jittered(millis: i64) -> i64 {
    // The standard library seeds each of these from the system's own chance.
    let chance = RandomState::new().build_hasher().finish();
    let fifth = (millis / 5).max(0);
    millis - fifth + (chance % (2 * fifth as u64 + 1)) as i64
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Default)]
    struct Heard(Mutex<Vec<News>>);

    impl Report for Heard {
        fn told(&self, news: News) {
            self.0.lock().unwrap().push(news);
        }
    }

    fn gone() -> StoreError {
        StoreError::Unavailable { source: Arc::new(std::io::Error::other("connection refused")) }
    }

    #[test]
    fn trouble_is_told_once_and_so_is_its_end() {
        let (mut away, heard) = (Away::default(), Heard::default());
        away.answered(Time(1), &heard);
        let pauses: Vec<i64> =
            (0..9).map(|time| away.failed(gone(), Time(time), &heard).unwrap()).collect();
        assert!((200..=300).contains(&pauses[0]), "{pauses:?}");
        assert!((12_000..=18_000).contains(&pauses[8]), "{pauses:?}");
        away.answered(Time(20), &heard);
        away.answered(Time(21), &heard);
        let told = "the database is not available: connection refused".to_owned();
        assert_eq!(*heard.0.lock().unwrap(), [News::Away(told), News::Back(20)]);
        assert!((200..=300).contains(&away.failed(gone(), Time(22), &heard).unwrap()));
    }

    #[test]
    fn what_waiting_cannot_mend_is_given_back() {
        let error = Away::default().failed(StoreError::Closed, Time(0), &Heard::default());
        assert!(matches!(error, Err(StoreError::Closed)));
    }

    #[test]
    fn a_time_is_moved_by_a_fifth_at_most() {
        for _ in 0..200 {
            assert!((800..=1200).contains(&jittered(1000)));
        }
        assert_eq!(jittered(0), 0);
    }
}
