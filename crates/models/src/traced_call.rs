//! Calls a model in a span, and measures the call, with the names of the OpenTelemetry conventions
//! (`gen_ai.*`).
//!
//! Spans and metrics never contain prompts or replies: only which model was called, how long it
//! took, how many tokens it used, and how it ended. They cost nothing if no subscriber listens.

use std::time::Instant;

use countersign_contract::ServiceUrl;
use tracing::field::Empty;
use tracing::level_filters::LevelFilter;
use tracing::{Instrument as _, Level, Span, event, info_span, warn};

use crate::{ChatModel, ModelError, ModelProvider, ModelRequest, ModelResponse, ModelSpec};

/// Calls a model once, like [`ChatModel::complete`], inside a `chat` span; `run` is the run that the
/// call belongs to, if any.
pub async fn complete_in_span(
    model: &dyn ChatModel,
    request: &ModelRequest,
    run: Option<&str>,
    on_text: &mut (dyn FnMut(&str) + Send),
) -> Result<ModelResponse, ModelError> {
    if LevelFilter::current() == LevelFilter::OFF {
        return model.complete(request, on_text).await;
    }
    let target = CallTarget::from_spec(model.name());
    let span = target.start_span(request, run);
    let began = Instant::now();
    let result = model.complete(request, on_text).instrument(span.clone()).await;
    let seconds = began.elapsed().as_secs_f64();
    span.in_scope(|| match &result {
        Ok(response) => {
            target.record_duration(seconds, Some(&response.model), None);
            target.record_response(&span, response);
        }
        Err(error) => {
            target.record_duration(seconds, None, Some(error.kind.code()));
            record_error(&span, error);
        }
    });
    result
}

/// The model that is called, in the terms of the conventions.
struct CallTarget {
    provider: &'static str,
    name: String,
    host: Option<String>,
    port: Option<i64>,
}

impl CallTarget {
    fn from_spec(spec: &str) -> Self {
        let (provider, name, address) = match spec.parse() {
            Ok(ModelSpec::Remote { provider, name, address }) => {
                let provider = match provider {
                    ModelProvider::OpenAi => "openai",
                    ModelProvider::Anthropic => "anthropic",
                    ModelProvider::Gemini => "gcp.gemini",
                    ModelProvider::Ollama => "ollama",
                };
                (provider, name, address)
            }
            Ok(ModelSpec::Script(_)) => ("script", "script".to_owned(), None),
            Ok(ModelSpec::Human) | Err(_) => ("other", "other".to_owned(), None),
        };
        let url = address.as_ref().map(ServiceUrl::reveal);
        let url = url.and_then(|address| address.parse::<reqwest::Url>().ok());
        let host = url.as_ref().and_then(|url| url.host_str().map(str::to_owned));
        let port = url.as_ref().and_then(reqwest::Url::port_or_known_default).map(i64::from);
        Self { provider, name, port: port.filter(|_| host.is_some()), host }
    }

    fn start_span(&self, request: &ModelRequest, run: Option<&str>) -> Span {
        info_span!(
            "chat",
            otel.name = format!("chat {}", self.name),
            otel.kind = "client",
            otel.status_code = Empty,
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = self.provider,
            gen_ai.request.model = self.name,
            gen_ai.request.temperature = request.temperature,
            gen_ai.request.max_tokens = request.max_tokens,
            gen_ai.output.type = if request.expects_json() { "json" } else { "text" },
            gen_ai.response.model = Empty,
            gen_ai.response.finish_reasons = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            server.address = self.host,
            server.port = self.port,
            error.type = Empty,
            countersign.run = run,
            countersign.phase = request.label,
        )
    }

    /// Records how long a call took, and the model that responded or the error.
    fn record_duration(&self, seconds: f64, response_model: Option<&str>, error: Option<&str>) {
        event!(
            target: "metrics",
            Level::INFO,
            histogram.gen_ai.client.operation.duration = seconds,
            error.type = error,
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = self.provider,
            gen_ai.request.model = self.name,
            gen_ai.response.model = response_model,
            server.address = self.host,
            server.port = self.port,
        );
    }

    fn record_response(&self, span: &Span, response: &ModelResponse) {
        span.record("gen_ai.response.model", response.model.as_str());
        span.record("gen_ai.response.finish_reasons", response.finish_reason.as_str());
        let Some(usage) = response.usage else { return };
        span.record("gen_ai.usage.input_tokens", usage.input_tokens);
        span.record("gen_ai.usage.output_tokens", usage.output_tokens);
        for (kind, tokens) in [("input", usage.input_tokens), ("output", usage.output_tokens)] {
            event!(
                target: "metrics",
                Level::INFO,
                histogram.gen_ai.client.token.usage = tokens as f64,
                gen_ai.token.type = kind,
                gen_ai.operation.name = "chat",
                gen_ai.provider.name = self.provider,
                gen_ai.request.model = self.name,
                gen_ai.response.model = response.model,
                server.address = self.host,
                server.port = self.port,
            );
        }
    }
}

fn record_error(span: &Span, error: &ModelError) {
    let code = error.kind.code();
    span.record("error.type", code);
    span.record("otel.status_code", "ERROR");
    warn!(error.type = code, retryable = error.is_retryable(), "the model call failed");
}
