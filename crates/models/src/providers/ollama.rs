//! Ollama's own chat: a JSON value a line.

use countersign_core::contract::Target;
use countersign_core::reply::Finish;
use reqwest::header::HeaderMap;
use serde_json::{Map, Value, json};

use super::schema::{JsonMode, told};
use super::{foreign, headers, messages, parsed};
use crate::wire::{Dialect, Framing, Heard, Prepared, failed};
use crate::{Ask, Fault, Flaw, Key, Sent, Usage};

/// The dialect.
pub(super) struct Ollama;

impl Dialect for Ollama {
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn path(&self, _model: &str) -> String {
        "/api/chat".to_owned()
    }

    fn headers(&self, key: Option<&Key>) -> HeaderMap {
        headers("authorization", "Bearer ", key)
    }

    fn prepare(&self, model: &str, ask: &Ask) -> Prepared {
        // It makes a grammar of the schema, and of the three languages we write Gemini's is the one
        // whose every word that grammar knows or passes over.
        let told = told(ask, Target::Gemini, JsonMode::Has);
        let mut body = json!({"model": model, "messages": messages(ask), "stream": true});
        match (told.schema, told.sent) {
            (Some(schema), _) => body["format"] = schema,
            (None, Sent::JsonMode) => body["format"] = json!("json"),
            (None, _) => {}
        }
        let mut options = Map::new();
        if let Some(degrees) = ask.temperature() {
            options.insert("temperature".to_owned(), json!(degrees));
        }
        if let Some(most) = ask.max_tokens {
            options.insert("num_predict".to_owned(), json!(most));
        }
        if !options.is_empty() {
            body["options"] = Value::Object(options);
        }
        let body = body.to_string().into_bytes();
        Prepared { body, sent: told.sent, drop_nulls: told.drop_nulls }
    }

    fn hear(&self, piece: &str, heard: &mut Heard<'_>) -> Result<(), Fault> {
        let piece = parsed(piece)?;
        if !piece["error"].is_null() {
            return Err(failed(&piece));
        }
        let Some(done) = piece["done"].as_bool() else {
            return Err(foreign("`done`", "a line without it"));
        };
        heard.name(&piece["model"]);
        if piece["message"]["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty()) {
            return Err(Fault::BadAnswer { flaw: Flaw::WantsTool });
        }
        heard.say(piece["message"]["content"].as_str().unwrap_or_default())?;
        if done {
            // Counts of a prompt that was cached whole are left out.
            let count = |key: &str| piece[key].as_u64();
            if let Some(output) = count("eval_count") {
                let input = count("prompt_eval_count").unwrap_or_default();
                heard.usage =
                    Some(Usage { input_tokens: input, output_tokens: output, cached_tokens: None });
            }
            match piece["done_reason"].as_str().unwrap_or("stop") {
                reason @ "length" => heard.stop(Finish::Length, reason),
                reason @ ("load" | "unload") => {
                    let reason = reason.to_owned();
                    return Err(Fault::BadAnswer { flaw: Flaw::Stopped { reason } });
                }
                reason => heard.stop(Finish::Stop, reason),
            }
            heard.is_over = true;
        }
        Ok(())
    }
}
