//! Chat completions: OpenAI, and the many servers that speak like it.

use countersign_core::contract::Target;
use countersign_core::reply::Finish;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};

use super::schema::{JsonMode, told};
use super::{foreign, headers, messages, parsed};
use crate::wire::{Dialect, Framing, Heard, Prepared, failed};
use crate::{Ask, Fault, Flaw, Key, Sent, Usage};

/// The dialect.
pub(super) struct OpenAi {
    /// OpenAI has renamed a field that the others still call by its old name.
    pub(super) is_openai_itself: bool,
}

impl Dialect for OpenAi {
    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn path(&self, _model: &str) -> String {
        "/chat/completions".to_owned()
    }

    fn headers(&self, key: Option<&Key>) -> HeaderMap {
        headers("authorization", "Bearer ", key)
    }

    fn prepare(&self, model: &str, ask: &Ask) -> Prepared {
        let told = told(ask, Target::OpenAi, JsonMode::HasIfNamed);
        let mut body = json!({
            "model": model,
            "messages": messages(ask),
            "stream": true,
            "stream_options": {"include_usage": true},
        });
        if let Some(degrees) = ask.temperature() {
            body["temperature"] = json!(degrees);
        }
        if let Some(most) = ask.max_tokens {
            let field = if self.is_openai_itself { "max_completion_tokens" } else { "max_tokens" };
            body[field] = json!(most);
        }
        match (told.sent, told.schema, &ask.contract) {
            (_, Some(schema), Some(contract)) => {
                body["response_format"] = json!({
                    "type": "json_schema",
                    "json_schema": {"name": name(&contract.id), "strict": true, "schema": schema},
                });
            }
            (Sent::JsonMode, ..) => body["response_format"] = json!({"type": "json_object"}),
            _ => {}
        }
        let body = body.to_string().into_bytes();
        Prepared { body, sent: told.sent, drop_nulls: told.drop_nulls }
    }

    fn hear(&self, piece: &str, heard: &mut Heard<'_>) -> Result<(), Fault> {
        if piece.trim() == "[DONE]" {
            heard.is_over = true;
            return Ok(());
        }
        let piece = parsed(piece)?;
        if !piece["error"].is_null() {
            return Err(failed(&piece));
        }
        heard.name(&piece["model"]);
        if let Some(usage) = usage(&piece["usage"]) {
            heard.usage = Some(usage);
        }
        let Some(choices) = piece["choices"].as_array() else {
            return Err(foreign("`choices`", "a piece without them"));
        };
        for choice in choices.iter().filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0) {
            let delta = &choice["delta"];
            if delta["refusal"].as_str().is_some_and(|refusal| !refusal.is_empty()) {
                return Err(Fault::ContentFiltered { reason: "refusal".to_owned() });
            }
            heard.say(delta["content"].as_str().unwrap_or_default())?;
            match choice["finish_reason"].as_str() {
                None => {}
                Some(reason @ ("length" | "model_length")) => heard.stop(Finish::Length, reason),
                Some(reason @ "content_filter") => {
                    return Err(Fault::ContentFiltered { reason: reason.to_owned() });
                }
                Some("tool_calls" | "function_call") => {
                    return Err(Fault::BadAnswer { flaw: Flaw::WantsTool });
                }
                Some(reason) => heard.stop(Finish::Stop, reason),
            }
        }
        Ok(())
    }
}

fn usage(told: &Value) -> Option<Usage> {
    Some(Usage {
        input_tokens: told["prompt_tokens"].as_u64()?,
        output_tokens: told["completion_tokens"].as_u64().unwrap_or_default(),
        cached_tokens: told["prompt_tokens_details"]["cached_tokens"].as_u64(),
    })
}

/// Schemas are named by letters, digits, `_` and `-` there.
fn name(id: &str) -> String {
    id.replace(|sign: char| !sign.is_ascii_alphanumeric() && sign != '-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_openai_itself_has_renamed_the_longest_answer() {
        let ask = Ask { max_tokens: Some(5), ..Ask::new("", "x") };
        for (is_openai_itself, field) in [(true, "max_completion_tokens"), (false, "max_tokens")] {
            let body = OpenAi { is_openai_itself }.prepare("m", &ask).body;
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body[field], 5);
            assert_eq!(body.as_object().unwrap().len(), 5);
        }
    }
}
