//! The four wire formats, a file each.

mod schema;
mod openai;
mod anthropic;
mod gemini;
mod ollama;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::wire::Dialect;
use crate::{Ask, Fault, Flaw, Key, Provider, Turn};

/// The dialect of a provider.
pub(crate) fn dialect(provider: Provider, is_openai_itself: bool) -> Box<dyn Dialect> {
    match provider {
        Provider::OpenAi => Box::new(openai::OpenAi { is_openai_itself }),
        Provider::Anthropic => Box::new(anthropic::Anthropic),
        Provider::Gemini => Box::new(gemini::Gemini),
        Provider::Ollama => Box::new(ollama::Ollama),
    }
}

/// A conversation in which the system is one of the speakers.
fn messages(ask: &Ask) -> Vec<Value> {
    let system = (!ask.system.is_empty()).then(|| json!({"role": "system", "content": ask.system}));
    let said = |turn: &Turn| json!({"role": turn.role.as_str(), "content": turn.text});
    system.into_iter().chain(ask.turns.iter().map(said)).collect()
}

/// JSON goes out, and the key stands under a name of the provider's choice.
fn headers(name: &'static str, before: &str, key: Option<&Key>) -> HeaderMap {
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

/// A piece of an answer, which every provider writes in JSON.
fn parsed(piece: &str) -> Result<Value, Fault> {
    serde_json::from_str(piece).map_err(|error| Fault::BadAnswer {
        flaw: Flaw::Foreign {
            expected: "JSON",
            found: format!("something else at line {}, column {}", error.line(), error.column()),
        },
    })
}

fn foreign(expected: &'static str, found: &str) -> Fault {
    Fault::BadAnswer { flaw: Flaw::Foreign { expected, found: found.to_owned() } }
}
