//! Quotas: limits of a resource in use, for all callers together and for each key.
//!
//! A share returns its units when it is dropped, so a client that disconnects occupies nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;

use super::ApiError;
use crate::access::Caller;
use crate::service_limits::ServiceLimits;

/// Seconds after which a refused client may retry.
const RETRY_AFTER_SECONDS: u64 = 2;

/// The limit of one resource, and its current usage.
#[derive(Debug)]
pub struct Quota {
    /// Plural name of the unit, for error messages.
    unit_name: &'static str,
    /// The error code when one key exceeds its limit.
    code: &'static str,
    total: u64,
    per_key: u64,
    usage: Mutex<QuotaUsage>,
}

#[derive(Debug, Default)]
struct QuotaUsage {
    total: u64,
    /// Usage by key; contains only keys with usage.
    by_key: BTreeMap<String, u64>,
}

impl Quota {
    /// Creates a quota with a total limit and a limit per key.
    #[must_use]
    pub fn new(what: &'static str, code: &'static str, total: u64, per_key: u64) -> Arc<Self> {
        Arc::new(Self { unit_name: what, code, total, per_key, usage: Mutex::default() })
    }

    /// Creates an empty share for a caller.
    pub(crate) fn new_share(self: &Arc<Self>, caller: &Caller) -> QuotaShare {
        let key = caller.key_id.clone().unwrap_or_default();
        QuotaShare { quota: Arc::clone(self), key, units: 0 }
    }

    /// The number of units in use.
    #[must_use]
    pub fn used_amount(&self) -> u64 {
        self.lock().total
    }

    fn lock(&self) -> MutexGuard<'_, QuotaUsage> {
        // Every change under the lock is complete or absent, so the data is usable after a panic.
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The units that one request occupies.
#[derive(Debug)]
pub(crate) struct QuotaShare {
    quota: Arc<Quota>,
    key: String,
    units: u64,
}

impl QuotaShare {
    /// Acquires more units.
    ///
    /// # Errors
    /// Status 429 if the key would exceed its limit, 503 if all keys together would exceed the
    /// total.
    pub(crate) fn acquire(&mut self, units: u64) -> Result<(), ApiError> {
        let Quota { unit_name: what, code, total, per_key, .. } = &*self.quota;
        let mut used = self.quota.lock();
        let of_key = used.by_key.get(&self.key).copied().unwrap_or(0);
        if of_key.saturating_add(units) > *per_key {
            let detail = format!("this key can use at most {per_key} {what} at the same time");
            let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, code, detail);
            return Err(error.with_retry_after(RETRY_AFTER_SECONDS));
        }
        if used.total.saturating_add(units) > *total {
            let detail = format!("the server has reached its limit of {total} {what}; retry later");
            return Err(ApiError::unavailable("busy", detail).with_retry_after(RETRY_AFTER_SECONDS));
        }
        used.total += units;
        if units > 0 {
            *used.by_key.entry(self.key.clone()).or_default() += units;
        }
        self.units += units;
        Ok(())
    }
}

impl Drop for QuotaShare {
    fn drop(&mut self) {
        let mut used = self.quota.lock();
        used.total -= self.units;
        if let Some(of_key) = used.by_key.get_mut(&self.key) {
            *of_key -= self.units;
            if *of_key == 0 {
                used.by_key.remove(&self.key);
            }
        }
    }
}

/// The quotas of a server.
#[derive(Debug)]
pub struct ServerQuotas {
    /// Bytes of request bodies in memory.
    pub body_bytes: Arc<Quota>,
    /// Bytes of unfinished uploads on disk.
    pub upload_bytes: Arc<Quota>,
    /// Document uploads in progress.
    pub uploads: Arc<Quota>,
    /// Open event streams.
    pub streams: Arc<Quota>,
}

impl ServerQuotas {
    /// Creates the quotas from the configured limits.
    #[must_use]
    pub fn new(limits: &ServiceLimits) -> Self {
        // Half of the connections stay free for requests that end with their response.
        let streams = limits.streams.min((limits.connections / 2).max(1) as u64);
        Self {
            body_bytes: Quota::new(
                "bytes of request bodies",
                "too_many_bytes",
                limits.body_bytes,
                limits.body_bytes_per_key,
            ),
            upload_bytes: Quota::new(
                "bytes of uploads",
                "too_many_bytes",
                limits.upload_bytes,
                limits.upload_bytes_per_key,
            ),
            uploads: Quota::new(
                "uploads",
                "too_many_uploads",
                limits.uploads,
                limits.uploads_per_key,
            ),
            streams: Quota::new(
                "event streams",
                "too_many_streams",
                streams,
                limits.streams_per_key,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(quota: &Arc<Quota>, key: &str) -> QuotaShare {
        QuotaShare { quota: Arc::clone(quota), key: key.to_owned(), units: 0 }
    }

    #[test]
    fn a_key_and_all_keys_hold_so_much_and_give_it_back() {
        let quota = Quota::new("streams", "too_many_streams", 3, 2);
        let [mut one, mut other] = [share(&quota, "a"), share(&quota, "a")];
        one.acquire(1).unwrap();
        other.acquire(1).unwrap();
        let refused = other.acquire(1).unwrap_err();
        assert_eq!((refused.problem().status, &*refused.problem().code), (429, "too_many_streams"));
        let mut third = share(&quota, "b");
        third.acquire(1).unwrap();
        let refused = share(&quota, "c").acquire(1).unwrap_err();
        assert_eq!((refused.problem().status, &*refused.problem().code), (503, "busy"));
        drop((one, other, third));
        assert_eq!(quota.used_amount(), 0);
        assert!(quota.lock().by_key.is_empty(), "a key that holds nothing is forgotten");
    }
}
