//! When a failed delivery is attempted again: exponential pauses, and two limits.

use std::time::Duration;

use countersign_contract::Timestamp;
use countersign_contract::json::sha256_hex;

use super::DeliveryError;

/// The largest number of attempts that a channel may declare.
pub const MAX_DELIVERY_ATTEMPTS: u32 = 100;

/// Pause after the first failed attempt, in milliseconds; every further one is twice as long.
const FIRST_PAUSE_MS: i64 = 5_000;

/// Longest pause that is not asked for by the receiver, in milliseconds.
const LONGEST_PAUSE_MS: i64 = 3_600_000;

/// When a failed delivery is attempted again, and when it is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryRetryPolicy {
    /// Largest number of attempts, with the first; 1 to 100, 20 by default.
    pub max_attempts: u32,
    /// Longest time from the event to the last attempt; one day by default.
    pub max_time: Duration,
}

impl Default for DeliveryRetryPolicy {
    fn default() -> Self {
        Self { max_attempts: 20, max_time: Duration::from_hours(24) }
    }
}

impl DeliveryRetryPolicy {
    /// Returns the pause before the next attempt in milliseconds, or `None` if the delivery is
    /// given up. `id` spreads the attempts of many deliveries; the same id gives the same pause.
    pub(super) fn plan_retry(
        &self,
        id: &str,
        attempt: u32,
        (since, now): (Timestamp, Timestamp),
        error: &DeliveryError,
    ) -> Option<i64> {
        if !error.failure.is_retryable() || attempt >= self.max_attempts {
            return None;
        }
        let doublings = attempt.saturating_sub(1).min(20);
        let pause = (FIRST_PAUSE_MS << doublings).min(LONGEST_PAUSE_MS);
        let chance = sha256_hex(&[id.as_bytes(), &attempt.to_be_bytes()]);
        let quarter = i64::from_str_radix(&chance[..4], 16).unwrap_or_default() * pause / 0x4_0000;
        let asked =
            error.retry_after.map_or(0, |wait| i64::try_from(wait.as_millis()).unwrap_or(i64::MAX));
        let pause = (pause + quarter).max(asked);
        let spent = i64::try_from(now.millis_since(since)).unwrap_or(i64::MAX);
        let limit = i64::try_from(self.max_time.as_millis()).unwrap_or(i64::MAX);
        (spent.saturating_add(pause) <= limit).then_some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::super::DeliveryFailure;
    use super::*;

    fn plan(
        policy: DeliveryRetryPolicy,
        attempt: u32,
        spent: i64,
        asked: Option<u64>,
    ) -> Option<i64> {
        let error = DeliveryError {
            retry_after: asked.map(Duration::from_secs),
            ..DeliveryError::new(DeliveryFailure::Refused, "no")
        };
        policy.plan_retry("d", attempt, (Timestamp(1_000), Timestamp(1_000 + spent)), &error)
    }

    #[test]
    fn pauses_grow_to_an_hour_and_a_quarter_more_at_most() {
        let policy = DeliveryRetryPolicy::default();
        let mut least = 5_000;
        for attempt in 1..20 {
            let pause = plan(policy, attempt, 0, None).unwrap();
            assert!((least..=least + least / 4).contains(&pause), "{attempt}: {pause}");
            assert_eq!(plan(policy, attempt, 0, None), Some(pause), "the same for the same id");
            least = (least * 2).min(3_600_000);
        }
    }

    #[test]
    fn both_limits_and_the_receiver_s_wish_count() {
        let policy = DeliveryRetryPolicy::default();
        assert_eq!(plan(policy, 20, 0, None), None);
        assert_eq!(plan(policy, 1, 0, Some(600)), Some(600_000));
        assert_eq!(plan(policy, 1, 86_400_000, None), None);
        assert_eq!(plan(policy, 1, 0, Some(90_000)), None, "later than the last moment");
        let gone = DeliveryError::new(DeliveryFailure::Gone, "gone");
        assert_eq!(policy.plan_retry("d", 1, (Timestamp(0), Timestamp(0)), &gone), None);
    }
}
