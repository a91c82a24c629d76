//! How often something is tried again, and after what pause.

use super::duration::duration;
use super::faults::Faults;
use super::member::Member;
use crate::protocol::{Duration, Retry, RetryMode};

const INTERVAL: Duration = Duration { millis: 30_000 };
const MAX_ATTEMPTS: u32 = 3;

/// Reads a retry.
pub(super) fn retry(member: &Member<'_>, faults: &Faults) -> Option<Retry> {
    let mode = match member.text_of("mode") {
        Some("exponential") => RetryMode::Exponential,
        _ => RetryMode::Fixed,
    };
    let interval = match member.get("interval") {
        Some(interval) => duration(&interval, faults),
        None => Some(INTERVAL),
    };
    let max_attempts = match member.get("max_attempts") {
        Some(count) => attempts(&count, faults),
        None => Some(MAX_ATTEMPTS),
    };
    Some(Retry { mode, interval: interval?, max_attempts: max_attempts? })
}

fn attempts(member: &Member<'_>, faults: &Faults) -> Option<u32> {
    const MOST: i64 = 1_000_000;
    // Beyond 64 bits is beyond the bound too.
    let count = member.value.as_i64().unwrap_or(MOST + 1);
    if count < 1 {
        faults.push(member.bound("minimum", format!("expected at least 1, found {count}")));
    } else if count > MOST {
        faults.push(member.bound("maximum", format!("expected at most {MOST}, found more")));
    }
    u32::try_from(count).ok().filter(|count| *count > 0)
}
