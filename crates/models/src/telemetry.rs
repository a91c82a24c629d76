//! Traces and metrics for model calls, with the names of the `OpenTelemetry` conventions
//! (`gen_ai.*`).
//!
//! Telemetry costs nothing until it is enabled. It never contains prompts or replies: only which
//! model was called, how long it took, how many tokens it used, and how it ended.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use countersign_contract::ServiceUrl;
use opentelemetry::metrics::Histogram;
use opentelemetry::trace::{Span as _, SpanKind, Status, Tracer as _};
use opentelemetry::{Array, KeyValue, StringValue, Value, global};

use crate::{ChatModel, ModelError, ModelProvider, ModelRequest, ModelResponse, ModelSpec};

/// Histogram buckets for durations, in seconds, and for tokens, as the conventions define them.
const DURATION_BUCKETS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

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

/// Whether telemetry is enabled.
static TELEMETRY_ENABLED: AtomicBool = AtomicBool::new(false);

/// Enables telemetry. Call it after installing an exporter for traces and metrics.
pub fn enable_telemetry() {
    TELEMETRY_ENABLED.store(true, Ordering::Relaxed);
}

/// Calls a model once, like [`ChatModel::complete`], and records the call; `run` is the run that it
/// belongs to, if any.
pub async fn complete_with_telemetry(
    model: &dyn ChatModel,
    ask: &ModelRequest,
    run: Option<&str>,
    live: &mut (dyn FnMut(&str) + Send),
) -> Result<ModelResponse, ModelError> {
    if !TELEMETRY_ENABLED.load(Ordering::Relaxed) {
        return model.complete(ask, live).await;
    }
    let asked = TelemetryTarget::from_spec(model.name());
    let mut about = asked.attributes();
    let tracer = global::tracer("countersign");
    let named = format!("chat {}", asked.name);
    let mut own = about.clone();
    own.push(KeyValue::new("gen_ai.output.type", if ask.expects_json() { "json" } else { "text" }));
    own.extend(ask.temperature.map(|degrees| KeyValue::new("gen_ai.request.temperature", degrees)));
    let most = ask.max_tokens.map(i64::from);
    own.extend(most.map(|most| KeyValue::new("gen_ai.request.max_tokens", most)));
    own.extend(run.map(|run| KeyValue::new("countersign.run", run.to_owned())));
    own.extend(ask.label.clone().map(|phase| KeyValue::new("countersign.phase", phase)));
    let builder = tracer.span_builder(named).with_kind(SpanKind::Client).with_attributes(own);
    let mut span = builder.start(&tracer);
    let began = Instant::now();
    let came = model.complete(ask, live).await;
    match &came {
        Ok(answer) => {
            let model = KeyValue::new("gen_ai.response.model", answer.model.clone());
            span.set_attribute(model.clone());
            about.push(model);
            let reasons = Array::String(vec![StringValue::from(answer.finish_reason.clone())]);
            let reasons = KeyValue::new("gen_ai.response.finish_reasons", Value::Array(reasons));
            span.set_attribute(reasons);
            if let Some(usage) = answer.usage {
                record_tokens(&mut span, &about, "input", usage.input_tokens);
                record_tokens(&mut span, &about, "output", usage.output_tokens);
            }
        }
        Err(error) => {
            let kind = KeyValue::new("error.type", error.kind.code());
            span.set_attribute(kind.clone());
            span.set_status(Status::error(error.kind.code()));
            about.push(kind);
        }
    }
    let name = "gen_ai.client.operation.duration";
    build_histogram(name, "s", &DURATION_BUCKETS).record(began.elapsed().as_secs_f64(), &about);
    span.end();
    came
}

fn record_tokens(
    span: &mut impl opentelemetry::trace::Span,
    about: &[KeyValue],
    kind: &'static str,
    tokens: u64,
) {
    let name = format!("gen_ai.usage.{kind}_tokens");
    span.set_attribute(KeyValue::new(name, i64::try_from(tokens).unwrap_or(i64::MAX)));
    let mut about = about.to_vec();
    about.push(KeyValue::new("gen_ai.token.type", kind));
    build_histogram("gen_ai.client.token.usage", "{token}", &TOKEN_BUCKETS)
        .record(tokens as f64, &about);
}

fn build_histogram(name: &'static str, unit: &'static str, bounds: &[f64]) -> Histogram<f64> {
    let meter = global::meter("countersign");
    meter.f64_histogram(name).with_unit(unit).with_boundaries(bounds.to_vec()).build()
}

/// The model that is called, in the terms of the conventions.
struct TelemetryTarget {
    provider: &'static str,
    name: String,
    address: Option<ServiceUrl>,
}

impl TelemetryTarget {
    fn from_spec(spoken: &str) -> Self {
        match spoken.parse() {
            Ok(ModelSpec::Remote { provider, name, address }) => {
                let provider = match provider {
                    ModelProvider::OpenAi => "openai",
                    ModelProvider::Anthropic => "anthropic",
                    ModelProvider::Gemini => "gcp.gemini",
                    ModelProvider::Ollama => "ollama",
                };
                Self { provider, name, address }
            }
            Ok(ModelSpec::Script(_)) => {
                Self { provider: "script", name: "script".to_owned(), address: None }
            }
            Ok(ModelSpec::Human) | Err(_) => {
                Self { provider: "other", name: "other".to_owned(), address: None }
            }
        }
    }

    fn attributes(&self) -> Vec<KeyValue> {
        let mut all = vec![
            KeyValue::new("gen_ai.operation.name", "chat"),
            KeyValue::new("gen_ai.provider.name", self.provider),
            KeyValue::new("gen_ai.request.model", self.name.clone()),
        ];
        let url = self.address.as_ref();
        let url = url.and_then(|address| address.reveal().parse::<reqwest::Url>().ok());
        if let Some(url) = &url
            && let Some(host) = url.host_str()
        {
            all.push(KeyValue::new("server.address", host.to_owned()));
            let port = url.port_or_known_default().map(i64::from);
            all.extend(port.map(|port| KeyValue::new("server.port", port)));
        }
        all
    }
}
