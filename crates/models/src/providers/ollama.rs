//! Ollama's native chat API: one JSON value per line.

use countersign_contract::reply::FinishReason;
use countersign_schema_tools::ExportTarget;
use reqwest::header::HeaderMap;
use serde_json::{Map, Value, json};

use super::output_constraint::{JsonModeSupport, choose_constraint};
use super::{build_headers, build_messages, parse_chunk, unexpected_format};
use crate::wire::{
    PreparedRequest, ProviderDialect, ResponseAccumulator, StreamFraming, parse_stream_error,
};
use crate::{
    ModelErrorKind, ModelRequest, OutputConstraint, ProviderKey, ResponseDefect, TokenUsage,
};

/// Wire format of Ollama's chat API.
pub(super) struct OllamaDialect;

impl ProviderDialect for OllamaDialect {
    fn framing(&self) -> StreamFraming {
        StreamFraming::NdJson
    }

    fn request_path(&self, _model: &str) -> String {
        "/api/chat".to_owned()
    }

    fn request_headers(&self, key: Option<&ProviderKey>) -> HeaderMap {
        build_headers("authorization", "Bearer ", key)
    }

    fn build_request(&self, model: &str, ask: &ModelRequest) -> PreparedRequest {
        // Ollama compiles the schema to a grammar. Of the three export targets, only Gemini's uses
        // keywords that this grammar either supports or ignores.
        let chosen = choose_constraint(ask, ExportTarget::Gemini, JsonModeSupport::Always);
        let mut body = json!({"model": model, "messages": build_messages(ask), "stream": true});
        match (chosen.schema, chosen.constraint) {
            (Some(schema), _) => body["format"] = schema,
            (None, OutputConstraint::JsonMode) => body["format"] = json!("json"),
            (None, _) => {}
        }
        let mut options = Map::new();
        if let Some(degrees) = ask.finite_temperature() {
            options.insert("temperature".to_owned(), json!(degrees));
        }
        if let Some(most) = ask.max_tokens {
            options.insert("num_predict".to_owned(), json!(most));
        }
        if !options.is_empty() {
            body["options"] = Value::Object(options);
        }
        let body = body.to_string().into_bytes();
        PreparedRequest { body, constraint: chosen.constraint, drop_nulls: chosen.drop_nulls }
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
        let Some(done) = piece["done"].as_bool() else {
            return Err(unexpected_format("`done`", "a line without it"));
        };
        heard.set_model(&piece["model"]);
        if piece["message"]["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty()) {
            return Err(ModelErrorKind::InvalidResponse {
                defect: ResponseDefect::UnexpectedToolCall,
            });
        }
        heard.push_text(piece["message"]["content"].as_str().unwrap_or_default())?;
        if done {
            // Ollama omits the count of a prompt that was fully cached.
            let count = |key: &str| piece[key].as_u64();
            if let Some(output) = count("eval_count") {
                let input = count("prompt_eval_count").unwrap_or_default();
                heard.usage = Some(TokenUsage {
                    input_tokens: input,
                    output_tokens: output,
                    cached_tokens: None,
                });
            }
            match piece["done_reason"].as_str().unwrap_or("stop") {
                reason @ "length" => heard.set_finish(FinishReason::Length, reason),
                reason @ ("load" | "unload") => {
                    let reason = reason.to_owned();
                    return Err(ModelErrorKind::InvalidResponse {
                        defect: ResponseDefect::Stopped { reason },
                    });
                }
                reason => heard.set_finish(FinishReason::Stop, reason),
            }
            heard.is_complete = true;
        }
        Ok(())
    }
}
