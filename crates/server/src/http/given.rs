//! What happens after a run was given something: it goes on, and the client is told where it stands.

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use countersign_core::reply::Violation;
use countersign_core::run::{State, Status};
use tokio::time::{Instant, timeout_at};

use super::runs::head;
use super::{ApiError, App};
use crate::access::Caller;
use crate::show::products;
use crate::wire::Taken;

/// How long a client may be kept waiting for a run to rest, in seconds.
const MOST: u64 = 25;

/// How often the store is asked while somebody waits: another process may work on the run.
const LOOK: Duration = Duration::from_millis(500);

/// How long a client wants to wait for a run to rest: `Prefer: wait=10`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience(Duration);

impl Patience {
    /// So many seconds, and never more than a client may be kept waiting.
    pub(crate) fn seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds.min(MOST)))
    }

    /// What a request says.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, ApiError> {
        let mut seconds = 0;
        for value in headers.get_all("prefer") {
            let parts = value.to_str().unwrap_or_default().split(',').map(str::trim);
            for wait in parts.filter_map(|part| part.strip_prefix("wait=")) {
                seconds = wait.parse().map_err(|_| {
                    let detail = format!("`Prefer: wait={wait}`: expected a number of seconds");
                    ApiError::bad("bad_header", detail)
                })?;
            }
        }
        Ok(Self::seconds(seconds))
    }
}

/// Waits for a run to rest where that is wanted, and tells where it stands; where nobody waits, as it was `then`,
/// for what came again.
pub(crate) async fn taken(
    app: &App,
    caller: &Caller,
    run: &str,
    violations: Option<Vec<Violation>>,
    Patience(patience): Patience,
    then: Option<Arc<State>>,
) -> Result<Taken, ApiError> {
    let engine = &caller.desk.engine;
    if !patience.is_zero() {
        let mut watched = app.house.hub().watch(&engine.run_id(run));
        let end = Instant::now() + patience;
        while Instant::now() < end && head(engine, run).await?.status == Status::Running.as_str() {
            let next = end.min(Instant::now() + LOOK);
            // Neither a change nor a time that has passed says more than: look again.
            drop(timeout_at(next, watched.changed()).await);
        }
    }
    let state = match then.filter(|_| patience.is_zero()) {
        Some(then) => then,
        None => engine.look(run).await?.state,
    };
    let made = if state.end.is_some() { products(engine, run).await? } else { Vec::new() };
    Ok(Taken::of(&state, made, violations))
}
