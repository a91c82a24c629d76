//! Computes how long to wait before the next attempt. The computation is pure: it has no clock, and
//! randomness only from the seed.

use std::time::Duration;

/// A backoff schedule with growing delays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExponentialBackoff {
    /// Delay after the first failed attempt. Default: one second.
    pub initial_interval: Duration,
    /// Factor by which each delay grows. Default: 2.
    pub multiplier: u32,
    /// Longest delay, unless the provider asks for more. Default: one minute.
    pub max_interval: Duration,
    /// Seed that spreads callers apart: it takes up to half off each delay. Default: 0.
    pub seed: u64,
}

impl Default for ExponentialBackoff {
    fn default() -> Self {
        Self {
            initial_interval: Duration::from_secs(1),
            multiplier: 2,
            max_interval: Duration::from_mins(1),
            seed: 0,
        }
    }
}

impl ExponentialBackoff {
    /// Returns the delay after the failed attempt `attempt`, counted from 0; never shorter than the
    /// provider asks.
    #[must_use]
    pub fn delay(&self, attempt: u32, retry_after: Option<Duration>) -> Duration {
        let growth = self.multiplier.max(1).saturating_pow(attempt);
        let full = self.initial_interval.saturating_mul(growth).min(self.max_interval);
        let share = splitmix64(self.seed ^ splitmix64(u64::from(attempt))) >> 11;
        // Both parts of the fraction stay within 2^53, where `f64` is exact.
        let spread = full.mul_f64(0.5 + 0.5 * (share as f64 / (1u64 << 53) as f64));
        spread.max(retry_after.unwrap_or_default())
    }
}

/// The finalizer of `SplitMix64`: similar seeds give very different numbers.
fn splitmix64(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_the_cap_and_stay_within_half_and_whole() {
        let backoff = ExponentialBackoff { seed: 7, ..ExponentialBackoff::default() };
        for (attempt, full) in [(0, 1), (1, 2), (2, 4), (5, 32), (6, 60), (40, 60), (u32::MAX, 60)]
        {
            let delay = backoff.delay(attempt, None);
            let full = Duration::from_secs(full);
            assert!(full / 2 <= delay && delay <= full, "{attempt}: {delay:?}");
        }
    }

    #[test]
    fn the_seed_decides_and_nothing_else() {
        let waits = |seed| {
            let backoff = ExponentialBackoff { seed, ..ExponentialBackoff::default() };
            (0..8).map(|attempt| backoff.delay(attempt, None)).collect::<Vec<_>>()
        };
        assert_eq!(waits(1), waits(1));
        assert_ne!(waits(1), waits(2));
    }

    #[test]
    fn the_provider_is_never_asked_sooner_than_it_wants() {
        let backoff = ExponentialBackoff::default();
        let wish = Duration::from_mins(10);
        assert_eq!(backoff.delay(0, Some(wish)), wish);
        assert!(backoff.delay(6, Some(Duration::from_millis(1))) >= Duration::from_secs(30));
    }
}
