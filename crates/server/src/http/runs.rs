//! Runs: the list, and where one stands.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use countersign_core::run::Status;
use countersign_runtime::engine::{Engine, EngineError, Live, Outcome};
use countersign_store::{Head, RunCursor, RunFilter};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use super::cursor::{cursor, limit, place};
use super::etag::{etag, known};
use super::extract::{Asked, At};
use super::protocols::of_files;
use super::{ApiError, App};
use crate::access::Caller;
use crate::show::{Standing, describe_parking, products};
use crate::wire::{Page, RunRow, RunStatus};

/// Which runs.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    /// Only with this status: `running`, `waiting`, `halted`, `completed`, `failed`.
    pub(crate) status: Option<String>,
    /// Only of this workflow.
    pub(crate) workflow: Option<String>,
    /// Only in this phase.
    pub(crate) phase: Option<String>,
    /// Only of the protocol with this digest.
    pub(crate) protocol: Option<String>,
    /// Where to go on: the `next` of the page before.
    pub(crate) cursor: Option<String>,
    /// How many at most: from 1 to 500, 50 where absent.
    pub(crate) limit: Option<usize>,
}

/// Which version.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct Version {
    /// The version; the newest where absent.
    pub at: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct Place {
    created_at: i64,
    id: String,
}

/// Runs, the newest first.
#[utoipa::path(get, path = "/v1/runs", tag = "runs", params(Which), responses((status = 200, body = Page<RunRow>)))]
pub(crate) async fn list(
    caller: Caller,
    Asked(which): Asked<Which>,
) -> Result<Json<Page<RunRow>>, ApiError> {
    let Which { status, workflow, phase, protocol, cursor: after, limit: most } = which;
    if let Some(word) = status.as_ref()
        && !Status::ALL.iter().any(|one| one.as_str() == word)
    {
        let all = Status::ALL.map(Status::as_str).join(", ");
        return Err(ApiError::bad("bad_query", format!("no status `{word}`; there are {all}")));
    }
    let chosen = ("runs", &status, &workflow, &phase, &protocol);
    let after = after.map(|cursor| place::<Place>(&chosen, &cursor)).transpose()?;
    let most = limit(most)?;
    let engine = &caller.desk.engine;
    let mut filter = RunFilter::newest(engine.tenant().clone(), most + 1);
    filter.after = after.map(|Place { created_at, id }| RunCursor { created_at, id });
    filter.status.clone_from(&status);
    filter.workflow.clone_from(&workflow);
    filter.phase.clone_from(&phase);
    filter.protocol.clone_from(&protocol);
    let mut heads = engine.store().runs(&filter).await?;
    let more = heads.len() > most;
    heads.truncate(most);
    let last = heads.last().filter(|_| more).map(Head::cursor);
    let next = last.map(|RunCursor { created_at, id }| cursor(&chosen, Place { created_at, id }));
    let now = engine.clock().now();
    let items = heads.into_iter().map(|head| RunRow::new(head, now)).collect();
    Ok(Json(Page { items, next }))
}

/// Where a run stands, and why; now, or at a version. The `ETag` is its version.
#[utoipa::path(get, path = "/v1/runs/{run}", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), Version),
    responses((status = 200, body = RunStatus), (status = 304, description = "It is still at the version of `If-None-Match`.")))]
pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    At(run): At<String>,
    Asked(Version { at }): Asked<Version>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let engine = &caller.desk.engine;
    let head = head(engine, &run).await?;
    // A run is parked without a new version.
    let parked = head.is_parked(engine.clock().now().0);
    if at.is_none() && !parked && known(&headers, head.version) {
        let tag = [(header::ETAG, etag(head.version))];
        return Ok((StatusCode::NOT_MODIFIED, tag).into_response());
    }
    let status = standing(&app, engine, &run, at).await?;
    let tag = [(header::ETAG, etag(status.version))];
    Ok((tag, Json(status)).into_response())
}

/// Where a run stands at a version, or now.
pub(crate) async fn standing(
    app: &App,
    engine: &Engine,
    run: &str,
    at: Option<u64>,
) -> Result<RunStatus, ApiError> {
    let live = seen(engine, run, at).await?;
    let (state, protocol) = (live.state, live.protocol);
    let mut log = engine.log(run).await?;
    log.retain(|entry| entry.version <= state.version);
    let made = if state.end.is_some() { products(engine, run).await? } else { Vec::new() };
    let name = protocol.name.clone();
    let digest = of_files(app, move |catalog| Ok(catalog.folder_digest(&name))).await?;
    let outcome = Outcome { state, events: Vec::new(), protocol };
    let now = engine.clock().now();
    let head = engine.store().head(&engine.run_id(run)).await?;
    let parked = head.filter(|_| at.is_none()).and_then(|head| describe_parking(&head, now));
    let standing = Standing::of(outcome, &log, now, digest.as_deref(), made);
    Ok(RunStatus::from(&standing.with_parking(parked)))
}

/// A run at a version, or now. That there is no such run is told before that it has no such version.
pub(crate) async fn seen(engine: &Engine, run: &str, at: Option<u64>) -> Result<Live, ApiError> {
    match engine.at(run, at).await {
        Err(error @ EngineError::NoRun { version: Some(_), .. }) => {
            head(engine, run).await?;
            Err(error.into())
        }
        other => Ok(other?),
    }
}

/// Where a run stands in the list; an error where there is none.
pub(crate) async fn head(engine: &Engine, run: &str) -> Result<Head, ApiError> {
    let head = engine.store().head(&engine.run_id(run)).await?;
    let missing = || EngineError::NoRun { run: run.to_owned(), version: None };
    Ok(head.ok_or_else(missing)?)
}
