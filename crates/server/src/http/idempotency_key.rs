//! The `Idempotency-Key` header: a request that is sent twice takes effect once.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;

use super::ApiError;

/// Maximum length of a key, in bytes.
const MAX_KEY_LENGTH: usize = 255;

/// The key of a request; `None` if it has none.
#[derive(Debug, Clone)]
pub(crate) struct IdempotencyKey(pub(crate) Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        read_idempotency_key(&parts.headers).map(Self)
    }
}

/// Reads the key from the request headers; `None` if the header is absent.
pub(super) fn read_idempotency_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    // The draft standard puts the key in quotes; most clients do not.
    let text = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    if text.is_empty()
        || text.len() > MAX_KEY_LENGTH
        || text.chars().any(|sign| sign.is_ascii_control())
    {
        let detail =
            format!("`Idempotency-Key` must be 1 to {MAX_KEY_LENGTH} visible ASCII characters");
        return Err(ApiError::bad_request("bad_idempotency_key", detail));
    }
    Ok(Some(text.to_owned()))
}
