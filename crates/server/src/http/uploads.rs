//! Uploads of documents that a run waits for: the server checks the wait, spools the file, saves it
//! in the workspace and answers the wait.

use std::io::Read;

use axum::extract::{Request, State};
use axum::response::Response;
use countersign_run::{InputKind, InputRejection, RunWait, WaitKind};
use countersign_runtime::workspace::{IncomingDocument, save_document};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use super::extract::{ApiPath, ApiQuery};
use super::idempotency_key::IdempotencyKey;
use super::inputs::{InputMatcher, SubmitOptions, respond_with_etag, submit_input_matching};
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
/// The body is the file itself. The server saves it in the workspace and answers the wait.
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
    check_file_name(name)?;
    let engine = &caller.runtime.engine;
    let SubmitOptions { run, idempotency_key: key, expected_version: at, .. } = along;
    if let Some(key) = key
        && engine.store().find_key_version(&engine.run_id(run.as_str()), key).await?.is_some()
    {
        return Ok(());
    }
    let sample = IncomingDocument::from_bytes(name, &b"-"[..]);
    let open = find_open_wait(caller, run, wait).await?;
    let value = sample.to_answer(open.as_ref());
    let by = caller.user.clone();
    let answered = InputKind::Answered { wait: wait.to_owned(), value, by };
    Ok(engine.check_input(run, answered, *at).await?)
}

/// Saves a document in the workspace, and answers the wait that asks for it.
pub(crate) async fn answer_with_document<R: Read + Send + 'static>(
    app: &HttpState,
    caller: &Caller,
    along: SubmitOptions,
    wait: String,
    document: IncomingDocument<R>,
) -> Result<InputResponse, ApiError> {
    check_file_name(&document.name)?;
    let engine = &caller.runtime.engine;
    let by = caller.user.clone();
    let kept =
        UploadedDocument { wait: wait.clone(), by: by.clone(), answer: document.to_answer(None) };
    let matching: InputMatcher = Box::new(move |input| kept.is_same_upload(input));
    let repeated = match &along.idempotency_key {
        Some(key) => engine.find_repeated_input(&along.run, key, &matching).await?.is_some(),
        None => false,
    };
    let open = find_open_wait(caller, &along.run, &wait).await;
    let value = if repeated {
        document.to_answer(None)
    } else {
        let open = open?;
        let answered = InputKind::Answered {
            wait: wait.clone(),
            value: document.to_answer(open.as_ref()),
            by: by.clone(),
        };
        engine.check_input(&along.run, caller.attribute(answered), along.expected_version).await?;
        let protocol = engine.get_run(&along.run).await?.protocol;
        let workspace = caller.runtime.workspace.with_policy(&protocol.policy);
        let put = move || save_document(&workspace, open.as_ref(), document);
        let put = tokio::task::spawn_blocking(put).await;
        put.map_err(|_| ApiError::internal("internal_error", "saving the document failed"))??
    };
    submit_input_matching(app, caller, along, InputKind::Answered { wait, value, by }, &matching)
        .await
}

/// The document of a key, for comparison with a repeated upload.
struct UploadedDocument {
    wait: String,
    by: String,
    answer: Value,
}

impl UploadedDocument {
    fn is_same_upload(&self, input: &InputKind) -> bool {
        let InputKind::Answered { wait, value, by } = input else { return false };
        let same = |name: &str| value.get(name) == self.answer.get(name);
        *wait == self.wait && *by == self.by && same("name") && same("bytes") && same("sha256")
    }
}

/// Finds the open wait with this id, which must ask for a document. Returns `None` if no such wait
/// is open; the run then reports the reason.
async fn find_open_wait(
    caller: &Caller,
    run: &str,
    wait: &str,
) -> Result<Option<RunWait>, ApiError> {
    let state = caller.runtime.engine.get_run(run).await?.state;
    let Some(open) = state.waits.get(wait) else { return Ok(None) };
    if open.kind != WaitKind::Document {
        let (wait, kind) = (wait.to_owned(), open.kind.as_str());
        let expected = "this wait does not ask for a document";
        return Err(InputRejection::WrongKind { wait, kind, expected }.into());
    }
    Ok(Some(open.clone()))
}

fn check_file_name(name: &str) -> Result<(), ApiError> {
    if name.contains(['/', '\\']) || name.is_empty() {
        let detail = format!("`name` must be a file name without folders, found `{name}`");
        return Err(ApiError::bad_request("bad_query", detail));
    }
    Ok(())
}
