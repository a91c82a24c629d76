//! The list of runs, and the status of a run.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use countersign_run::{ExecutionStatus, Timestamp};
use countersign_runtime::engine::{Engine, EngineError, InputOutcome, LiveRun, split_search_query};
use countersign_store::{RunCursor, RunFilter, RunHead, TenantId};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use countersign_runtime::memory_context::parse_time;

use super::cursor::{decode_cursor, encode_cursor, resolve_limit};
use super::etag::{matches_if_none_match, version_etag};
use super::extract::{ApiPath, ApiQuery};
use super::protocols::with_catalog;
use super::{ApiError, HttpState};
use crate::access::Caller;
use countersign_view::show::{RunStatusReport, collect_outputs, describe_parking, load_run_family};
use countersign_view::wire::{CursorPage, RunRow, RunStatusView, build_run_rows};

/// The filter of the list of runs.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListRunsQuery {
    /// Only runs with all of these words in the title, the input or the document, in any script.
    pub(crate) q: Option<String>,
    /// Only runs with this status: `running`, `waiting`, `halted`, `completed`, `failed`.
    pub(crate) status: Option<String>,
    /// Only runs of this workflow.
    pub(crate) workflow: Option<String>,
    /// Only runs in this phase.
    pub(crate) phase: Option<String>,
    /// Only runs of the protocol with this digest.
    pub(crate) protocol: Option<String>,
    /// Only runs of this version of their protocol, such as `1.2.0`.
    pub(crate) version: Option<String>,
    /// Only runs that were created at this time or later (RFC 3339).
    pub(crate) since: Option<String>,
    /// Only runs that were created before this time (RFC 3339).
    pub(crate) until: Option<String>,
    /// Only runs that this user started.
    pub(crate) started_by: Option<String>,
    /// The `next_cursor` value of the previous page.
    pub(crate) cursor: Option<String>,
    /// Maximum number of items, from 1 to 500. Default: 50.
    pub(crate) limit: Option<usize>,
}

/// Selects a version of a run.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunVersionQuery {
    /// The version of the run. Default: the newest.
    pub version: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct RunPageCursor {
    created_at: i64,
    id: String,
}

/// List runs, the newest first.
#[utoipa::path(get, path = "/v1/runs", tag = "runs", params(ListRunsQuery), responses((status = 200, body = CursorPage<RunRow>)))]
pub(crate) async fn list_runs(
    caller: Caller,
    ApiQuery(which): ApiQuery<ListRunsQuery>,
) -> Result<Json<CursorPage<RunRow>>, ApiError> {
    let (after, most) = (which.cursor, resolve_limit(which.limit)?);
    let chosen = ListRunsQuery { cursor: None, limit: None, ..which };
    let signed = ("runs", &chosen);
    let after = after.map(|cursor| decode_cursor::<RunPageCursor>(&signed, &cursor)).transpose()?;
    let engine = &caller.runtime.engine;
    let Some(mut filter) = build_filter(engine.tenant(), &chosen, most + 1)? else {
        return Ok(Json(CursorPage { items: Vec::new(), next_cursor: None }));
    };
    filter.after = after.map(|RunPageCursor { created_at, id }| RunCursor { created_at, id });
    let mut heads = engine.store().list_runs(&filter).await?;
    let more = heads.len() > most;
    heads.truncate(most);
    let last = heads.last().filter(|_| more).map(RunHead::to_cursor);
    let next_cursor = last.map(|RunCursor { created_at, id }| {
        encode_cursor(&signed, RunPageCursor { created_at, id })
    });
    let items = build_run_rows(engine, heads, engine.clock().now()).await?;
    Ok(Json(CursorPage { items, next_cursor }))
}

/// Builds the filter of a list; `None` if the search has no word, so that it finds nothing.
fn build_filter(
    tenant: &TenantId,
    chosen: &ListRunsQuery,
    limit: usize,
) -> Result<Option<RunFilter>, ApiError> {
    if let Some(word) = chosen.status.as_ref()
        && !ExecutionStatus::ALL.iter().any(|one| one.as_str() == word)
    {
        let all = ExecutionStatus::ALL.map(ExecutionStatus::as_str).join(", ");
        return Err(ApiError::bad_request(
            "bad_query",
            format!("unknown status `{word}`; expected one of: {all}"),
        ));
    }
    let time = |name: &str, text: &Option<String>| {
        text.as_deref().map(|text| parse_query_time(name, text)).transpose()
    };
    let mut filter = RunFilter::newest(tenant.clone(), limit);
    filter.status.clone_from(&chosen.status);
    filter.workflow.clone_from(&chosen.workflow);
    filter.phase.clone_from(&chosen.phase);
    filter.protocol.clone_from(&chosen.protocol);
    filter.protocol_version.clone_from(&chosen.version);
    filter.started_by.clone_from(&chosen.started_by);
    filter.since = time("since", &chosen.since)?.map(|time| time.0);
    filter.until = time("until", &chosen.until)?.map(|time| time.0);
    if let Some(query) = chosen.q.as_deref().filter(|query| !query.trim().is_empty()) {
        filter.terms = split_search_query(query);
        if filter.terms.is_empty() {
            return Ok(None);
        }
    }
    Ok(Some(filter))
}

/// Reads a time of a query.
pub(crate) fn parse_query_time(name: &str, text: &str) -> Result<Timestamp, ApiError> {
    parse_time(name, text).map_err(|message| ApiError::bad_request("bad_query", message))
}

/// Get the status of a run and its reasons.
///
/// Returns the newest version by default. The `ETag` is the version.
#[utoipa::path(get, path = "/v1/runs/{run}", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), RunVersionQuery),
    responses((status = 200, body = RunStatusView), (status = 304, description = "The run is still at the version in `If-None-Match`.")))]
pub(crate) async fn get_run(
    State(app): State<HttpState>,
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    ApiQuery(RunVersionQuery { version }): ApiQuery<RunVersionQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let engine = &caller.runtime.engine;
    let head = load_run_head(engine, &run).await?;
    // Parking a run does not create a new version.
    let parked = head.is_parked(engine.clock().now().0);
    if version.is_none() && !parked && matches_if_none_match(&headers, head.version) {
        let tag = [(header::ETAG, version_etag(head.version))];
        return Ok((StatusCode::NOT_MODIFIED, tag).into_response());
    }
    let status = load_run_status(&app, engine, &run, version).await?;
    let state = load_run_at(engine, &run, Some(status.version)).await?.state;
    let status = status.with_refusals(&state, |wait| caller.find_refusal(wait));
    let tag = [(header::ETAG, version_etag(status.version))];
    Ok((tag, Json(status)).into_response())
}

/// Loads the status of a run at a version, or the current status.
pub(crate) async fn load_run_status(
    app: &HttpState,
    engine: &Engine,
    run: &str,
    at: Option<u64>,
) -> Result<RunStatusView, ApiError> {
    let live = load_run_at(engine, run, at).await?;
    let (state, protocol) = (live.state, live.protocol);
    let mut log = engine.read_log(run).await?;
    log.retain(|entry| entry.version <= state.version);
    let made = if state.end.is_some() { collect_outputs(engine, run).await? } else { Vec::new() };
    let name = protocol.name.clone();
    let digest = with_catalog(app, move |catalog| Ok(catalog.load_folder_digest(&name))).await?;
    let outcome = InputOutcome { state, events: Vec::new(), protocol };
    let now = engine.clock().now();
    let head = engine.store().load_head(&engine.run_id(run)).await?;
    let parked = head.filter(|_| at.is_none()).and_then(|head| describe_parking(&head, now));
    let family = load_run_family(engine, &outcome.state).await?;
    let report = RunStatusReport::build(outcome, &log, now, digest.as_deref(), made);
    let report = report.with_parking(parked).with_family(family);
    let mut view = RunStatusView::from(&report);
    for wait in &mut view.waits {
        if let Some(held) = report.outcome.state.waits.get(&wait.id) {
            wait.preview = engine.preview_wait(&view.run, held).await;
        }
    }
    Ok(view)
}

/// Loads a run at a version, or its current state. Reports an unknown run before an unknown
/// version.
pub(crate) async fn load_run_at(
    engine: &Engine,
    run: &str,
    at: Option<u64>,
) -> Result<LiveRun, ApiError> {
    match engine.load_version(run, at).await {
        Err(error @ EngineError::RunNotFound { version: Some(_), .. }) => {
            load_run_head(engine, run).await?;
            Err(error.into())
        }
        other => Ok(other?),
    }
}

/// Loads the head of a run; an error if the run does not exist.
pub(crate) async fn load_run_head(engine: &Engine, run: &str) -> Result<RunHead, ApiError> {
    let head = engine.store().load_head(&engine.run_id(run)).await?;
    let missing = || EngineError::RunNotFound { run: run.to_owned(), version: None };
    Ok(head.ok_or_else(missing)?)
}
