//! Uploads of documents that a run waits for: the server checks the wait, spools the file, and
//! answers the wait with it.

use std::io::Read;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use countersign_runtime::engine::DocumentAnswer;
use countersign_runtime::workspace::IncomingDocument;
use serde::Deserialize;
use utoipa::IntoParams;

use super::extract::{ApiPath, ApiQuery};
use super::idempotency_key::IdempotencyKey;
use super::inputs::{SubmitOptions, respond_with_etag};
use super::prefer_wait::await_input_response;
use super::upload_spool::spool_document;
use super::{ApiError, HttpState};
use crate::access::Caller;
use countersign_view::wire::InputResponse;

/// The path of uploads, whose bodies are spooled to disk.
pub(super) const UPLOAD_PATH: &str = "/v1/runs/{run}/waits/{wait}/document";

/// The name of an uploaded document.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct UploadQuery {
    /// The file name without folders. Its extension determines the document type.
    name: String,
}

/// Upload a document that a run waits for.
///
/// The body is the file itself. The server checks its type, saves it in the folder of the run and
/// answers the wait. A refused document leaves no file.
#[utoipa::path(put, path = "/v1/runs/{run}/waits/{wait}/document", tag = "inbox",
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    params(("run" = String, Path, description = "The id of the run."),
        ("wait" = String, Path, description = "The id of the wait."), UploadQuery,
        ("Idempotency-Key" = Option<String>, Header, description = "Requests with the same key submit the input once.")),
    responses((status = 200, body = InputResponse)))]
pub(crate) async fn upload_document(
    State(app): State<HttpState>,
    caller: Caller,
    ApiPath((run, wait)): ApiPath<(String, String)>,
    ApiQuery(UploadQuery { name }): ApiQuery<UploadQuery>,
    IdempotencyKey(key): IdempotencyKey,
    request: Request,
) -> Result<Response, ApiError> {
    let along = SubmitOptions::from_headers(run, key, request.headers())?;
    check_upload(&caller, &along, &wait, &name).await?;
    let mut slot = app.quotas.uploads.new_share(&caller);
    slot.acquire(1)?;
    let (parts, body) = request.into_parts();
    let (document, share) = spool_document(&app, &caller, name, &parts.headers, body).await?;
    let taken = answer_with_document(&app, &caller, along, wait, document).await;
    drop((slot, share));
    Ok(respond_with_etag(taken?))
}

/// Checks, before reading the body, whether the document would be accepted: the wait is open, asks
/// for a document of this type, and this user may answer it. A key that was used before passes; its
/// document is compared later.
async fn check_upload(
    caller: &Caller,
    along: &SubmitOptions,
    wait: &str,
    name: &str,
) -> Result<(), ApiError> {
    let sample = IncomingDocument::from_bytes(name, &b"-"[..]);
    let answer = build_answer(caller, along, wait.to_owned(), sample);
    Ok(caller.runtime.engine.check_document(&answer).await?)
}

/// Answers a wait with a document. The answer is not abandoned when the client disconnects, because
/// it may be stored already.
pub(crate) async fn answer_with_document<R: Read + Send + 'static>(
    app: &HttpState,
    caller: &Caller,
    along: SubmitOptions,
    wait: String,
    document: IncomingDocument<R>,
) -> Result<InputResponse, ApiError> {
    let answer = build_answer(caller, &along, wait, document);
    let runtime = Arc::clone(&caller.runtime);
    let submitted = tokio::spawn(async move { runtime.engine.submit_document(answer).await }).await;
    let interrupted = |_| ApiError::internal("internal_error", "saving the document failed");
    let outcome = submitted.map_err(interrupted)??;
    let then = along.idempotency_key.is_some().then(|| Arc::clone(&outcome.state));
    await_input_response(app, caller, &along.run, None, along.prefer_wait, then).await
}

fn build_answer<R>(
    caller: &Caller,
    along: &SubmitOptions,
    wait: String,
    document: IncomingDocument<R>,
) -> DocumentAnswer<R> {
    DocumentAnswer {
        run: along.run.clone(),
        wait,
        by: caller.user.clone(),
        sender: Some(caller.sender.clone()),
        document,
        idempotency_key: along.idempotency_key.clone(),
        expected_version: along.expected_version,
    }
}
