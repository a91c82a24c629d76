//! What is counted, as Prometheus reads it. No label holds a tenant, a run, or anything that a client sends.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::{ApiError, App, Quotas};

/// The upper bounds of the buckets of times, in milliseconds.
const BUCKETS: [u64; 8] = [1, 5, 10, 50, 100, 500, 1_000, 10_000];

/// What is counted.
#[derive(Debug, Default)]
pub struct Metrics {
    under_way: AtomicI64,
    requests: Mutex<BTreeMap<(String, String, u16), u64>>,
    times: Mutex<BTreeMap<(String, String), Times>>,
}

#[derive(Debug, Clone, Default)]
struct Times {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    sum: Duration,
}

impl Metrics {
    fn count(&self, method: &str, path: &str, status: u16, took: Duration) {
        let (method, path) = (method.to_owned(), path.to_owned());
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((method.clone(), path.clone(), status)).or_default() += 1;
        drop(requests);
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let times = times.entry((method, path)).or_default();
        for (bucket, most) in times.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(took <= Duration::from_millis(most));
        }
        times.count += 1;
        times.sum += took;
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let about = |text: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        let name = "countersign_http_requests_total";
        about(&mut text, name, "counter", "Requests that were answered.");
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for ((method, path, status), count) in requests {
            let labels = format!("method=\"{method}\",path=\"{path}\",status=\"{status}\"");
            let _ = writeln!(text, "{name}{{{labels}}} {count}");
        }
        let name = "countersign_http_request_seconds";
        about(&mut text, name, "histogram", "How long answers took to begin.");
        let times = self.times.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for ((method, path), times) in times {
            let labels = format!("method=\"{method}\",path=\"{path}\"");
            for (count, most) in times.buckets.iter().zip(BUCKETS) {
                let most = Duration::from_millis(most).as_secs_f64();
                let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{most}\"}} {count}");
            }
            let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", times.count);
            let _ = writeln!(text, "{name}_sum{{{labels}}} {}", times.sum.as_secs_f64());
            let _ = writeln!(text, "{name}_count{{{labels}}} {}", times.count);
        }
        let name = "countersign_http_requests_under_way";
        about(&mut text, name, "gauge", "Requests that are being answered.");
        let _ = writeln!(text, "{name} {}", self.under_way.load(Ordering::Relaxed));
        text
    }
}

/// A request that is being answered; also where the client goes away.
struct UnderWay<'m>(&'m Metrics);

impl<'m> UnderWay<'m> {
    fn of(metrics: &'m Metrics) -> Self {
        metrics.under_way.fetch_add(1, Ordering::Relaxed);
        Self(metrics)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Counts a request and the time until its answer began.
pub(crate) async fn counted(State(app): State<App>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = known_method(request.method());
    let path = request.extensions().get::<MatchedPath>();
    let path = path.map_or("other", MatchedPath::as_str).to_owned();
    let under_way = UnderWay::of(&app.metrics);
    let response = next.run(request).await;
    drop(under_way);
    app.metrics.count(method, &path, response.status().as_u16(), began.elapsed());
    response
}

/// A method as a label: what a client makes up is none.
pub(crate) fn known_method(method: &Method) -> &'static str {
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

/// What is counted, in the text format of Prometheus.
#[utoipa::path(get, path = "/v1/metrics", tag = "house",
    responses((status = 200, content_type = "text/plain; version=0.0.4", body = String)))]
pub(crate) async fn show(State(app): State<App>) -> Result<Response, ApiError> {
    let mut text = app.metrics.text();
    let furniture = app.house.furniture();
    let now = furniture.clock.now().0;
    let held = furniture.store.held(now, 100_000).await?;
    let ours = held.iter().filter(|lease| lease.worker == app.house.worker()).count();
    let Quotas { body_bytes, upload_bytes, uploads, streams } = &*app.quotas;
    for (name, help, value) in [
        ("countersign_runs_held", "Runs that somebody works on.", held.len() as u64),
        ("countersign_runs_held_here", "Runs that this process works on.", ours as u64),
        (
            "countersign_runs_watched",
            "Runs that somebody watches, or a model writes for.",
            app.house.hub().known() as u64,
        ),
        ("countersign_streams_open", "Event streams that are open.", streams.used()),
        ("countersign_uploads_open", "Documents that are being uploaded.", uploads.used()),
        (
            "countersign_upload_bytes",
            "Bytes of unfinished uploads on the disk.",
            upload_bytes.used(),
        ),
        ("countersign_body_bytes", "Bytes of request bodies in memory.", body_bytes.used()),
    ] {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
    }
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
