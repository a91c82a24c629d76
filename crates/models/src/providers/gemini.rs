//! Gemini's `generateContent`, as a stream.

use countersign_core::contract::Target;
use countersign_core::reply::Finish;
use reqwest::header::HeaderMap;
use serde_json::{Map, Value, json};

use super::schema::{JsonMode, told};
use super::{headers, parsed};
use crate::wire::{Dialect, Framing, Heard, Prepared, failed};
use crate::{Ask, Fault, Flaw, Key, Role, Sent, Usage};

/// The dialect.
pub(super) struct Gemini;

impl Dialect for Gemini {
    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn path(&self, model: &str) -> String {
        // A name with a slash is a whole resource: `tunedModels/…`.
        let folder = if model.contains('/') { "" } else { "models/" };
        format!("/v1beta/{folder}{}:streamGenerateContent?alt=sse", escaped(model))
    }

    fn headers(&self, key: Option<&Key>) -> HeaderMap {
        headers("x-goog-api-key", "", key)
    }

    fn prepare(&self, _model: &str, ask: &Ask) -> Prepared {
        let told = told(ask, Target::Gemini, JsonMode::Has);
        let mut body = Map::new();
        if !ask.system.is_empty() {
            body.insert("systemInstruction".to_owned(), json!({"parts": [{"text": ask.system}]}));
        }
        let contents = ask.turns.iter().map(|turn| {
            let role = match turn.role {
                Role::User => "user",
                Role::Assistant => "model",
            };
            json!({"role": role, "parts": [{"text": turn.text}]})
        });
        body.insert("contents".to_owned(), contents.collect());
        let mut config = Map::new();
        if let Some(degrees) = ask.temperature() {
            config.insert("temperature".to_owned(), json!(degrees));
        }
        if let Some(most) = ask.max_tokens {
            config.insert("maxOutputTokens".to_owned(), json!(most));
        }
        if told.sent != Sent::Nothing {
            config.insert("responseMimeType".to_owned(), json!("application/json"));
        }
        if let Some(schema) = told.schema {
            config.insert("responseJsonSchema".to_owned(), schema);
        }
        if !config.is_empty() {
            body.insert("generationConfig".to_owned(), Value::Object(config));
        }
        let body = Value::Object(body).to_string().into_bytes();
        Prepared { body, sent: told.sent, drop_nulls: told.drop_nulls }
    }

    fn ends_without_mark(&self) -> bool {
        true
    }

    fn hear(&self, piece: &str, heard: &mut Heard<'_>) -> Result<(), Fault> {
        let piece = parsed(piece)?;
        if !piece["error"].is_null() {
            return Err(failed(&piece));
        }
        if let Some(reason) = piece["promptFeedback"]["blockReason"].as_str() {
            return Err(Fault::ContentFiltered { reason: reason.to_owned() });
        }
        heard.name(&piece["modelVersion"]);
        if let Some(usage) = usage(&piece["usageMetadata"]) {
            heard.usage = Some(usage);
        }
        let candidate = &piece["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            if part["functionCall"].is_object() {
                return Err(Fault::BadAnswer { flaw: Flaw::WantsTool });
            }
            if part["thought"] != true {
                heard.say(part["text"].as_str().unwrap_or_default())?;
            }
        }
        match candidate["finishReason"].as_str() {
            None => {}
            Some(reason @ "MAX_TOKENS") => heard.stop(Finish::Length, reason),
            Some(
                reason @ ("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
                | "IMAGE_SAFETY"),
            ) => return Err(Fault::ContentFiltered { reason: reason.to_owned() }),
            Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL") => {
                return Err(Fault::BadAnswer { flaw: Flaw::WantsTool });
            }
            Some(reason @ ("LANGUAGE" | "OTHER")) => {
                let reason = reason.to_owned();
                return Err(Fault::BadAnswer { flaw: Flaw::Stopped { reason } });
            }
            Some(reason) => heard.stop(Finish::Stop, reason),
        }
        Ok(())
    }
}

/// Thinking is written and paid for like the rest.
fn usage(told: &Value) -> Option<Usage> {
    let count = |key: &str| told[key].as_u64();
    let thought = count("thoughtsTokenCount").unwrap_or_default();
    Some(Usage {
        input_tokens: count("promptTokenCount")?,
        output_tokens: count("candidatesTokenCount").unwrap_or_default() + thought,
        cached_tokens: count("cachedContentTokenCount"),
    })
}

fn escaped(name: &str) -> String {
    let mut path = String::new();
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                path.push(char::from(byte));
            }
            other => path.push_str(&format!("%{other:02X}")),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_in_the_path_and_cannot_leave_it() {
        let end = ":streamGenerateContent?alt=sse";
        for (name, path) in [
            ("gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro"),
            ("tunedModels/mine", "/v1beta/tunedModels/mine"),
            ("a?key=1#x:y", "/v1beta/models/a%3Fkey%3D1%23x%3Ay"),
            ("д", "/v1beta/models/%D0%B4"),
        ] {
            assert_eq!(Gemini.path(name), format!("{path}{end}"));
        }
    }
}
