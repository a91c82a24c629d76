//! The state that every request handler receives.

use std::sync::Arc;
use std::time::Duration;

use super::idempotency_cache::IdempotencyCache;
use super::metrics::HttpMetrics;
use super::quota::ServerQuotas;
use super::rate_limiter::RateLimiter;
use crate::access::{HostPolicy, Keyring, LocalToken};
use crate::app_state::AppState;
use crate::live::InboxRegistry;
use crate::service_limits::ServiceLimits;
use crate::shutdown::ShutdownSignal;

/// The state of the HTTP server, shared by all requests.
#[derive(Clone)]
pub struct HttpState {
    /// The store, the memory and the tenant runtimes.
    pub app_state: Arc<AppState>,
    /// The API keys of the server.
    pub keyring: Arc<Keyring>,
    /// The accepted `Host` and `Origin` headers.
    pub host_policy: HostPolicy,
    /// The token that callers without a key must present; `None` if no token is needed or if every
    /// caller needs a key.
    pub token: Option<Arc<LocalToken>>,
    /// The inboxes that at least one client follows.
    pub inboxes: Arc<InboxRegistry>,
    /// The counters for Prometheus.
    pub metrics: Arc<HttpMetrics>,
    /// Limits the requests per second of each key.
    pub rate_limiter: Arc<RateLimiter>,
    /// Limits the bytes, uploads and streams in use.
    pub quotas: Arc<ServerQuotas>,
    /// How long a client may send nothing in the middle of a body.
    pub body_idle_timeout: Duration,
    /// Stored responses for repeated requests with an `Idempotency-Key`.
    pub idempotency_cache: Arc<IdempotencyCache>,
    /// Signals that the server shuts down.
    pub shutdown: ShutdownSignal,
}

impl HttpState {
    /// Creates the state of a server that has answered nothing yet.
    pub(crate) fn new(
        app_state: Arc<AppState>,
        keyring: Arc<Keyring>,
        host_policy: HostPolicy,
        token: Option<Arc<LocalToken>>,
        limits: &ServiceLimits,
        requests_per_second: u32,
        shutdown: ShutdownSignal,
    ) -> Self {
        Self {
            app_state,
            keyring,
            host_policy,
            token,
            inboxes: Arc::default(),
            metrics: Arc::default(),
            rate_limiter: Arc::new(RateLimiter::new(requests_per_second)),
            quotas: Arc::new(ServerQuotas::new(limits)),
            body_idle_timeout: limits.body_idle_timeout,
            idempotency_cache: Arc::default(),
            shutdown,
        }
    }
}
