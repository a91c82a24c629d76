//! Waiting for a run to pause after an input, as requested by the `Prefer` header.

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use countersign_contract::reply::Violation;
use countersign_run::{ExecutionStatus, RunState};
use tokio::time::{Instant, timeout_at};

use super::runs::load_run_head;
use super::{ApiError, HttpState};
use crate::access::Caller;
use countersign_view::show::collect_outputs;
use countersign_view::wire::InputResponse;

/// Maximum time that a request may wait for a run to pause, in seconds.
const MAX_WAIT_SECONDS: u64 = 25;

/// How often a waiting request polls the store, because another process may work on the run.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How long the client wants to wait for the run to pause: `Prefer: wait=10`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PreferWait(Duration);

impl PreferWait {
    /// Creates a wait of `seconds`, capped at the maximum.
    pub(crate) fn from_seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds.min(MAX_WAIT_SECONDS)))
    }

    /// Reads the `Prefer` header of a request; zero if it is absent.
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

/// Waits for the run to pause if requested, and returns its state. Without waiting, returns the
/// state `then` if it is given, which is the state after a repeated input.
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
            // Check the run again, both after a change and after a timeout.
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
