//! OpenTelemetry export: sends the spans and metrics of `tracing` over OTLP/HTTP to the endpoint that
//! the operator configures. Off if no endpoint is configured.
//!
//! The standard `OTEL_…` variables control the details; the libraries read most of them. Telemetry
//! contains no text of models or people.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use countersign_contract::redact_credentials;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Array, Value, global};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{
    ExporterBuildError, MetricExporter, Protocol, SpanExporter, WithExportConfig as _,
    WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::{Aggregation, Instrument, SdkMeterProvider, Stream};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData};
use tokio::runtime::Handle;

use crate::exit::CliError;
use crate::logging::{self, Collectors};
use crate::output;
use crate::settings::env_var;

/// How long the final export may take when a command ends.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Exports telemetry until it is dropped, then flushes the rest.
pub(crate) struct TelemetryGuard {
    tracer_provider: Option<SdkTracerProvider>,
    meter_provider: Option<SdkMeterProvider>,
}

/// Starts the export if an endpoint is configured.
pub(crate) fn start_telemetry(endpoint: Option<&str>) -> Result<Option<TelemetryGuard>, CliError> {
    let telemetry = build_exporters(endpoint)?;
    logging::install(match &telemetry {
        None => Collectors::default(),
        Some(telemetry) => Collectors {
            tracer: telemetry.tracer_provider.as_ref().map(|spans| spans.tracer("countersign")),
            meters: telemetry.meter_provider.clone(),
        },
    });
    Ok(telemetry)
}

fn build_exporters(endpoint: Option<&str>) -> Result<Option<TelemetryGuard>, CliError> {
    if env_var("OTEL_SDK_DISABLED").is_some_and(|word| word.eq_ignore_ascii_case("true")) {
        return Ok(None);
    }
    let spans_to = resolve_endpoint("TRACES", "v1/traces", endpoint);
    let measures_to = resolve_endpoint("METRICS", "v1/metrics", endpoint);
    let Ok(runtime) = Handle::try_current() else { return Ok(None) };
    if spans_to.is_none() && measures_to.is_none() {
        return Ok(None);
    }
    let told = |error: ExporterBuildError| {
        CliError::Usage(format!("telemetry: {}", redact_credentials(&error.to_string())))
    };
    let sender: Arc<dyn HttpClient> = Arc::new(TelemetryHttpClient {
        http: build_http_client(&[&spans_to, &measures_to])?,
        runtime,
    });
    let mut telemetry = TelemetryGuard { tracer_provider: None, meter_provider: None };
    if let Some(place) = spans_to {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_shared_http_client(Arc::clone(&sender))
            .with_protocol(parse_otlp_protocol("TRACES")?)
            .with_endpoint(place)
            .build()
            .map_err(told)?;
        let provider = SdkTracerProvider::builder().with_resource(build_resource());
        let provider = provider.with_batch_exporter(ConventionExporter(exporter)).build();
        global::set_text_map_propagator(TraceContextPropagator::new());
        telemetry.tracer_provider = Some(provider);
    }
    if let Some(place) = measures_to {
        let exporter = MetricExporter::builder()
            .with_http()
            .with_shared_http_client(sender)
            .with_protocol(parse_otlp_protocol("METRICS")?)
            .with_endpoint(place)
            .build()
            .map_err(told)?;
        let provider = SdkMeterProvider::builder().with_resource(build_resource());
        let provider = provider.with_periodic_exporter(exporter).with_view(describe_metric).build();
        telemetry.meter_provider = Some(provider);
    }
    Ok(Some(telemetry))
}

impl Drop for TelemetryGuard {
    fn drop(&mut self) {
        let spans =
            self.tracer_provider.take().map(|spans| spans.shutdown_with_timeout(SHUTDOWN_TIMEOUT));
        let measures = self
            .meter_provider
            .take()
            .map(|measures| measures.shutdown_with_timeout(SHUTDOWN_TIMEOUT));
        for ended in [spans, measures].into_iter().flatten() {
            if let Err(error) = ended {
                let told = error.to_string();
                let told = redact_credentials(&told);
                output::print_message(&format!(
                    "telemetry: cannot send the remaining data: {told}"
                ));
            }
        }
    }
}

/// Histogram buckets for durations of model calls, in seconds, as the conventions define them.
const MODEL_DURATION_BUCKETS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/// Histogram buckets for tokens, as the conventions define them.
const TOKEN_BUCKETS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// Histogram buckets for durations of requests, in seconds, as the conventions define them.
const REQUEST_DURATION_BUCKETS: [f64; 14] =
    [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];

/// Returns the unit and the buckets of a metric, which the fields of an event cannot carry.
fn describe_metric(instrument: &Instrument) -> Option<Stream> {
    let (unit, buckets): (_, &[f64]) = match instrument.name() {
        "gen_ai.client.operation.duration" => ("s", &MODEL_DURATION_BUCKETS),
        "gen_ai.client.token.usage" => ("{token}", &TOKEN_BUCKETS),
        "http.server.request.duration" => ("s", &REQUEST_DURATION_BUCKETS),
        "countersign.replies" => ("{reply}", &[]),
        "countersign.runs.ended" => ("{run}", &[]),
        _ => return None,
    };
    let stream = Stream::builder().with_unit(unit);
    let stream = if buckets.is_empty() {
        stream
    } else {
        let boundaries = buckets.to_vec();
        stream.with_aggregation(Aggregation::ExplicitBucketHistogram {
            boundaries,
            record_min_max: true,
        })
    };
    stream.build().ok()
}

/// Sends spans in the form of the conventions: a field of `tracing` cannot be a list, but the
/// conventions define the finish reasons of a model call as one.
#[derive(Debug)]
struct ConventionExporter(SpanExporter);

impl opentelemetry_sdk::trace::SpanExporter for ConventionExporter {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        for attribute in batch.iter_mut().flat_map(|span| &mut span.attributes) {
            if attribute.key.as_str() == "gen_ai.response.finish_reasons"
                && let Value::String(reason) = &attribute.value
            {
                attribute.value = Value::Array(Array::String(vec![reason.clone()]));
            }
        }
        self.0.export(batch).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}

/// Returns the endpoint of a signal; `None` if the signal is not exported.
fn resolve_endpoint(signal: &str, path: &str, endpoint: Option<&str>) -> Option<String> {
    if env_var(&format!("OTEL_{signal}_EXPORTER")).is_some_and(|word| word == "none") {
        return None;
    }
    let own = env_var(&format!("OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"));
    own.or_else(|| endpoint.map(|base| format!("{}/{path}", base.trim_end_matches('/'))))
}

fn parse_otlp_protocol(signal: &str) -> Result<Protocol, CliError> {
    let own = env_var(&format!("OTEL_EXPORTER_OTLP_{signal}_PROTOCOL"));
    match own.or_else(|| env_var("OTEL_EXPORTER_OTLP_PROTOCOL")).as_deref() {
        None | Some("http/protobuf") => Ok(Protocol::HttpBinary),
        Some("http/json") => Ok(Protocol::HttpJson),
        Some(other) => Err(CliError::Usage(format!(
            "telemetry: unsupported protocol `{other}`; expected `http/protobuf` or `http/json`"
        ))),
    }
}

fn build_resource() -> Resource {
    let builder = Resource::builder();
    // The library reads this variable, but has a different default.
    match env_var("OTEL_SERVICE_NAME") {
        Some(_) => builder.build(),
        None => builder.with_service_name("countersign").build(),
    }
}

fn build_http_client(places: &[&Option<String>]) -> Result<reqwest::Client, CliError> {
    // Another component of this process may have installed a provider already, which works as well.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        // A redirect could send a header with a key to an unintended host.
        .redirect(reqwest::redirect::Policy::none());
    if places.iter().all(|place| place.as_ref().is_none_or(|url| url.starts_with("http://"))) {
        // A machine without certificates can still connect to a local collector.
        let config = rustls::ClientConfig::builder()
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        builder = builder.no_proxy().tls_backend_preconfigured(config);
    }
    builder.build().map_err(|error| {
        CliError::Usage(format!("telemetry: cannot create an HTTP client: {error}"))
    })
}

/// Sends requests from any thread: the exporters have their own threads, but sockets belong to the
/// runtime.
#[derive(Debug)]
struct TelemetryHttpClient {
    http: reqwest::Client,
    runtime: Handle,
}

type TelemetrySendResult = Result<Response<Bytes>, HttpError>;

impl HttpClient for TelemetryHttpClient {
    fn send_bytes<'a, 'f>(
        &'a self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = TelemetrySendResult> + Send + 'f>>
    where
        'a: 'f,
        Self: 'f,
    {
        let http = self.http.clone();
        let sent = self.runtime.spawn(async move {
            let request = reqwest::Request::try_from(request)?;
            let answer = http.execute(request).await?;
            let (status, headers) = (answer.status(), answer.headers().clone());
            let mut response = Response::new(answer.bytes().await?);
            *response.status_mut() = status;
            *response.headers_mut() = headers;
            Ok::<_, HttpError>(response)
        });
        Box::pin(async move { sent.await? })
    }
}
