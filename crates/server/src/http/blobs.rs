//! The bytes that a run log refers to: requests to models and their responses.

use axum::http::header;
use axum::response::{IntoResponse as _, Response};

use super::ApiError;
use super::extract::ApiPath;
use crate::access::Caller;

/// Get stored bytes by their digest.
///
/// The response is exactly what was sent to a model or received from it. It never contains provider
/// keys.
#[utoipa::path(get, path = "/v1/blobs/{digest}", tag = "runs",
    params(("digest" = String, Path, description = "The SHA-256 digest in hexadecimal, from an `exchange` in the log.")),
    responses((status = 200, content_type = "application/octet-stream", body = Vec<u8>)))]
pub(crate) async fn get_blob(
    caller: Caller,
    ApiPath(digest): ApiPath<String>,
) -> Result<Response, ApiError> {
    let engine = &caller.runtime.engine;
    let bytes = engine.store().load_blob(engine.tenant(), &digest).await?;
    let bytes = bytes.ok_or_else(|| {
        ApiError::not_found("unknown_blob", format!("no stored bytes with digest `{digest}`"))
    })?;
    // The bytes are untrusted text: a browser may display them but must never execute them.
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "private, max-age=31536000, immutable"),
    ];
    Ok((headers, bytes).into_response())
}
