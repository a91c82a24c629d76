//! Counters in the Prometheus text format. No label contains a tenant, a run, or any text from a
//! client.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::{ApiError, HttpState, ServerQuotas};

/// Upper bounds of the latency buckets, in milliseconds.
const LATENCY_BUCKETS_MS: [u64; 8] = [1, 5, 10, 50, 100, 500, 1_000, 10_000];

/// The counters of the server.
#[derive(Debug, Default)]
pub struct HttpMetrics {
    in_flight: AtomicI64,
    requests: Mutex<BTreeMap<(String, String, u16), u64>>,
    latencies: Mutex<BTreeMap<(String, String), LatencyHistogram>>,
}

#[derive(Debug, Clone, Default)]
struct LatencyHistogram {
    buckets: [u64; LATENCY_BUCKETS_MS.len()],
    count: u64,
    sum: Duration,
}

impl HttpMetrics {
    fn record_request(&self, method: &str, path: &str, status: u16, took: Duration) {
        let (method, path) = (method.to_owned(), path.to_owned());
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((method.clone(), path.clone(), status)).or_default() += 1;
        drop(requests);
        let mut times = self.latencies.lock().unwrap_or_else(PoisonError::into_inner);
        let times = times.entry((method, path)).or_default();
        for (bucket, most) in times.buckets.iter_mut().zip(LATENCY_BUCKETS_MS) {
            *bucket += u64::from(took <= Duration::from_millis(most));
        }
        times.count += 1;
        times.sum += took;
    }

    fn render_prometheus(&self) -> String {
        let mut text = String::new();
        let write_header = |text: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        let name = "countersign_http_requests_total";
        write_header(&mut text, name, "counter", "Number of answered HTTP requests.");
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for ((method, path, status), count) in requests {
            let labels = format!("method=\"{method}\",path=\"{path}\",status=\"{status}\"");
            let _ = writeln!(text, "{name}{{{labels}}} {count}");
        }
        let name = "countersign_http_request_seconds";
        write_header(&mut text, name, "histogram", "Time until the response starts, in seconds.");
        let times = self.latencies.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for ((method, path), times) in times {
            let labels = format!("method=\"{method}\",path=\"{path}\"");
            for (count, most) in times.buckets.iter().zip(LATENCY_BUCKETS_MS) {
                let most = Duration::from_millis(most).as_secs_f64();
                let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{most}\"}} {count}");
            }
            let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", times.count);
            let _ = writeln!(text, "{name}_sum{{{labels}}} {}", times.sum.as_secs_f64());
            let _ = writeln!(text, "{name}_count{{{labels}}} {}", times.count);
        }
        let name = "countersign_http_requests_in_flight";
        write_header(&mut text, name, "gauge", "Number of HTTP requests in progress.");
        let _ = writeln!(text, "{name} {}", self.in_flight.load(Ordering::Relaxed));
        text
    }
}

/// Counts a request in progress, until it is dropped; this includes disconnected clients.
struct InFlightRequest<'m>(&'m HttpMetrics);

impl<'m> InFlightRequest<'m> {
    fn start(metrics: &'m HttpMetrics) -> Self {
        metrics.in_flight.fetch_add(1, Ordering::Relaxed);
        Self(metrics)
    }
}

impl Drop for InFlightRequest<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Middleware that counts a request and the time until its response starts.
pub(crate) async fn count_request(
    State(app): State<HttpState>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let method = method_label(request.method());
    let path = request.extensions().get::<MatchedPath>();
    let path = path.map_or("other", MatchedPath::as_str).to_owned();
    let under_way = InFlightRequest::start(&app.metrics);
    let response = next.run(request).await;
    drop(under_way);
    app.metrics.record_request(method, &path, response.status().as_u16(), began.elapsed());
    response
}

/// Returns the method as a label; any method outside the known set becomes one common label.
pub(crate) fn method_label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

/// Get the server metrics in the Prometheus text format.
#[utoipa::path(get, path = "/v1/metrics", tag = "server",
    responses((status = 200, content_type = "text/plain; version=0.0.4", body = String)))]
pub(crate) async fn get_metrics(State(app): State<HttpState>) -> Result<Response, ApiError> {
    let mut text = app.metrics.render_prometheus();
    let deps = app.app_state.deps();
    let now = deps.clock.now().0;
    let held = deps.store.list_leases(now, 100_000).await?;
    let ours = held.iter().filter(|lease| lease.worker == app.app_state.worker()).count();
    let ServerQuotas { body_bytes, upload_bytes, uploads, streams } = &*app.quotas;
    for (name, help, value) in [
        ("countersign_runs_leased", "Runs leased by any worker.", held.len() as u64),
        ("countersign_runs_leased_here", "Runs leased by this process.", ours as u64),
        (
            "countersign_runs_watched",
            "Runs that a client follows or a model is writing for.",
            app.app_state.hub().run_count() as u64,
        ),
        ("countersign_streams_open", "Open event streams.", streams.used_amount()),
        ("countersign_uploads_open", "Document uploads in progress.", uploads.used_amount()),
        (
            "countersign_upload_bytes",
            "Bytes of unfinished uploads on disk.",
            upload_bytes.used_amount(),
        ),
        ("countersign_body_bytes", "Bytes of request bodies in memory.", body_bytes.used_amount()),
    ] {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
    }
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
