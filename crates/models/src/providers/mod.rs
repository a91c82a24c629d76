//! The wire formats of the four providers, one file each.

mod output_constraint;
mod openai;
mod anthropic;
mod gemini;
mod ollama;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::wire::ProviderDialect;
use crate::{
    ChatMessage, ModelErrorKind, ModelProvider, ModelRequest, ProviderKey, ResponseDefect,
};

/// Returns the dialect of a provider.
pub(crate) fn dialect_for(
    provider: ModelProvider,
    is_openai_itself: bool,
) -> Box<dyn ProviderDialect> {
    match provider {
        ModelProvider::OpenAi => Box::new(openai::OpenAiDialect { is_openai_itself }),
        ModelProvider::Anthropic => Box::new(anthropic::AnthropicDialect),
        ModelProvider::Gemini => Box::new(gemini::GeminiDialect),
        ModelProvider::Ollama => Box::new(ollama::OllamaDialect),
    }
}

/// Builds the message list, with the system prompt as its first message.
fn build_messages(ask: &ModelRequest) -> Vec<Value> {
    let system = (!ask.system.is_empty()).then(|| json!({"role": "system", "content": ask.system}));
    let said = |turn: &ChatMessage| json!({"role": turn.role.as_str(), "content": turn.text});
    system.into_iter().chain(ask.messages.iter().map(said)).collect()
}

/// Builds headers for a JSON body, with the key in the header that the provider expects.
fn build_headers(name: &'static str, before: &str, key: Option<&ProviderKey>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(key) = key {
        let text = zeroize::Zeroizing::new(format!("{before}{}", key.reveal()));
        let mut value = HeaderValue::from_str(&text).expect("a key is visible ASCII");
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    headers
}

/// Parses one chunk of a response; every provider sends JSON.
fn parse_chunk(piece: &str) -> Result<Value, ModelErrorKind> {
    serde_json::from_str(piece).map_err(|error| ModelErrorKind::InvalidResponse {
        defect: ResponseDefect::UnexpectedFormat {
            expected: "JSON",
            found: format!("something else at line {}, column {}", error.line(), error.column()),
        },
    })
}

fn unexpected_format(expected: &'static str, found: &str) -> ModelErrorKind {
    ModelErrorKind::InvalidResponse {
        defect: ResponseDefect::UnexpectedFormat { expected, found: found.to_owned() },
    }
}
