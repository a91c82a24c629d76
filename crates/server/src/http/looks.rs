//! Looks at one run: its document, its versions, what changed, what it asks for, its proof.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use countersign_core::patch::Patch;
use countersign_core::run::{Entry, Event};
use countersign_runtime::engine::{Engine, EngineError};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::ApiError;
use super::cursor::{cursor, limit, place};
use super::etag::etag;
use super::extract::{Asked, At};
use super::runs::{Version, head, seen};
use crate::access::Caller;
use crate::show::graph::{Picture, mermaid, svg};
use crate::wire::{EventRow, NextStep, Page, Proof, VersionRow, proof};

/// Which document.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    /// The version; the newest where absent.
    at: Option<u64>,
    /// A JSON Pointer: only what stands there.
    pointer: Option<String>,
}

/// Which versions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct Since {
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
pub(crate) struct Between {
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
pub(crate) struct Drawing {
    /// `svg` (where absent) or `mermaid`.
    #[param(value_type = Option<String>)]
    format: Option<Format>,
}

/// How something is drawn.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    /// A picture.
    Svg,
    /// Text that others draw.
    Mermaid,
}

/// The document of a run, or a place of it, now or at a version. The `ETag` is the version.
#[utoipa::path(get, path = "/v1/runs/{run}/document", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), Place),
    responses((status = 200, body = Value)))]
pub(crate) async fn document(
    caller: Caller,
    At(run): At<String>,
    Asked(Place { at, pointer }): Asked<Place>,
) -> Result<Response, ApiError> {
    let state = seen(&caller.desk.engine, &run, at).await?.state;
    let found = place_of(&state.document, &pointer.unwrap_or_default())?;
    Ok(([(header::ETAG, etag(state.version))], Json(found)).into_response())
}

/// What stands at a place of a document.
pub(crate) fn place_of(document: &Value, pointer: &str) -> Result<Value, ApiError> {
    document.pointer(pointer).cloned().ok_or_else(|| {
        ApiError::missing("nothing_there", format!("nothing stands at `{pointer}` in the document"))
    })
}

/// The whole state of a run, as snapshots hold it, now or at a version.
#[utoipa::path(get, path = "/v1/runs/{run}/state", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), Version),
    responses((status = 200, body = Object)))]
pub(crate) async fn state(
    caller: Caller,
    At(run): At<String>,
    Asked(Version { at }): Asked<Version>,
) -> Result<Response, ApiError> {
    let state = seen(&caller.desk.engine, &run, at).await?.state;
    Ok(([(header::ETAG, etag(state.version))], Json(json!(state))).into_response())
}

/// What came in and what became true of it, a version an item, the oldest first.
#[utoipa::path(get, path = "/v1/runs/{run}/versions", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), Since),
    responses((status = 200, body = Page<VersionRow>)))]
pub(crate) async fn versions(
    caller: Caller,
    At(run): At<String>,
    Asked(since): Asked<Since>,
) -> Result<Json<Page<VersionRow>>, ApiError> {
    let (entries, next) = entries(&caller.desk.engine, &run, since).await?;
    let items = entries.into_iter().map(|(entry, events)| VersionRow::of(&entry, events)).collect();
    Ok(Json(Page { items, next }))
}

/// Every event with its number and the hash of its version, the oldest first. The limit counts versions.
#[utoipa::path(get, path = "/v1/runs/{run}/events", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), Since),
    responses((status = 200, body = Page<EventRow>)))]
pub(crate) async fn events(
    caller: Caller,
    At(run): At<String>,
    Asked(since): Asked<Since>,
) -> Result<Json<Page<EventRow>>, ApiError> {
    let (entries, next) = entries(&caller.desk.engine, &run, since).await?;
    let rows = entries.into_iter().flat_map(|(entry, events)| EventRow::all(&entry, events));
    Ok(Json(Page { items: rows.collect(), next }))
}

async fn entries(
    engine: &Engine,
    run: &str,
    since: Since,
) -> Result<(Vec<(Entry, Vec<Event>)>, Option<String>), ApiError> {
    let Since { after, cursor: carried, limit: most } = since;
    let filter = ("versions", run);
    let carried = carried.map(|cursor| place::<u64>(&filter, &cursor)).transpose()?;
    let (after, most) = (carried.or(after).unwrap_or(0), limit(most)?);
    head(engine, run).await?;
    let mut log = engine.log_after(run, after, most + 1).await?;
    let more = log.len() > most;
    log.truncate(most);
    let next = log.last().filter(|_| more).map(|last| cursor(&filter, last.version));
    let opened = log.into_iter().map(|entry| {
        let events = entry.open(run).map_err(|source| EngineError::corrupt(run, source))?;
        Ok::<_, EngineError>((entry, events))
    });
    Ok((opened.collect::<Result<_, _>>()?, next))
}

/// What changed in the document, as an RFC 6902 patch.
#[utoipa::path(get, path = "/v1/runs/{run}/diff", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), Between),
    responses((status = 200, body = Vec<Object>)))]
pub(crate) async fn diff(
    caller: Caller,
    At(run): At<String>,
    Asked(Between { from, to, other }): Asked<Between>,
) -> Result<Json<Value>, ApiError> {
    let engine = &caller.desk.engine;
    let before = seen(engine, &run, Some(from)).await?.state;
    let after = seen(engine, other.as_deref().unwrap_or(&run), to).await?.state;
    Ok(Json(json!(Patch::between(&before.document, &after.document))))
}

/// The workflow as a drawing, with the phase the run stands in, the ways it took, and why gates are closed.
#[utoipa::path(get, path = "/v1/runs/{run}/graph", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), Drawing),
    responses((status = 200, content((String = "image/svg+xml"), (String = "text/vnd.mermaid")))))]
pub(crate) async fn graph(
    caller: Caller,
    At(run): At<String>,
    Asked(Drawing { format }): Asked<Drawing>,
) -> Result<Response, ApiError> {
    let engine = &caller.desk.engine;
    let outcome = engine.look(&run).await?;
    let log = engine.log(&run).await?;
    let events = log.iter().map(|one| one.open(&run)).collect::<Result<Vec<_>, _>>();
    let events = events.map_err(|source| EngineError::corrupt(run.as_str(), source))?.concat();
    let workflow = outcome.protocol.workflow(&outcome.state.workflow);
    let workflow = workflow.map_err(|said| ApiError::ours("protocol_unusable", said))?;
    Ok(drawn(&Picture::of(workflow).with_run(&outcome.state, &events), format))
}

/// A picture in the format that was asked for.
pub(crate) fn drawn(picture: &Picture, format: Option<Format>) -> Response {
    match format.unwrap_or(Format::Svg) {
        Format::Svg => ([(header::CONTENT_TYPE, "image/svg+xml")], svg(picture)).into_response(),
        Format::Mermaid => {
            ([(header::CONTENT_TYPE, "text/vnd.mermaid; charset=utf-8")], mermaid(picture))
                .into_response()
        }
    }
}

/// What the run asks for: prompt, contract, schema, ids. The `ETag` is its version.
#[utoipa::path(get, path = "/v1/runs/{run}/next", tag = "runs",
    params(("run" = String, Path, description = "The id of the run.")),
    responses((status = 200, body = NextStep)))]
pub(crate) async fn next(caller: Caller, At(run): At<String>) -> Result<Response, ApiError> {
    let engine = &caller.desk.engine;
    let live = engine.at(&run, None).await?;
    let next = NextStep::of(engine, &live).await;
    Ok(([(header::ETAG, etag(next.version))], Json(next)).into_response())
}

/// The proof: the chain is followed, every input decided again and compared byte for byte.
#[utoipa::path(get, path = "/v1/runs/{run}/verify", tag = "runs",
    params(("run" = String, Path, description = "The id of the run.")),
    responses((status = 200, body = Proof)))]
pub(crate) async fn verify(caller: Caller, At(run): At<String>) -> Result<Json<Proof>, ApiError> {
    Ok(Json(proof(&caller.desk.engine, &run).await?))
}
