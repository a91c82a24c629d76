//! Anthropic's messages.

use countersign_core::contract::Target;
use countersign_core::reply::Finish;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use super::schema::{JsonMode, told};
use super::{headers, parsed};
use crate::wire::{Dialect, Framing, Heard, Prepared, failed};
use crate::{Ask, Fault, Flaw, Key, Usage};

/// The longest answer must be told there; this much where the caller does not care.
const DEFAULT_MAX_TOKENS: u32 = 8_192;

/// The dialect.
pub(super) struct Anthropic;

impl Dialect for Anthropic {
    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn path(&self, _model: &str) -> String {
        "/v1/messages".to_owned()
    }

    fn headers(&self, key: Option<&Key>) -> HeaderMap {
        let mut headers = headers("x-api-key", "", key);
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        headers
    }

    fn prepare(&self, model: &str, ask: &Ask) -> Prepared {
        let told = told(ask, Target::Anthropic, JsonMode::Lacks);
        let mut body = json!({
            "model": model,
            "max_tokens": ask.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
            "stream": true,
        });
        if !ask.system.is_empty() {
            body["system"] = json!(ask.system);
        }
        let turns = ask.turns.iter();
        body["messages"] =
            turns.map(|turn| json!({"role": turn.role.as_str(), "content": turn.text})).collect();
        if let Some(degrees) = ask.temperature() {
            body["temperature"] = json!(degrees);
        }
        if let Some(schema) = told.schema {
            body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
        }
        let body = body.to_string().into_bytes();
        Prepared { body, sent: told.sent, drop_nulls: told.drop_nulls }
    }

    fn hear(&self, piece: &str, heard: &mut Heard<'_>) -> Result<(), Fault> {
        let piece = parsed(piece)?;
        match piece["type"].as_str().unwrap_or_default() {
            "message_start" => {
                let message = &piece["message"];
                heard.name(&message["model"]);
                read(&message["usage"], heard);
            }
            // Thinking comes the same way under other names, and is not part of the answer.
            "content_block_start" => match piece["content_block"]["type"].as_str() {
                Some("text") => heard.say(text(&piece["content_block"]["text"]))?,
                Some("tool_use") => return Err(Fault::BadAnswer { flaw: Flaw::WantsTool }),
                _ => {}
            },
            "content_block_delta" if piece["delta"]["type"] == "text_delta" => {
                heard.say(text(&piece["delta"]["text"]))?;
            }
            "message_delta" => {
                read(&piece["usage"], heard);
                match piece["delta"]["stop_reason"].as_str() {
                    None => {}
                    Some(reason @ ("max_tokens" | "model_context_window_exceeded")) => {
                        heard.stop(Finish::Length, reason);
                    }
                    Some(reason @ "refusal") => {
                        return Err(Fault::ContentFiltered { reason: reason.to_owned() });
                    }
                    Some("tool_use") => return Err(Fault::BadAnswer { flaw: Flaw::WantsTool }),
                    Some(reason @ "pause_turn") => {
                        let reason = reason.to_owned();
                        return Err(Fault::BadAnswer { flaw: Flaw::Stopped { reason } });
                    }
                    Some(reason) => heard.stop(Finish::Stop, reason),
                }
            }
            "message_stop" => heard.is_over = true,
            "error" => return Err(failed(&piece)),
            // Pings, ends of blocks, and whatever is invented next.
            _ => {}
        }
        Ok(())
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Cached input is counted apart there; here it is part of the input. Later counts replace earlier ones.
fn read(told: &Value, heard: &mut Heard<'_>) {
    let count = |key: &str| told[key].as_u64();
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
    if usage != Usage::default() {
        heard.usage = Some(usage);
    }
}
