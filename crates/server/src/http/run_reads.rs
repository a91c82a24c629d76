//! Looks at one run: its document, its versions, what changed, what it asks for, its proof.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use countersign_core::patch::Patch;
use countersign_core::run::{RunEvent, RunLogEntry};
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
use crate::show::graph::{WorkflowGraph, render_mermaid, render_svg};
use crate::wire::{
    CursorPage, EventRow, NextStep, VerificationView, VersionRow, verify_and_report,
};

/// Which document.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct DocumentQuery {
    /// The version; the newest where absent.
    at: Option<u64>,
    /// A JSON Pointer: only what stands there.
    pointer: Option<String>,
}

/// Which versions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunHistoryQuery {
    /// Only what came after this version.
    after: Option<u64>,
    /// Where to go on: the `next` of the page before.
    cursor: Option<String>,
    /// How many versions at most: from 1 to 500, 50 where absent.
    limit: Option<usize>,
}

/// Between which versions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct VersionDiffQuery {
    /// The version before.
    from: u64,
    /// The version after; the newest where absent.
    to: Option<u64>,
    /// Another run that `to` is a version of.
    other: Option<String>,
}

/// How it is drawn.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunGraphQuery {
    /// `svg` (where absent) or `mermaid`.
    #[param(value_type = Option<String>)]
    format: Option<GraphFormatParam>,
}

/// How something is drawn.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GraphFormatParam {
    /// A picture.
    Svg,
    /// Text that others draw.
    Mermaid,
}

/// The document of a run, or a place of it, now or at a version. The `ETag` is the version.
#[utoipa::path(get, path = "/v1/runs/{run}/document", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), DocumentQuery),
    responses((status = 200, body = Value)))]
pub(crate) async fn get_document(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    ApiQuery(DocumentQuery { at, pointer }): ApiQuery<DocumentQuery>,
) -> Result<Response, ApiError> {
    let state = load_run_at(&caller.runtime.engine, &run, at).await?.state;
    let found = read_pointer(&state.document, &pointer.unwrap_or_default())?;
    Ok(([(header::ETAG, version_etag(state.version))], Json(found)).into_response())
}

/// What stands at a place of a document.
pub(crate) fn read_pointer(document: &Value, pointer: &str) -> Result<Value, ApiError> {
    document.pointer(pointer).cloned().ok_or_else(|| {
        ApiError::not_found(
            "nothing_there",
            format!("nothing stands at `{pointer}` in the document"),
        )
    })
}

/// The whole state of a run, as snapshots hold it, now or at a version.
#[utoipa::path(get, path = "/v1/runs/{run}/state", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), RunVersionQuery),
    responses((status = 200, body = Object)))]
pub(crate) async fn get_state(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    ApiQuery(RunVersionQuery { at }): ApiQuery<RunVersionQuery>,
) -> Result<Response, ApiError> {
    let state = load_run_at(&caller.runtime.engine, &run, at).await?.state;
    Ok(([(header::ETAG, version_etag(state.version))], Json(json!(state))).into_response())
}

/// What came in and what became true of it, a version an item, the oldest first.
#[utoipa::path(get, path = "/v1/runs/{run}/versions", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), RunHistoryQuery),
    responses((status = 200, body = CursorPage<VersionRow>)))]
pub(crate) async fn list_versions(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    ApiQuery(since): ApiQuery<RunHistoryQuery>,
) -> Result<Json<CursorPage<VersionRow>>, ApiError> {
    let (entries, next) = load_log_page(&caller.runtime.engine, &run, since).await?;
    let items =
        entries.into_iter().map(|(entry, events)| VersionRow::from_entry(&entry, events)).collect();
    Ok(Json(CursorPage { items, next }))
}

/// Every event with its number and the hash of its version, the oldest first. The limit counts versions.
#[utoipa::path(get, path = "/v1/runs/{run}/events", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), RunHistoryQuery),
    responses((status = 200, body = CursorPage<EventRow>)))]
pub(crate) async fn list_events(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    ApiQuery(since): ApiQuery<RunHistoryQuery>,
) -> Result<Json<CursorPage<EventRow>>, ApiError> {
    let (entries, next) = load_log_page(&caller.runtime.engine, &run, since).await?;
    let rows =
        entries.into_iter().flat_map(|(entry, events)| EventRow::list_from_entry(&entry, events));
    Ok(Json(CursorPage { items: rows.collect(), next }))
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

/// What changed in the document, as an RFC 6902 patch.
#[utoipa::path(get, path = "/v1/runs/{run}/diff", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), VersionDiffQuery),
    responses((status = 200, body = Vec<Object>)))]
pub(crate) async fn diff_versions(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    ApiQuery(VersionDiffQuery { from, to, other }): ApiQuery<VersionDiffQuery>,
) -> Result<Json<Value>, ApiError> {
    let engine = &caller.runtime.engine;
    let before = load_run_at(engine, &run, Some(from)).await?.state;
    let after = load_run_at(engine, other.as_deref().unwrap_or(&run), to).await?.state;
    Ok(Json(json!(Patch::diff(&before.document, &after.document))))
}

/// The workflow as a drawing, with the phase the run stands in, the ways it took, and why gates are closed.
#[utoipa::path(get, path = "/v1/runs/{run}/graph", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), RunGraphQuery),
    responses((status = 200, content((String = "image/svg+xml"), (String = "text/vnd.mermaid")))))]
pub(crate) async fn get_run_graph(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    ApiQuery(RunGraphQuery { format }): ApiQuery<RunGraphQuery>,
) -> Result<Response, ApiError> {
    let engine = &caller.runtime.engine;
    let outcome = engine.get_run(&run).await?;
    let log = engine.read_log(&run).await?;
    let events = log.iter().map(|one| one.decode_events(&run)).collect::<Result<Vec<_>, _>>();
    let events = events.map_err(|source| EngineError::corrupt(run.as_str(), source))?.concat();
    let workflow = outcome.protocol.find_workflow(&outcome.state.workflow);
    let workflow = workflow.map_err(|said| ApiError::internal("protocol_unusable", said))?;
    Ok(render_graph(
        &WorkflowGraph::from_workflow(workflow).with_run(&outcome.state, &events),
        format,
    ))
}

/// A picture in the format that was asked for.
pub(crate) fn render_graph(picture: &WorkflowGraph, format: Option<GraphFormatParam>) -> Response {
    match format.unwrap_or(GraphFormatParam::Svg) {
        GraphFormatParam::Svg => {
            ([(header::CONTENT_TYPE, "image/svg+xml")], render_svg(picture)).into_response()
        }
        GraphFormatParam::Mermaid => {
            ([(header::CONTENT_TYPE, "text/vnd.mermaid; charset=utf-8")], render_mermaid(picture))
                .into_response()
        }
    }
}

/// What the run asks for: prompt, contract, schema, ids. The `ETag` is its version.
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

/// The proof: the chain is followed, every input decided again and compared byte for byte.
#[utoipa::path(get, path = "/v1/runs/{run}/verify", tag = "runs",
    params(("run" = String, Path, description = "The id of the run.")),
    responses((status = 200, body = VerificationView)))]
pub(crate) async fn get_verification(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
) -> Result<Json<VerificationView>, ApiError> {
    Ok(Json(verify_and_report(&caller.runtime.engine, &run).await?))
}
