//! Quotas: how much of something all callers hold at once, and how much one key does.
//!
//! A share is given back when it is dropped, so a client that goes away holds nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;

use super::ApiError;
use crate::access::Caller;
use crate::service_limits::ServiceLimits;

/// Seconds after which a client that was refused may try again.
const RETRY_AFTER_SECONDS: u64 = 2;

/// How much of one thing may be held at once.
#[derive(Debug)]
pub struct Quota {
    /// What is counted, in the plural, for messages.
    unit_name: &'static str,
    /// The code of a problem where one key holds too much.
    code: &'static str,
    total: u64,
    per_key: u64,
    usage: Mutex<QuotaUsage>,
}

#[derive(Debug, Default)]
struct QuotaUsage {
    total: u64,
    /// Only keys that hold something.
    by_key: BTreeMap<String, u64>,
}

impl Quota {
    /// A quota of so much in total and for each key.
    #[must_use]
    pub fn new(what: &'static str, code: &'static str, total: u64, per_key: u64) -> Arc<Self> {
        Arc::new(Self { unit_name: what, code, total, per_key, usage: Mutex::default() })
    }

    /// A share of a caller, which holds nothing yet.
    pub(crate) fn new_share(self: &Arc<Self>, caller: &Caller) -> QuotaShare {
        let key = caller.key_id.clone().unwrap_or_default();
        QuotaShare { quota: Arc::clone(self), key, units: 0 }
    }

    /// How much is held now.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.lock().total
    }

    fn lock(&self) -> MutexGuard<'_, QuotaUsage> {
        // What is behind it is put in whole or not at all, so a panic elsewhere leaves it usable.
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one request holds of a quota.
#[derive(Debug)]
pub(crate) struct QuotaShare {
    quota: Arc<Quota>,
    key: String,
    units: u64,
}

impl QuotaShare {
    /// Takes more.
    ///
    /// # Errors
    /// 429 where the key would hold too much, 503 where all keys together would.
    pub(crate) fn acquire(&mut self, units: u64) -> Result<(), ApiError> {
        let Quota { unit_name: what, code, total, per_key, .. } = &*self.quota;
        let mut used = self.quota.lock();
        let of_key = used.by_key.get(&self.key).copied().unwrap_or(0);
        if of_key.saturating_add(units) > *per_key {
            let detail = format!("this key may hold {per_key} {what} at once");
            let told = ApiError::new(StatusCode::TOO_MANY_REQUESTS, code, detail);
            return Err(told.with_retry_after(RETRY_AFTER_SECONDS));
        }
        if used.total.saturating_add(units) > *total {
            let detail = format!("the server holds as many {what} as it may: {total}");
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
    /// Bytes of bodies in memory.
    pub body_bytes: Arc<Quota>,
    /// Bytes of unfinished uploads on the disk.
    pub upload_bytes: Arc<Quota>,
    /// Documents that are being uploaded.
    pub uploads: Arc<Quota>,
    /// Event streams.
    pub streams: Arc<Quota>,
}

impl ServerQuotas {
    /// Quotas as the limits say.
    #[must_use]
    pub fn new(limits: &ServiceLimits) -> Self {
        // Half of the connections are left for requests that are answered and done.
        let streams = limits.streams.min((limits.connections / 2).max(1) as u64);
        Self {
            body_bytes: Quota::new(
                "bytes of bodies",
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
        assert_eq!(quota.used(), 0);
        assert!(quota.lock().by_key.is_empty(), "a key that holds nothing is forgotten");
    }
}
