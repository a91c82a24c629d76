//! Limits the requests per second of each key with a token bucket.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Maximum number of buckets in memory. Full buckets are dropped, because they limit nothing.
const MAX_BUCKETS: usize = 10_000;

/// Limits the requests per second of each key.
#[derive(Debug)]
pub struct RateLimiter {
    rate: f64,
    buckets: Mutex<BTreeMap<String, (f64, Instant)>>,
}

impl RateLimiter {
    /// Allows `rate` requests per second, and bursts of twice as many.
    #[must_use]
    pub fn new(rate: u32) -> Self {
        Self { rate: f64::from(rate.max(1)), buckets: Mutex::default() }
    }

    /// Takes one request from the bucket of a key. If it is empty, returns the seconds to wait.
    pub fn try_acquire(&self, key: &str) -> Result<(), u64> {
        self.try_acquire_at(key, Instant::now())
    }

    fn try_acquire_at(&self, key: &str, now: Instant) -> Result<(), u64> {
        let most = self.rate * 2.0;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let filled = |(left, since): (f64, Instant)| {
            (left + now.duration_since(since).as_secs_f64() * self.rate).min(most)
        };
        if buckets.len() >= MAX_BUCKETS {
            buckets.retain(|_, bucket| filled(*bucket) < most);
        }
        let left = buckets.get(key).map_or(most, |bucket| filled(*bucket));
        if left < 1.0 {
            return Err(((1.0 - left) / self.rate).ceil().max(1.0) as u64);
        }
        buckets.insert(key.to_owned(), (left - 1.0, now));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_bucket_empties_and_fills_again_and_is_one_keys() {
        let (rates, now) = (RateLimiter::new(2), Instant::now());
        for _ in 0..4 {
            assert_eq!(rates.try_acquire_at("a", now), Ok(()));
        }
        assert_eq!(rates.try_acquire_at("a", now), Err(1));
        assert_eq!(rates.try_acquire_at("b", now), Ok(()), "another's is full");
        let later = now + Duration::from_millis(600);
        assert_eq!(rates.try_acquire_at("a", later), Ok(()));
        assert_eq!(rates.try_acquire_at("a", later), Err(1));
    }
}
