//! Reports requests as spans and durations with the OpenTelemetry names (`http.*`). A request with
//! a `traceparent` header becomes part of that trace.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::global::{self, BoxedTracer};
use opentelemetry::metrics::Histogram;
use opentelemetry::propagation::Extractor;
use opentelemetry::trace::{SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue};

use super::HttpState;

/// Bucket boundaries of durations in seconds, as the OpenTelemetry conventions define them.
const DURATION_BOUNDARIES: [f64; 14] =
    [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];

/// The destination of spans and durations; they are discarded if no collector is configured.
pub struct HttpTracing {
    tracer: BoxedTracer,
    durations: Histogram<f64>,
}

impl Default for HttpTracing {
    fn default() -> Self {
        let meter = global::meter("countersign");
        let times = meter.f64_histogram("http.server.request.duration").with_unit("s");
        let times = times.with_boundaries(DURATION_BOUNDARIES.to_vec()).build();
        Self { tracer: global::tracer("countersign"), durations: times }
    }
}

struct HeaderExtractor<'h>(&'h HeaderMap);

impl Extractor for HeaderExtractor<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(axum::http::HeaderName::as_str).collect()
    }
}

/// Middleware that reports a request. Handlers find its span in the request extensions, as a
/// [`Context`].
pub(crate) async fn trace_request(
    State(app): State<HttpState>,
    mut request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let HttpTracing { tracer, durations: times } = &*app.tracing;
    let method = super::metrics::method_label(request.method());
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("other", MatchedPath::as_str).to_owned();
    let mut about = vec![
        KeyValue::new("http.request.method", method),
        KeyValue::new("http.route", route.clone()),
        KeyValue::new("url.scheme", "http"),
    ];
    let parent =
        global::get_text_map_propagator(|heard| heard.extract(&HeaderExtractor(request.headers())));
    let builder = tracer.span_builder(format!("{method} {route}"));
    let builder = builder.with_kind(SpanKind::Server).with_attributes(about.clone());
    let context = parent.with_span(tracer.build_with_context(builder, &parent));
    request.extensions_mut().insert(context.clone());
    let response = next.run(request).await;
    let status = response.status();
    let code = KeyValue::new("http.response.status_code", i64::from(status.as_u16()));
    context.span().set_attribute(code.clone());
    if status.is_server_error() {
        context.span().set_status(Status::error(status.as_str().to_owned()));
    }
    about.push(code);
    times.record(began.elapsed().as_secs_f64(), &about);
    context.span().end();
    response
}

/// The parent span of an operation: the span of its request, if it has one.
pub(crate) fn parent_context(request: Option<&axum::http::request::Parts>) -> Context {
    let context = request.and_then(|parts| parts.extensions.get::<Context>());
    context.cloned().unwrap_or_default()
}
