//! Chat completions: `OpenAI`, and the many compatible servers.

use countersign_contract::reply::FinishReason;
use countersign_schema_tools::ExportTarget;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};

use super::output_constraint::{JsonModeSupport, choose_constraint};
use super::{build_headers, build_messages, parse_chunk, unexpected_format};
use crate::wire::{
    PreparedRequest, ProviderDialect, ResponseAccumulator, StreamFraming, parse_stream_error,
};
use crate::{
    ModelErrorKind, ModelRequest, OutputConstraint, ProviderKey, ResponseDefect, TokenUsage,
};

/// Wire format of chat completions.
pub(super) struct OpenAiDialect {
    /// Whether the server is `OpenAI` itself, which renamed a field that compatible servers still
    /// call by its old name.
    pub(super) is_openai_itself: bool,
}

impl ProviderDialect for OpenAiDialect {
    fn framing(&self) -> StreamFraming {
        StreamFraming::ServerSentEvents
    }

    fn request_path(&self, _model: &str) -> String {
        "/chat/completions".to_owned()
    }

    fn request_headers(&self, key: Option<&ProviderKey>) -> HeaderMap {
        build_headers("authorization", "Bearer ", key)
    }

    fn build_request(&self, model: &str, ask: &ModelRequest) -> PreparedRequest {
        let chosen =
            choose_constraint(ask, ExportTarget::OpenAi, JsonModeSupport::IfPromptMentionsJson);
        let mut body = json!({
            "model": model,
            "messages": build_messages(ask),
            "stream": true,
            "stream_options": {"include_usage": true},
        });
        if let Some(degrees) = ask.finite_temperature() {
            body["temperature"] = json!(degrees);
        }
        if let Some(most) = ask.max_tokens {
            let field = if self.is_openai_itself { "max_completion_tokens" } else { "max_tokens" };
            body[field] = json!(most);
        }
        match (chosen.constraint, chosen.schema, &ask.contract) {
            (_, Some(schema), Some(contract)) => {
                body["response_format"] = json!({
                    "type": "json_schema",
                    "json_schema": {"name": schema_name(&contract.id), "strict": true, "schema": schema},
                });
            }
            (OutputConstraint::JsonMode, ..) => {
                body["response_format"] = json!({"type": "json_object"});
            }
            _ => {}
        }
        let body = body.to_string().into_bytes();
        PreparedRequest { body, constraint: chosen.constraint, drop_nulls: chosen.drop_nulls }
    }

    fn apply_chunk(
        &self,
        piece: &str,
        heard: &mut ResponseAccumulator<'_>,
    ) -> Result<(), ModelErrorKind> {
        if piece.trim() == "[DONE]" {
            heard.is_complete = true;
            return Ok(());
        }
        let piece = parse_chunk(piece)?;
        if !piece["error"].is_null() {
            return Err(parse_stream_error(&piece));
        }
        heard.set_model(&piece["model"]);
        if let Some(usage) = parse_usage(&piece["usage"]) {
            heard.usage = Some(usage);
        }
        let Some(choices) = piece["choices"].as_array() else {
            return Err(unexpected_format("`choices`", "a chunk without them"));
        };
        for choice in choices.iter().filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0) {
            let delta = &choice["delta"];
            if delta["refusal"].as_str().is_some_and(|refusal| !refusal.is_empty()) {
                return Err(ModelErrorKind::ContentFiltered { reason: "refusal".to_owned() });
            }
            heard.push_text(delta["content"].as_str().unwrap_or_default())?;
            match choice["finish_reason"].as_str() {
                None => {}
                Some(reason @ ("length" | "model_length")) => {
                    heard.set_finish(FinishReason::Length, reason);
                }
                Some(reason @ "content_filter") => {
                    return Err(ModelErrorKind::ContentFiltered { reason: reason.to_owned() });
                }
                Some("tool_calls" | "function_call") => {
                    return Err(ModelErrorKind::InvalidResponse {
                        defect: ResponseDefect::UnexpectedToolCall,
                    });
                }
                Some(reason) => heard.set_finish(FinishReason::Stop, reason),
            }
        }
        Ok(())
    }
}

fn parse_usage(usage: &Value) -> Option<TokenUsage> {
    Some(TokenUsage {
        input_tokens: usage["prompt_tokens"].as_u64()?,
        output_tokens: usage["completion_tokens"].as_u64().unwrap_or_default(),
        cached_tokens: usage["prompt_tokens_details"]["cached_tokens"].as_u64(),
    })
}

/// Converts a contract id to a schema name, which may have letters, digits, `_` and `-`.
fn schema_name(id: &str) -> String {
    id.replace(|sign: char| !sign.is_ascii_alphanumeric() && sign != '-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_openai_itself_has_renamed_the_longest_answer() {
        let ask = ModelRequest { max_tokens: Some(5), ..ModelRequest::new("", "x") };
        for (is_openai_itself, field) in [(true, "max_completion_tokens"), (false, "max_tokens")] {
            let body = OpenAiDialect { is_openai_itself }.build_request("m", &ask).body;
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body[field], 5);
            assert_eq!(body.as_object().unwrap().len(), 5);
        }
    }
}
