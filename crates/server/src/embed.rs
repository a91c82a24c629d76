//! Countersign's routes inside another axum application.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;

use crate::access::{AuthMode, HostPolicy, Keyring, LocalToken};
use crate::app_state::AppState;
use crate::http::{HttpState, build_router};
use crate::serve::{
    DEFAULT_REQUESTS_PER_SECOND, SHUTDOWN_GRACE, ServeError, open_host_policy, open_token,
    run_worker,
};
use crate::service_limits::ServiceLimits;
use crate::shutdown::ShutdownSignal;

/// A server without sockets, for an application that accepts connections itself.
///
/// Authentication, roles, quotas and body limits are those of [`HttpServer`]. Limits of
/// connections, of headers and of slow readers are up to the application, because it owns the
/// sockets; so are TLS and `Host` names other than loopback.
///
/// [`HttpServer`]: crate::serve::HttpServer
pub struct EmbeddedServer {
    app_state: Arc<AppState>,
    keyring: Arc<Keyring>,
    host_policy: HostPolicy,
    token: Option<Arc<LocalToken>>,
    limits: ServiceLimits,
}

impl EmbeddedServer {
    /// Creates a server for an application that listens on these bound addresses. As in
    /// [`HttpServer::bind`](crate::serve::HttpServer::bind), requests without a key are accepted
    /// only if all of them are loopback addresses. Fails if every request would need a key and no
    /// active key exists.
    pub fn open(
        addresses: &[SocketAddr],
        app_state: Arc<AppState>,
        keyring: Arc<Keyring>,
        auth_mode: AuthMode,
    ) -> Result<Self, ServeError> {
        let host_policy = open_host_policy(addresses, &app_state, &keyring, auth_mode)?;
        let token = open_token(addresses, &host_policy, &app_state, auth_mode)?;
        let limits = ServiceLimits::default();
        Ok(Self { app_state, keyring, host_policy, token, limits })
    }

    /// Sets the limits of streams, uploads and bytes.
    #[must_use]
    pub fn with_limits(self, limits: ServiceLimits) -> Self {
        Self { limits, ..self }
    }

    /// The token that callers without a key must present; `None` if no token is needed or if every
    /// caller needs a key.
    #[must_use]
    pub fn token(&self) -> Option<&LocalToken> {
        self.token.as_deref()
    }

    /// Builds the routes: `/v1`, `/mcp` and the web page with its paths
    /// ([`PAGE_PATHS`](crate::web::PAGE_PATHS)).
    ///
    /// Add them with [`Router::merge`]. Do not use [`Router::nest`]: the policy of a route is found
    /// by its whole path, and under a prefix every request is refused. The router has a fallback,
    /// so the application's own router must have none.
    pub fn build_router(&self, shutdown: ShutdownSignal) -> Router {
        let (router, _) = build_router(HttpState::new(
            Arc::clone(&self.app_state),
            Arc::clone(&self.keyring),
            self.host_policy.clone(),
            self.token.clone(),
            &self.limits,
            DEFAULT_REQUESTS_PER_SECOND,
            shutdown,
        ));
        router
    }

    /// Works on runs until the shutdown signal, and then up to 20 seconds on the steps in progress.
    /// Without this, the routes accept inputs, and runs continue only in other processes that share
    /// the store.
    pub async fn run_worker(&self, shutdown: ShutdownSignal) {
        run_worker(&self.app_state, shutdown, SHUTDOWN_GRACE).await;
    }
}
