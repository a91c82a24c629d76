//! Gemini's `generateContent` API, as a stream.

use countersign_contract::reply::FinishReason;
use countersign_schema_tools::ExportTarget;
use reqwest::header::HeaderMap;
use serde_json::{Map, Value, json};

use super::output_constraint::{JsonModeSupport, choose_constraint};
use super::{build_headers, parse_chunk};
use crate::wire::{
    PreparedRequest, ProviderDialect, ResponseAccumulator, StreamFraming, parse_stream_error,
};
use crate::{
    ChatRole, ModelErrorKind, ModelRequest, OutputConstraint, ProviderKey, ResponseDefect,
    TokenUsage,
};

/// Wire format of the Gemini API.
pub(super) struct GeminiDialect;

impl ProviderDialect for GeminiDialect {
    fn framing(&self) -> StreamFraming {
        StreamFraming::ServerSentEvents
    }

    fn request_path(&self, model: &str) -> String {
        // A name with a slash is a complete resource name: `tunedModels/…`.
        let folder = if model.contains('/') { "" } else { "models/" };
        format!("/v1beta/{folder}{}:streamGenerateContent?alt=sse", percent_encode(model))
    }

    fn request_headers(&self, key: Option<&ProviderKey>) -> HeaderMap {
        build_headers("x-goog-api-key", "", key)
    }

    fn build_request(&self, _model: &str, ask: &ModelRequest) -> PreparedRequest {
        let chosen = choose_constraint(ask, ExportTarget::Gemini, JsonModeSupport::Always);
        let mut body = Map::new();
        if !ask.system.is_empty() {
            body.insert("systemInstruction".to_owned(), json!({"parts": [{"text": ask.system}]}));
        }
        let contents = ask.messages.iter().map(|turn| {
            let role = match turn.role {
                ChatRole::User => "user",
                ChatRole::Assistant => "model",
            };
            json!({"role": role, "parts": [{"text": turn.text}]})
        });
        body.insert("contents".to_owned(), contents.collect());
        let mut config = Map::new();
        if let Some(degrees) = ask.finite_temperature() {
            config.insert("temperature".to_owned(), json!(degrees));
        }
        if let Some(most) = ask.max_tokens {
            config.insert("maxOutputTokens".to_owned(), json!(most));
        }
        if chosen.constraint != OutputConstraint::Unconstrained {
            config.insert("responseMimeType".to_owned(), json!("application/json"));
        }
        if let Some(schema) = chosen.schema {
            config.insert("responseJsonSchema".to_owned(), schema);
        }
        if !config.is_empty() {
            body.insert("generationConfig".to_owned(), Value::Object(config));
        }
        let body = Value::Object(body).to_string().into_bytes();
        PreparedRequest { body, constraint: chosen.constraint, drop_nulls: chosen.drop_nulls }
    }

    fn ends_without_marker(&self) -> bool {
        true
    }

    fn apply_chunk(
        &self,
        piece: &str,
        heard: &mut ResponseAccumulator<'_>,
    ) -> Result<(), ModelErrorKind> {
        let piece = parse_chunk(piece)?;
        if !piece["error"].is_null() {
            return Err(parse_stream_error(&piece));
        }
        if let Some(reason) = piece["promptFeedback"]["blockReason"].as_str() {
            return Err(ModelErrorKind::ContentFiltered { reason: reason.to_owned() });
        }
        heard.set_model(&piece["modelVersion"]);
        if let Some(usage) = parse_usage(&piece["usageMetadata"]) {
            heard.usage = Some(usage);
        }
        let candidate = &piece["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            if part["functionCall"].is_object() {
                return Err(ModelErrorKind::InvalidResponse {
                    defect: ResponseDefect::UnexpectedToolCall,
                });
            }
            if part["thought"] != true {
                heard.push_text(part["text"].as_str().unwrap_or_default())?;
            }
        }
        match candidate["finishReason"].as_str() {
            None => {}
            Some(reason @ "MAX_TOKENS") => heard.set_finish(FinishReason::Length, reason),
            Some(
                reason @ ("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
                | "IMAGE_SAFETY"),
            ) => return Err(ModelErrorKind::ContentFiltered { reason: reason.to_owned() }),
            Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL") => {
                return Err(ModelErrorKind::InvalidResponse {
                    defect: ResponseDefect::UnexpectedToolCall,
                });
            }
            Some(reason @ ("LANGUAGE" | "OTHER")) => {
                let reason = reason.to_owned();
                return Err(ModelErrorKind::InvalidResponse {
                    defect: ResponseDefect::Stopped { reason },
                });
            }
            Some(reason) => heard.set_finish(FinishReason::Stop, reason),
        }
        Ok(())
    }
}

/// Reads token counts. Thinking tokens are generated and billed like the other output.
fn parse_usage(usage: &Value) -> Option<TokenUsage> {
    let count = |key: &str| usage[key].as_u64();
    let thought = count("thoughtsTokenCount").unwrap_or_default();
    Some(TokenUsage {
        input_tokens: count("promptTokenCount")?,
        output_tokens: count("candidatesTokenCount").unwrap_or_default() + thought,
        cached_tokens: count("cachedContentTokenCount"),
    })
}

fn percent_encode(name: &str) -> String {
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
            assert_eq!(GeminiDialect.request_path(name), format!("{path}{end}"));
        }
    }
}
