//! What every request finds: the house, its keys, the names it is called by.

use std::sync::Arc;
use std::time::Duration;

use super::http_tracing::HttpTracing;
use super::idempotency_cache::IdempotencyCache;
use super::metrics::HttpMetrics;
use super::quota::ServerQuotas;
use super::rate_limiter::RateLimiter;
use crate::access::{HostPolicy, Keyring, LocalToken};
use crate::app_state::AppState;
use crate::live::InboxRegistry;
use crate::shutdown::ShutdownSignal;

/// What every request finds.
#[derive(Clone)]
pub struct HttpState {
    /// The house.
    pub app_state: Arc<AppState>,
    /// Its keys.
    pub keyring: Arc<Keyring>,
    /// The names it is called by.
    pub host_policy: HostPolicy,
    /// What whoever comes without a key must show; `Empty` where nobody must, or everybody needs a key.
    pub token: Option<Arc<LocalToken>>,
    /// The inboxes that somebody follows.
    pub inboxes: Arc<InboxRegistry>,
    /// What is counted.
    pub metrics: Arc<HttpMetrics>,
    /// Where spans and times go.
    pub tracing: Arc<HttpTracing>,
    /// How fast each key may ask.
    pub rate_limiter: Arc<RateLimiter>,
    /// How much is held at once.
    pub quotas: Arc<ServerQuotas>,
    /// How long a client may send nothing in the middle of a body.
    pub body_idle_timeout: Duration,
    /// Answers that are given again.
    pub idempotency_cache: Arc<IdempotencyCache>,
    /// Hears that the server is to end.
    pub shutdown: ShutdownSignal,
}
