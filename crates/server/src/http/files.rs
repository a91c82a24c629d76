//! The files of a run: what its effects and tools wrote, and what people provided.
//!
//! A caller reaches only files that the log of the run records, and only as the run itself could
//! read them: inside the workspace, and not hidden.

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use countersign_protocol::Protocol;
use countersign_runtime::workspace::{Workspace, WorkspaceError};
use futures_util::stream;
use serde::Deserialize;
use utoipa::IntoParams;

use super::ApiError;
use super::extract::{ApiPath, ApiQuery};
use super::runs::load_run_head;
use crate::access::Caller;
use countersign_view::show::list_child_runs;
use countersign_view::wire::{RunFileView, list_run_files};

/// Maximum number of runs whose files are listed: the run and its descendants.
const MAX_LISTED_RUNS: usize = 200;

/// Maximum number of listed files.
const MAX_LISTED_FILES: usize = 1_000;

/// Size of the pieces that a file is sent in.
const CHUNK_BYTES: usize = 64 << 10;

/// No script, no form, no frame: a browser that opens a file shows it without any power.
const FILE_SECURITY_POLICY: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";

/// Selects a file of a run.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunFileQuery {
    /// The path inside the workspace, as `/v1/runs/{run}/files` lists it.
    path: String,
}

/// List the files of a run and of its child runs.
///
/// Files that effects and tools wrote, and documents that people provided, by path. At most 1000
/// files of 200 runs.
#[utoipa::path(get, path = "/v1/runs/{run}/files", tag = "runs",
    params(("run" = String, Path, description = "The id of the run.")),
    responses((status = 200, body = Vec<RunFileView>)))]
pub(crate) async fn list_files(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
) -> Result<Json<Vec<RunFileView>>, ApiError> {
    let engine = &caller.runtime.engine;
    load_run_head(engine, &run).await?;
    let (mut files, mut queue, mut next) = (Vec::new(), vec![run], 0);
    while next < queue.len() && next < MAX_LISTED_RUNS && files.len() < MAX_LISTED_FILES {
        let run = queue[next].clone();
        next += 1;
        // A child run that was requested may not have started yet.
        if engine.store().load_head(&engine.run_id(&run)).await?.is_none() {
            continue;
        }
        let log = engine.read_log(&run).await?;
        queue.extend(list_child_runs(&run, &log).into_iter().map(|(child, _)| child));
        let mut found = list_run_files(&run, &log);
        if found.is_empty() {
            continue;
        }
        found.truncate(MAX_LISTED_FILES - files.len());
        let protocol = engine.load_version(&run, None).await?.protocol;
        files.extend(measure_files(&caller, protocol, found).await?);
    }
    Ok(Json(files))
}

/// Adds the current size of each file.
async fn measure_files(
    caller: &Caller,
    protocol: Arc<Protocol>,
    mut files: Vec<RunFileView>,
) -> Result<Vec<RunFileView>, ApiError> {
    let workspace = caller.runtime.workspace.clone();
    run_blocking(move || {
        let workspace = workspace.with_policy(&protocol.policy);
        for file in &mut files {
            file.current_bytes = workspace.read_file_stamp(&file.path).map(|(bytes, _)| bytes);
        }
        Ok(files)
    })
    .await
}

/// Get the contents of a file of a run.
///
/// The response is what the file contains now, as a download. A file of a child run is requested
/// from that run.
#[utoipa::path(get, path = "/v1/runs/{run}/files/content", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), RunFileQuery),
    responses((status = 200, content_type = "application/octet-stream", body = Vec<u8>)))]
pub(crate) async fn get_file(
    caller: Caller,
    ApiPath(run): ApiPath<String>,
    ApiQuery(RunFileQuery { path }): ApiQuery<RunFileQuery>,
) -> Result<Response, ApiError> {
    let engine = &caller.runtime.engine;
    load_run_head(engine, &run).await?;
    let log = engine.read_log(&run).await?;
    if !list_run_files(&run, &log).iter().any(|file| file.path == path) {
        return Err(unknown_file_error(&run, &path));
    }
    let protocol = engine.load_version(&run, None).await?.protocol;
    let workspace = caller.runtime.workspace.clone();
    let named = path.clone();
    let opened =
        run_blocking(move || Ok(open_file(&workspace.with_policy(&protocol.policy), &named)))
            .await?;
    let (file, size) = opened.map_err(|error| match error {
        WorkspaceError::NotFound { .. } | WorkspaceError::Hidden { .. } => {
            let detail = format!("run `{run}` recorded the file `{path}`, but it is not there now");
            ApiError::not_found("file_missing", detail)
        }
        other => other.into(),
    })?;
    Ok(respond_with_file(&path, file, size))
}

fn open_file(workspace: &Workspace, path: &str) -> Result<(File, u64), WorkspaceError> {
    workspace.open_file(path)
}

fn unknown_file_error(run: &str, path: &str) -> ApiError {
    let detail =
        format!("run `{run}` has no file `{path}`; `GET /v1/runs/{run}/files` lists its files");
    ApiError::not_found("unknown_file", detail)
}

/// Sends a file as a download, in pieces that are read as the client takes them.
fn respond_with_file(path: &str, file: File, size: u64) -> Response {
    let pieces = stream::try_unfold(file.take(size), async |mut rest| {
        let read = move || {
            let mut piece = vec![0; CHUNK_BYTES];
            let count = rest.read(&mut piece)?;
            piece.truncate(count);
            Ok::<_, std::io::Error>((piece, rest))
        };
        let (piece, rest) =
            tokio::task::spawn_blocking(read).await.map_err(std::io::Error::other)??;
        Ok::<_, std::io::Error>((!piece.is_empty()).then(|| (Bytes::from(piece), rest)))
    });
    let mut response = Body::from_stream(pieces).into_response();
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    };
    set(header::CONTENT_TYPE, find_media_type(path));
    set(header::CONTENT_LENGTH, &size.to_string());
    set(header::CONTENT_DISPOSITION, &describe_disposition(path));
    set(header::CONTENT_SECURITY_POLICY, FILE_SECURITY_POLICY);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::CACHE_CONTROL, "private, no-store");
    set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    response
}

/// The media type by extension. What a browser could run is sent as plain bytes.
fn find_media_type(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension.to_ascii_lowercase().as_str() {
        "txt" | "log" => "text/plain; charset=utf-8",
        "md" => "text/markdown; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "json" => "application/json",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        _ => "application/octet-stream",
    }
}

/// The `Content-Disposition` of a download: the name in ASCII, and whole as RFC 8187 has it.
fn describe_disposition(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let plain: String = name
        .chars()
        .map(|sign| if sign.is_ascii_alphanumeric() || "._- ".contains(sign) { sign } else { '_' })
        .collect();
    let mut whole = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"._-~".contains(&byte) {
            whole.push(char::from(byte));
        } else {
            whole.push_str(&format!("%{byte:02X}"));
        }
    }
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{whole}")
}

/// Runs a function that reads files on a thread that may block.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| ApiError::internal("internal_error", "reading the files of the run failed"))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_sent_whole_and_cannot_leave_its_header() {
        assert_eq!(
            describe_disposition("a/b/отчёт \"1\".md"),
            "attachment; filename=\"_____ _1_.md\"; filename*=UTF-8''%D0%BE%D1%82%D1%87%D1%91%D1%82%20%221%22.md"
        );
    }

    #[test]
    fn nothing_that_a_browser_runs_has_its_media_type() {
        for path in ["a.html", "a.svg", "a.xhtml", "a.js", "a.xml", "a", ".md.svg", "a.MHT"] {
            assert_eq!(find_media_type(path), "application/octet-stream", "{path}");
        }
        assert_eq!(find_media_type("x/a.MD"), "text/markdown; charset=utf-8");
    }
}
