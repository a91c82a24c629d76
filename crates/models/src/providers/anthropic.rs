//! Anthropic's Messages API.

use countersign_contract::reply::FinishReason;
use countersign_schema_tools::ExportTarget;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use super::output_constraint::{JsonModeSupport, choose_constraint};
use super::{build_headers, parse_chunk};
use crate::wire::{
    PreparedRequest, ProviderDialect, ResponseAccumulator, StreamFraming, parse_stream_error,
};
use crate::{ModelErrorKind, ModelRequest, ProviderKey, ResponseDefect, TokenUsage};

/// The API requires a maximum length; this is the default if the caller sets none.
const DEFAULT_MAX_TOKENS: u32 = 8_192;

/// Wire format of the Messages API.
pub(super) struct AnthropicDialect;

impl ProviderDialect for AnthropicDialect {
    fn framing(&self) -> StreamFraming {
        StreamFraming::ServerSentEvents
    }

    fn request_path(&self, _model: &str) -> String {
        "/v1/messages".to_owned()
    }

    fn request_headers(&self, key: Option<&ProviderKey>) -> HeaderMap {
        let mut headers = build_headers("x-api-key", "", key);
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        headers
    }

    fn build_request(&self, model: &str, ask: &ModelRequest) -> PreparedRequest {
        let chosen = choose_constraint(ask, ExportTarget::Anthropic, JsonModeSupport::Never);
        let mut body = json!({
            "model": model,
            "max_tokens": ask.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
            "stream": true,
        });
        if !ask.system.is_empty() {
            body["system"] = json!(ask.system);
        }
        let turns = ask.messages.iter();
        body["messages"] =
            turns.map(|turn| json!({"role": turn.role.as_str(), "content": turn.text})).collect();
        if let Some(degrees) = ask.finite_temperature() {
            body["temperature"] = json!(degrees);
        }
        if let Some(schema) = chosen.schema {
            body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
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
        match piece["type"].as_str().unwrap_or_default() {
            "message_start" => {
                let message = &piece["message"];
                heard.set_model(&message["model"]);
                merge_usage(&message["usage"], heard);
            }
            // Thinking arrives the same way under other names, and is not part of the reply.
            "content_block_start" => match piece["content_block"]["type"].as_str() {
                Some("text") => heard.push_text(str_or_empty(&piece["content_block"]["text"]))?,
                Some("tool_use") => {
                    return Err(ModelErrorKind::InvalidResponse {
                        defect: ResponseDefect::UnexpectedToolCall,
                    });
                }
                _ => {}
            },
            "content_block_delta" if piece["delta"]["type"] == "text_delta" => {
                heard.push_text(str_or_empty(&piece["delta"]["text"]))?;
            }
            "message_delta" => {
                merge_usage(&piece["usage"], heard);
                match piece["delta"]["stop_reason"].as_str() {
                    None => {}
                    Some(reason @ ("max_tokens" | "model_context_window_exceeded")) => {
                        heard.set_finish(FinishReason::Length, reason);
                    }
                    Some(reason @ "refusal") => {
                        return Err(ModelErrorKind::ContentFiltered { reason: reason.to_owned() });
                    }
                    Some("tool_use") => {
                        return Err(ModelErrorKind::InvalidResponse {
                            defect: ResponseDefect::UnexpectedToolCall,
                        });
                    }
                    Some(reason @ "pause_turn") => {
                        let reason = reason.to_owned();
                        return Err(ModelErrorKind::InvalidResponse {
                            defect: ResponseDefect::Stopped { reason },
                        });
                    }
                    Some(reason) => heard.set_finish(FinishReason::Stop, reason),
                }
            }
            "message_stop" => heard.is_complete = true,
            "error" => return Err(parse_stream_error(&piece)),
            // Pings, ends of blocks, and event types that are added later.
            _ => {}
        }
        Ok(())
    }
}

fn str_or_empty(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Merges token counts. The API counts cached input separately; here it is part of the input. Later
/// counts replace earlier ones.
fn merge_usage(value: &Value, heard: &mut ResponseAccumulator<'_>) {
    let count = |key: &str| value[key].as_u64();
    let mut usage = heard.usage.unwrap_or_default();
    if let Some(plain) = count("input_tokens") {
        let cached = count("cache_read_input_tokens");
        let written = count("cache_creation_input_tokens");
        usage.input_tokens = plain + cached.unwrap_or_default() + written.unwrap_or_default();
        usage.cached_tokens = cached;
    }
    if let Some(output) = count("output_tokens") {
        usage.output_tokens = output;
    }
    if usage != TokenUsage::default() {
        heard.usage = Some(usage);
    }
}
