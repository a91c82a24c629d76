//! Read access to one run: its document, versions, differences, next step and verification.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use countersign_contract::patch::Patch;
use countersign_protocol::WorkflowDefinition;
use countersign_run::{RunEvent, RunLogEntry};
use countersign_runtime::engine::{Engine, EngineError};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::ApiError;
use super::cursor::{decode_cursor, encode_cursor, resolve_limit};
use super::etag::version_etag;
use super::extract::{ApiPath, ApiQuery};
use super::runs::{RunVersionQuery, load_run_at, load_run_head};
use crate::access::Caller;
use countersign_view::show::graph::{WorkflowGraph, render_mermaid, render_svg};
use countersign_view::wire::{
    CursorPage, EventRow, GraphView, NextStep, VerificationView, VersionRow, verify_and_report,
};

/// Selects a version and a part of the document.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct DocumentQuery {
    /// The version of the run. Default: the newest.
    version: Option<u64>,
    /// A JSON Pointer to the part to return. Default: the whole document.
    pointer: Option<String>,
}

/// Selects the versions of a run.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunHistoryQuery {
    /// Only versions after this one.
    after: Option<u64>,
    /// The `next_cursor` value of the previous page.
    cursor: Option<String>,
    /// Maximum number of versions, from 1 to 500. Default: 50.
    limit: Option<usize>,
}

/// Selects two versions to compare.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct VersionDiffQuery {
    /// The first version.
    from: u64,
    /// The second version. Default: the newest.
    to: Option<u64>,
    /// Another run that `to` is a version of. Default: the same run.
    to_run: Option<String>,
}

/// Options of a run graph.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunGraphQuery {
    /// The output format: `svg`, `mermaid` or `json`. Default: `svg`.
    #[param(value_type = Option<String>)]
    format: Option<GraphFormatParam>,
}

/// The format of a graph.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GraphFormatParam {
    /// An SVG image.
    Svg,
    /// Mermaid source text.
    Mermaid,
    /// The phases and edges as data, with the work of each phase, and how often and how long a run
    /// was in it.
    Json,
}

/// Get the document of a run, or a part of it.
///
/// Returns the newest version by default. The `ETag` is the version.
#[utoipa::path(get, path = "/v1/runs/{run}/document", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), DocumentQuery),
    responses((status = 200, body = Value)))]
pub(crate) async fn get_document(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    ApiQuery(DocumentQuery { version, pointer }): ApiQuery<DocumentQuery>,
) -> Result<Response, ApiError> {
    let state = load_run_at(&caller.runtime.engine, &run, version).await?.state;
    let found = read_pointer(&state.document, &pointer.unwrap_or_default())?;
    Ok(([(header::ETAG, version_etag(state.version))], Json(found)).into_response())
}

/// Returns the value at a JSON Pointer of a document.
pub(crate) fn read_pointer(document: &Value, pointer: &str) -> Result<Value, ApiError> {
    document.pointer(pointer).cloned().ok_or_else(|| {
        ApiError::not_found("not_found", format!("the document has no value at `{pointer}`"))
    })
}

/// Get the whole state of a run, in the format of snapshots.
#[utoipa::path(get, path = "/v1/runs/{run}/state", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), RunVersionQuery),
    responses((status = 200, body = Object)))]
pub(crate) async fn get_state(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    ApiQuery(RunVersionQuery { version }): ApiQuery<RunVersionQuery>,
) -> Result<Response, ApiError> {
    let state = load_run_at(&caller.runtime.engine, &run, version).await?.state;
    Ok(([(header::ETAG, version_etag(state.version))], Json(json!(state))).into_response())
}

/// List the versions of a run, the oldest first.
///
/// Each item contains one input and the resulting events.
#[utoipa::path(get, path = "/v1/runs/{run}/versions", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), RunHistoryQuery),
    responses((status = 200, body = CursorPage<VersionRow>)))]
pub(crate) async fn list_versions(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    ApiQuery(since): ApiQuery<RunHistoryQuery>,
) -> Result<Json<CursorPage<VersionRow>>, ApiError> {
    let (entries, next_cursor) = load_log_page(&caller.runtime.engine, &run, since).await?;
    let items =
        entries.into_iter().map(|(entry, events)| VersionRow::from_entry(&entry, events)).collect();
    Ok(Json(CursorPage { items, next_cursor }))
}

/// List the events of a run, the oldest first.
///
/// Each event has its sequence number and the hash of its version. The limit counts versions.
#[utoipa::path(get, path = "/v1/runs/{run}/events", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), RunHistoryQuery),
    responses((status = 200, body = CursorPage<EventRow>)))]
pub(crate) async fn list_events(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    ApiQuery(since): ApiQuery<RunHistoryQuery>,
) -> Result<Json<CursorPage<EventRow>>, ApiError> {
    let (entries, next_cursor) = load_log_page(&caller.runtime.engine, &run, since).await?;
    let rows =
        entries.into_iter().flat_map(|(entry, events)| EventRow::list_from_entry(&entry, events));
    Ok(Json(CursorPage { items: rows.collect(), next_cursor }))
}

async fn load_log_page(
    engine: &Engine,
    run: &str,
    since: RunHistoryQuery,
) -> Result<(Vec<(RunLogEntry, Vec<RunEvent>)>, Option<String>), ApiError> {
    let RunHistoryQuery { after, cursor: carried, limit: most } = since;
    let filter = ("versions", run);
    let carried = carried.map(|cursor| decode_cursor::<u64>(&filter, &cursor)).transpose()?;
    let (after, most) = (carried.or(after).unwrap_or(0), resolve_limit(most)?);
    load_run_head(engine, run).await?;
    let mut log = engine.read_log_after(run, after, most + 1).await?;
    let more = log.len() > most;
    log.truncate(most);
    let next = log.last().filter(|_| more).map(|last| encode_cursor(&filter, last.version));
    let opened = log.into_iter().map(|entry| {
        let events =
            entry.decode_events(run).map_err(|source| EngineError::corrupt(run, source))?;
        Ok::<_, EngineError>((entry, events))
    });
    Ok((opened.collect::<Result<_, _>>()?, next))
}

/// Get the changes of the document between two versions, as an RFC 6902 patch.
#[utoipa::path(get, path = "/v1/runs/{run}/diff", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), VersionDiffQuery),
    responses((status = 200, body = Vec<Object>)))]
pub(crate) async fn diff_versions(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    ApiQuery(VersionDiffQuery { from, to, to_run }): ApiQuery<VersionDiffQuery>,
) -> Result<Json<Value>, ApiError> {
    let engine = &caller.runtime.engine;
    let before = load_run_at(engine, &run, Some(from)).await?.state;
    let after = load_run_at(engine, to_run.as_deref().unwrap_or(&run), to).await?.state;
    Ok(Json(json!(Patch::diff(&before.document, &after.document))))
}

/// Draw the workflow of a run as a graph.
///
/// Shows the current phase, the transitions taken, and why gates are closed.
#[utoipa::path(get, path = "/v1/runs/{run}/graph", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), RunGraphQuery),
    responses((status = 200, content((String = "image/svg+xml"), (String = "text/vnd.mermaid"), (GraphView = "application/json")))))]
pub(crate) async fn get_run_graph(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    ApiQuery(RunGraphQuery { format }): ApiQuery<RunGraphQuery>,
) -> Result<Response, ApiError> {
    let engine = &caller.runtime.engine;
    let outcome = engine.get_run(&run).await?;
    let log = engine.read_log(&run).await?;
    let decoded = log.into_iter().map(|entry| Ok((entry.decode_events(&run)?, entry)));
    let decoded: Result<Vec<_>, _> =
        decoded.map(|one| one.map(|(events, entry)| (entry, events))).collect();
    let log = decoded.map_err(|source| EngineError::corrupt(run.as_str(), source))?;
    let workflow = outcome.protocol.find_workflow(&outcome.state.workflow);
    let workflow = workflow.map_err(|said| ApiError::internal("protocol_unusable", said))?;
    if matches!(format, Some(GraphFormatParam::Json)) {
        let now = engine.clock().now();
        return Ok(Json(GraphView::from_run(workflow, &outcome.state, &log, now)).into_response());
    }
    let events: Vec<RunEvent> = log.into_iter().flat_map(|(_, events)| events).collect();
    Ok(render_graph(workflow, |graph| graph.with_run(&outcome.state, &events), format))
}

/// Renders the graph of a workflow in the requested format; `complete` adds what is known of a run
/// to a picture.
pub(crate) fn render_graph(
    workflow: &WorkflowDefinition,
    complete: impl FnOnce(WorkflowGraph) -> WorkflowGraph,
    format: Option<GraphFormatParam>,
) -> Response {
    let draw = || complete(WorkflowGraph::from_workflow(workflow));
    match format.unwrap_or(GraphFormatParam::Svg) {
        GraphFormatParam::Svg => {
            ([(header::CONTENT_TYPE, "image/svg+xml")], render_svg(&draw())).into_response()
        }
        GraphFormatParam::Mermaid => {
            let kind = [(header::CONTENT_TYPE, "text/vnd.mermaid; charset=utf-8")];
            (kind, render_mermaid(&draw())).into_response()
        }
        GraphFormatParam::Json => Json(GraphView::from_workflow(workflow)).into_response(),
    }
}

/// Get what the run asks for.
///
/// Contains the prompt, the contract, the schema and the ids. The `ETag` is the version of the run.
#[utoipa::path(get, path = "/v1/runs/{run}/next", tag = "runs",
    params(("run" = String, Path, description = "The id of the run.")),
    responses((status = 200, body = NextStep)))]
pub(crate) async fn get_next_step(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
) -> Result<Response, ApiError> {
    let engine = &caller.runtime.engine;
    let live = engine.load_version(&run, None).await?;
    let next = NextStep::load(engine, &live).await;
    Ok(([(header::ETAG, version_etag(next.version))], Json(next)).into_response())
}

/// Verify the log of a run.
///
/// Follows the hash chain, decides every input again, and compares the results byte for byte.
#[utoipa::path(get, path = "/v1/runs/{run}/verify", tag = "runs",
    params(("run" = String, Path, description = "The id of the run.")),
    responses((status = 200, body = VerificationView)))]
pub(crate) async fn get_verification(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
) -> Result<Json<VerificationView>, ApiError> {
    Ok(Json(verify_and_report(&caller.runtime.engine, &run).await?))
}
