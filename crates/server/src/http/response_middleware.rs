//! Middleware for every response: timeouts, panics, and headers that prevent a browser from
//! executing a response.

use std::any::Any;
use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderValue, Method, Response as HttpResponse, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tokio::time::timeout;

use super::ApiError;

/// How long a response may take.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long an upload may take.
const UPLOAD_TIMEOUT: Duration = Duration::from_mins(5);

/// Middleware that ends requests that take too long. Streams have started their response by then,
/// and continue.
pub(crate) async fn enforce_timeout(request: Request, next: Next) -> Response {
    let most = if request.method() == Method::PUT { UPLOAD_TIMEOUT } else { RESPONSE_TIMEOUT };
    timeout(most, next.run(request)).await.unwrap_or_else(|_| {
        let detail = "the request took too long; the change may or may not be saved, so repeat the request with the same `Idempotency-Key`";
        ApiError::unavailable("timed_out", detail).into_response()
    })
}

/// Builds the response for a handler that panicked.
pub(crate) fn respond_to_panic(_: Box<dyn Any + Send>) -> HttpResponse<axum::body::Body> {
    ApiError::internal("internal_error", "the server failed while processing this request")
        .into_response()
}

/// Middleware that adds headers which prevent a browser from treating a response as a page or a
/// script.
pub(crate) async fn add_security_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        ),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "private, no-cache"),
    ];
    for (name, value) in fixed {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    response
}
