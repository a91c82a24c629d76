//! Extractors for path, query and body that report errors as problem details.

use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use bytes::Bytes;
use serde::de::DeserializeOwned;

use super::ApiError;
use super::request_body::BufferedBody;
use crate::access::Caller;

/// The parameters of the path.
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

/// The parameters of the query string.
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

/// The JSON body. An absent body counts as an empty object.
#[derive(Debug, Clone)]
pub(crate) struct ApiJson<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequest<S> for ApiJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let kind = request.headers().get(header::CONTENT_TYPE).cloned();
        // The body middleware has already read the body of every authenticated route; other routes
        // have none.
        let read = request.extensions().get::<BufferedBody>();
        let bytes = read.map_or_else(Bytes::new, |BufferedBody(bytes)| bytes.clone());
        if bytes.is_empty() {
            return parse_body(b"{}").map(Self);
        }
        // This also prevents a page of another origin from sending the body as a form.
        let kind = kind.as_ref().and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            let found = if kind.is_empty() { "none".to_owned() } else { format!("`{kind}`") };
            let detail = format!("the request body must be `application/json`, found {found}");
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", detail));
        }
        parse_body(&bytes).map(Self)
    }
}

fn parse_body<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // Serde would accept an array as the members in declaration order, which is not part of the
    // API.
    if bytes.trim_ascii_start().first().is_some_and(|first| b"[\"tfn-0123456789".contains(first)) {
        return Err(ApiError::unprocessable("bad_body", "the request body must be a JSON object"));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        if error.is_data() {
            return ApiError::unprocessable("bad_body", format!("invalid request body: {error}"));
        }
        ApiError::bad_request(
            "invalid_json",
            format!("the request body is not valid JSON: {error}"),
        )
    })
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Self>().cloned();
        // The authentication middleware sets the caller on every protected route; a route without
        // it stays closed.
        caller.ok_or_else(|| ApiError::internal("no_guard", "the route has no authentication"))
    }
}
