//! What happens after a run was given something: it goes on, and the client is told where it stands.

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use countersign_core::reply::Violation;
use countersign_core::run::{ExecutionStatus, RunState};
use tokio::time::{Instant, timeout_at};

use super::runs::load_run_head;
use super::{ApiError, HttpState};
use crate::access::Caller;
use crate::show::collect_outputs;
use crate::wire::InputResponse;

/// How long a client may be kept waiting for a run to rest, in seconds.
const MAX_WAIT_SECONDS: u64 = 25;

/// How often the store is asked while somebody waits: another process may work on the run.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How long a client wants to wait for a run to rest: `Prefer: wait=10`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PreferWait(Duration);

impl PreferWait {
    /// So many seconds, and never more than a client may be kept waiting.
    pub(crate) fn from_seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds.min(MAX_WAIT_SECONDS)))
    }

    /// What a request says.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Self, ApiError> {
        let mut seconds = 0;
        for value in headers.get_all("prefer") {
            let parts = value.to_str().unwrap_or_default().split(',').map(str::trim);
            for wait in parts.filter_map(|part| part.strip_prefix("wait=")) {
                seconds = wait.parse().map_err(|_| {
                    let detail = format!("`Prefer: wait={wait}`: expected a number of seconds");
                    ApiError::bad_request("bad_header", detail)
                })?;
            }
        }
        Ok(Self::from_seconds(seconds))
    }
}

/// Waits for a run to rest where that is wanted, and tells where it stands; where nobody waits, as it was `then`,
/// for what came again.
pub(crate) async fn await_input_response(
    app: &HttpState,
    caller: &Caller,
    run: &str,
    violations: Option<Vec<Violation>>,
    PreferWait(patience): PreferWait,
    then: Option<Arc<RunState>>,
) -> Result<InputResponse, ApiError> {
    let engine = &caller.runtime.engine;
    if !patience.is_zero() {
        let mut watched = app.app_state.hub().subscribe(&engine.run_id(run));
        let end = Instant::now() + patience;
        while Instant::now() < end
            && load_run_head(engine, run).await?.status == ExecutionStatus::Running.as_str()
        {
            let next = end.min(Instant::now() + POLL_INTERVAL);
            // Neither a change nor a time that has passed says more than: look again.
            drop(timeout_at(next, watched.wait_for_change()).await);
        }
    }
    let state = match then.filter(|_| patience.is_zero()) {
        Some(then) => then,
        None => engine.get_run(run).await?.state,
    };
    let made = if state.end.is_some() { collect_outputs(engine, run).await? } else { Vec::new() };
    Ok(InputResponse::from_state(&state, made, violations))
}
