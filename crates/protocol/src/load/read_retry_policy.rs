//! Reads retry policies: how often something is retried, and after what delay.

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::read_duration::read_duration;
use crate::{DurationMillis, RetryBackoff, RetryPolicy};

const DEFAULT_INTERVAL: DurationMillis = DurationMillis { millis: 30_000 };
const DEFAULT_MAX_ATTEMPTS: u32 = 3;

/// Reads a retry policy; `None` if it is invalid.
pub(super) fn read_retry_policy(
    member: &FileNode<'_>,
    faults: &LoadDiagnostics,
) -> Option<RetryPolicy> {
    let mode = match member.text_at("mode") {
        Some("exponential") => RetryBackoff::Exponential,
        _ => RetryBackoff::Fixed,
    };
    let interval = match member.get("interval") {
        Some(interval) => read_duration(&interval, faults),
        None => Some(DEFAULT_INTERVAL),
    };
    let max_attempts = match member.get("max_attempts") {
        Some(count) => read_max_attempts(&count, faults),
        None => Some(DEFAULT_MAX_ATTEMPTS),
    };
    Some(RetryPolicy { mode, interval: interval?, max_attempts: max_attempts? })
}

fn read_max_attempts(member: &FileNode<'_>, faults: &LoadDiagnostics) -> Option<u32> {
    const MOST: i64 = 1_000_000;
    // A number that exceeds 64 bits exceeds the limit too.
    let count = member.value.as_i64().unwrap_or(MOST + 1);
    if count < 1 {
        faults
            .push(member.diagnose_bound("minimum", format!("expected at least 1, found {count}")));
    } else if count > MOST {
        faults
            .push(member.diagnose_bound("maximum", format!("expected at most {MOST}, found more")));
    }
    u32::try_from(count).ok().filter(|count| *count > 0)
}
