//! MCP over standard input and output, for the agent that started this process. A worker in the
//! process works on runs at the same time.

use std::sync::Arc;
use std::time::Duration;

use countersign_store::TenantId;
use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::transport::io::stdio_pipes;
use thiserror::Error;

use super::mcp_server::{McpCallerSource, McpServer};
use crate::access::{AccessRole, AuthMode, Caller, HostPolicy, Keyring};
use crate::app_state::{AppState, TenantRuntimeError};
use crate::http::{HttpState, RateLimiter, ServerQuotas};
use crate::serve::run_worker;
use crate::service_limits::ServiceLimits;
use crate::shutdown::ShutdownTrigger;

/// How long steps in progress may continue after the agent has disconnected.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// Why the session cannot run.
#[derive(Debug, Error)]
pub enum McpStdioError {
    /// The runtime of tenant `default` cannot be opened.
    #[error(transparent)]
    TenantRuntime(#[from] TenantRuntimeError),
    /// The client does not speak MCP.
    #[error("the MCP session failed: {0}")]
    NoSession(String),
}

/// The settings of a session over standard input and output.
pub struct McpStdioSession {
    /// The store, the memory and the tenant runtimes.
    pub app_state: Arc<AppState>,
    /// The API keys, which this transport does not check.
    pub keyring: Arc<Keyring>,
    /// Whether the agent may approve and deny in place of a person.
    pub may_decide: bool,
}

/// Serves the session until the agent closes its side or `end` completes, then waits for the work
/// in progress.
pub async fn serve_stdio(
    session: McpStdioSession,
    end: impl Future<Output = ()> + Send,
) -> Result<(), McpStdioError> {
    let McpStdioSession { app_state, keyring, may_decide: decides } = session;
    let (stop, stopping) = ShutdownTrigger::new();
    let runtime = app_state.open_tenant(&TenantId::default())?;
    let user = app_state.deps().default_user.clone();
    let sender = app_state.deps().default_sender.clone();
    let app = HttpState {
        app_state: Arc::clone(&app_state),
        keyring,
        host_policy: HostPolicy::from_addresses(&[], AuthMode::default()),
        token: None,
        inboxes: Arc::default(),
        metrics: Arc::default(),
        rate_limiter: Arc::new(RateLimiter::new(1)),
        quotas: Arc::new(ServerQuotas::new(&ServiceLimits::default())),
        body_idle_timeout: ServiceLimits::default().body_idle_timeout,
        idempotency_cache: Arc::default(),
        shutdown: stopping.clone(),
    };
    let caller = Caller { runtime, role: AccessRole::Admin, user, sender, key_id: None };
    let door = McpServer::new(app, McpCallerSource::Fixed(caller), decides);
    let worker =
        tokio::spawn(async move { run_worker(&app_state, stopping, SHUTDOWN_GRACE).await });
    let result = tokio::select! {
        result = run_session(door) => result,
        () = end => Ok(()),
    };
    stop.trigger();
    // A worker that panicked needs no further shutdown.
    drop(worker.await);
    result
}

async fn run_session(door: McpServer) -> Result<(), McpStdioError> {
    let no_session = |error: &dyn std::error::Error| McpStdioError::NoSession(error.to_string());
    let running = match rmcp::serve_server(door, stdio_pipes()).await {
        Ok(running) => running,
        // The agent disconnected before the session started.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(no_session(&error)),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(no_session(&error)),
        Ok(_) => Ok(()),
    }
}
