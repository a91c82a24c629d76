//! Bytes that a log speaks of: what was sent to a model, and what came back.

use axum::http::header;
use axum::response::{IntoResponse as _, Response};

use super::ApiError;
use super::extract::ApiPath;
use crate::access::Caller;

/// Bytes by their digest, as they were sent or received; keys of providers are never in them.
#[utoipa::path(get, path = "/v1/blobs/{digest}", tag = "runs",
    params(("digest" = String, Path, description = "SHA-256 in hexadecimal, as an `exchange` of the log has it.")),
    responses((status = 200, content_type = "application/octet-stream", body = Vec<u8>)))]
pub(crate) async fn get_blob(
    caller: Caller,
    ApiPath(digest): ApiPath<String>,
) -> Result<Response, ApiError> {
    let engine = &caller.runtime.engine;
    let bytes = engine.store().load_blob(engine.tenant(), &digest).await?;
    let bytes =
        bytes.ok_or_else(|| ApiError::not_found("unknown_blob", format!("no bytes `{digest}`")))?;
    // It is somebody's text: a browser is to show it, and never to run it.
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "private, max-age=31536000, immutable"),
    ];
    Ok((headers, bytes).into_response())
}
