//! What a request says, read into a type, or told as a problem: path, query, body.

use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use bytes::Bytes;
use serde::de::DeserializeOwned;

use super::ApiError;
use super::request_body::BufferedBody;
use crate::access::Caller;

/// The parts of the path.
#[derive(Debug, Clone)]
pub(crate) struct ApiPath<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for ApiPath<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        let Path(path) =
            path.map_err(|error| ApiError::bad_request("bad_path", error.body_text()))?;
        Ok(Self(path))
    }
}

/// What stands behind the `?`.
#[derive(Debug, Clone)]
pub(crate) struct ApiQuery<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for ApiQuery<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = Query::<T>::try_from_uri(&parts.uri);
        let Query(query) =
            query.map_err(|error| ApiError::bad_request("bad_query", error.body_text()))?;
        Ok(Self(query))
    }
}

/// The body, which is JSON. An absent one is an empty object.
#[derive(Debug, Clone)]
pub(crate) struct ApiJson<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequest<S> for ApiJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let kind = request.headers().get(header::CONTENT_TYPE).cloned();
        // A route behind the guard has its body read by then; any other has none to read.
        let read = request.extensions().get::<BufferedBody>();
        let bytes = read.map_or_else(Bytes::new, |BufferedBody(bytes)| bytes.clone());
        if bytes.is_empty() {
            return parse_body(b"{}").map(Self);
        }
        // Also what keeps a page of somebody else from sending it as a form.
        let kind = kind.as_ref().and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            let found = if kind.is_empty() { "none".to_owned() } else { format!("`{kind}`") };
            let detail = format!("the body must be `application/json`, found {found}");
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", detail));
        }
        parse_body(&bytes).map(Self)
    }
}

fn parse_body<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // A list would be read as members in the order of the code, which is nobody's business.
    if bytes.trim_ascii_start().first().is_some_and(|first| b"[\"tfn-0123456789".contains(first)) {
        return Err(ApiError::unprocessable("bad_body", "the body must be a JSON object"));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        if error.is_data() {
            return ApiError::unprocessable("bad_body", format!("the body: {error}"));
        }
        ApiError::bad_request("invalid_json", format!("the body is not JSON: {error}"))
    })
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Self>().cloned();
        // The guard puts it there for every route that is anybody's; one that forgot stays shut.
        caller.ok_or_else(|| ApiError::internal("no_guard", "the route has no guard"))
    }
}
