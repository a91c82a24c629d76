//! Run versions as entity tags: `"5"` is version 5.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

use super::ApiError;

/// Returns the entity tag of a version.
pub(crate) fn version_etag(version: u64) -> HeaderValue {
    HeaderValue::try_from(format!("\"{version}\""))
        .expect("digits in quotes are a valid header value")
}

/// Parses the version that `If-Match` requires; `None` if the header is absent or requires nothing.
pub(crate) fn parse_if_match(headers: &HeaderMap) -> Result<Option<u64>, ApiError> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let version = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let version = version.and_then(|digits| digits.parse().ok());
    version.map(Some).ok_or_else(|| {
        let detail =
            "`If-Match` must be one version in quotes, as in an `ETag`, for example `\"5\"`";
        ApiError::bad_request("bad_if_match", detail)
    })
}

/// Whether the client already has this version, according to `If-None-Match`.
pub(crate) fn matches_if_none_match(headers: &HeaderMap, version: u64) -> bool {
    let Some(Ok(value)) = headers.get(header::IF_NONE_MATCH).map(HeaderValue::to_str) else {
        return false;
    };
    let tag = format!("\"{version}\"");
    value
        .split(',')
        .map(|one| one.trim().trim_start_matches("W/"))
        .any(|one| one == tag || one == "*")
}

/// The error for a request that must state the run version and does not.
pub(crate) fn version_required_error(detail: &str) -> ApiError {
    ApiError::new(StatusCode::PRECONDITION_REQUIRED, "version_required", detail)
}
