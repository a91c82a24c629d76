//! Handles each request in a span, and measures it, with the OpenTelemetry names (`http.*`). A
//! request with a `traceparent` header becomes part of that trace.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::global;
use opentelemetry::propagation::Extractor;
use tracing::field::Empty;
use tracing::{Instrument as _, Level, Span, event, info, info_span};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

struct HeaderExtractor<'h>(&'h HeaderMap);

impl Extractor for HeaderExtractor<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(axum::http::HeaderName::as_str).collect()
    }
}

/// Middleware that handles a request in a span. Handlers that run in another task find the span in
/// the request extensions.
pub(crate) async fn trace_request(mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = super::metrics::method_label(request.method());
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("other", MatchedPath::as_str).to_owned();
    let span = info_span!(
        "request",
        otel.name = format!("{method} {route}"),
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = route,
        url.scheme = "http",
        http.response.status_code = Empty,
    );
    let parent = global::get_text_map_propagator(|propagator| {
        propagator.extract(&HeaderExtractor(request.headers()))
    });
    // Without a collector there is no trace to join.
    let _ = span.set_parent(parent);
    request.extensions_mut().insert(span.clone());
    let response = next.run(request).instrument(span.clone()).await;
    let status = response.status();
    span.record("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
    let seconds = began.elapsed().as_secs_f64();
    span.in_scope(|| info!(http.response.status_code = status.as_u16(), seconds, "answered"));
    event!(
        target: "metrics",
        Level::INFO,
        histogram.http.server.request.duration = seconds,
        http.request.method = method,
        http.route = route,
        url.scheme = "http",
        http.response.status_code = i64::from(status.as_u16()),
    );
    response
}

/// Returns the span of the request that an operation belongs to, or the current span if it has no
/// request.
pub(crate) fn request_span(request: Option<&axum::http::request::Parts>) -> Span {
    let span = request.and_then(|parts| parts.extensions.get::<Span>());
    span.cloned().unwrap_or_else(Span::current)
}
