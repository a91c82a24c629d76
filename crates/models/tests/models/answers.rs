//! What is heard: whole answers, endings of every kind, and streams that are none.

use countersign_contract::limits::MAX_REPLY_BYTES;
use countersign_contract::reply::FinishReason;
use countersign_models::{ModelErrorKind, ModelProvider, ResponseDefect, TokenUsage};
use serde_json::json;

use crate::asking::{ask, call};
use crate::loopback::{Step, chunked, response, stream};

const TEXT: &str = "{\"note\": \"хорошо 🙂\"}";

fn recorded(provider: ModelProvider) -> (&'static str, &'static str) {
    match provider {
        ModelProvider::OpenAi => {
            ("text/event-stream; charset=utf-8", include_str!("fixtures/openai.txt"))
        }
        ModelProvider::Anthropic => ("text/event-stream", include_str!("fixtures/anthropic.txt")),
        ModelProvider::Gemini => ("text/event-stream", include_str!("fixtures/gemini.txt")),
        ModelProvider::Ollama => ("application/x-ndjson", include_str!("fixtures/ollama.txt")),
    }
}

fn media_type(provider: ModelProvider) -> &'static str {
    recorded(provider).0
}

#[tokio::test]
async fn a_whole_answer_is_heard_however_it_is_cut() {
    for provider in ModelProvider::ALL {
        let (media_type, body) = recorded(provider);
        for body in [body.to_owned(), body.replace('\n', "\r\n")] {
            for size in [1, 7, 1_000_000] {
                let steps = chunked(media_type, body.as_bytes(), size);
                let (outcome, pieces, _server) = call(provider, steps, &ask()).await;
                let answer = outcome.unwrap();
                assert_eq!(answer.text, TEXT, "{provider}");
                assert_eq!(pieces, ["{\"note\":", " \"хорошо 🙂\"}"], "{provider}");
                assert_eq!(answer.finish, FinishReason::Stop);
                let cached_tokens = (provider != ModelProvider::Ollama).then_some(8);
                let usage = TokenUsage { input_tokens: 29, output_tokens: 11, cached_tokens };
                assert_eq!(answer.usage, Some(usage), "{provider}");
                assert!(answer.model.starts_with("some-model-high"), "{}", answer.model);
                assert!(body.as_bytes().starts_with(&answer.exchange.response));
                assert!(body.trim_end().len() <= answer.exchange.response.len(), "{provider}");
            }
        }
    }
}

#[tokio::test]
async fn a_stream_cut_anywhere_is_never_a_success() {
    for provider in ModelProvider::ALL {
        let (media_type, body) = recorded(provider);
        // The last sign of the last piece; what follows is white space.
        let ends = body.trim_end().len() - 1;
        for at in (0..ends).step_by(23).chain([ends]) {
            let portion = body.as_bytes()[..at].to_vec();
            let steps = vec![stream(media_type), Step::Send(portion)];
            let (outcome, ..) = call(provider, steps, &ask()).await;
            let error = outcome.unwrap_err();
            let cut = ModelErrorKind::InvalidResponse { defect: ResponseDefect::Truncated };
            assert_eq!(error.kind, cut, "{provider} at {at}");
            assert!(error.is_retryable());
            assert_eq!(error.exchange.unwrap().response.len(), at);
        }
    }
}

#[tokio::test]
async fn a_connection_that_breaks_inside_a_chunk_is_told() {
    for provider in ModelProvider::ALL {
        let (media_type, body) = recorded(provider);
        let Step::Send(mut bytes) = chunked(media_type, body.as_bytes(), 100).remove(0) else {
            unreachable!()
        };
        bytes.truncate(bytes.len() / 2);
        let (outcome, ..) = call(provider, vec![Step::Send(bytes)], &ask()).await;
        assert_eq!(
            outcome.unwrap_err().kind,
            ModelErrorKind::InvalidResponse { defect: ResponseDefect::Truncated }
        );
    }
}

/// The end of an answer in a provider's words, after a bit of text.
fn ending(provider: ModelProvider, reason: &str) -> String {
    match provider {
        ModelProvider::OpenAi => {
            let piece = json!({"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": reason}]});
            format!("data: {piece}\n\ndata: [DONE]\n\n")
        }
        ModelProvider::Anthropic => {
            let text = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}});
            let delta = json!({"type": "message_delta", "delta": {"stop_reason": reason}});
            format!("data: {text}\n\ndata: {delta}\n\ndata: {{\"type\":\"message_stop\"}}\n\n")
        }
        ModelProvider::Gemini => {
            let piece = json!({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": reason}]});
            format!("data: {piece}\n\n")
        }
        ModelProvider::Ollama => {
            let line = json!({"message": {"content": "x"}, "done": true, "done_reason": reason});
            format!("{line}\n")
        }
    }
}

#[tokio::test]
async fn every_reason_to_stop_has_its_meaning() {
    let wants_tool = "invalid_response: the answer cannot be used: it calls a tool, but the request offered none";
    let withheld =
        |reason: &str| format!("content_filtered: the provider withheld the answer (`{reason}`)");
    let stopped = |reason: &str| {
        format!("invalid_response: the answer cannot be used: the provider stopped it (`{reason}`)")
    };
    let cases = [
        (ModelProvider::OpenAi, "stop", "Stop".to_owned()),
        (ModelProvider::OpenAi, "eos", "Stop".to_owned()),
        (ModelProvider::OpenAi, "length", "Length".to_owned()),
        (ModelProvider::OpenAi, "content_filter", withheld("content_filter")),
        (ModelProvider::OpenAi, "tool_calls", wants_tool.to_owned()),
        (ModelProvider::Anthropic, "end_turn", "Stop".to_owned()),
        (ModelProvider::Anthropic, "stop_sequence", "Stop".to_owned()),
        (ModelProvider::Anthropic, "max_tokens", "Length".to_owned()),
        (ModelProvider::Anthropic, "model_context_window_exceeded", "Length".to_owned()),
        (ModelProvider::Anthropic, "refusal", withheld("refusal")),
        (ModelProvider::Anthropic, "tool_use", wants_tool.to_owned()),
        (ModelProvider::Anthropic, "pause_turn", stopped("pause_turn")),
        (ModelProvider::Gemini, "STOP", "Stop".to_owned()),
        (ModelProvider::Gemini, "MAX_TOKENS", "Length".to_owned()),
        (ModelProvider::Gemini, "SAFETY", withheld("SAFETY")),
        (ModelProvider::Gemini, "RECITATION", withheld("RECITATION")),
        (ModelProvider::Gemini, "MALFORMED_FUNCTION_CALL", wants_tool.to_owned()),
        (ModelProvider::Gemini, "OTHER", stopped("OTHER")),
        (ModelProvider::Ollama, "stop", "Stop".to_owned()),
        (ModelProvider::Ollama, "length", "Length".to_owned()),
        (ModelProvider::Ollama, "load", stopped("load")),
    ];
    for (provider, reason, expected) in cases {
        let steps = chunked(media_type(provider), ending(provider, reason).as_bytes(), 4096);
        let (outcome, ..) = call(provider, steps, &ask()).await;
        let found = match outcome {
            Ok(answer) => {
                assert_eq!((answer.text.as_str(), answer.finish_reason.as_str()), ("x", reason));
                format!("{:?}", answer.finish)
            }
            Err(error) => format!("{}: {}", error.code(), error.kind),
        };
        assert_eq!(found, expected, "{provider} {reason}");
    }
}

#[tokio::test]
async fn refusals_without_a_reason_are_seen_too() {
    let refusal = json!({"choices": [{"index": 0, "delta": {"refusal": "I cannot"}}]});
    let blocked = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}});
    for (provider, piece, reason) in [
        (ModelProvider::OpenAi, refusal, "refusal"),
        (ModelProvider::Gemini, blocked, "PROHIBITED_CONTENT"),
    ] {
        let steps = chunked(media_type(provider), format!("data: {piece}\n\n").as_bytes(), 4096);
        let (outcome, ..) = call(provider, steps, &ask()).await;
        let fault = ModelErrorKind::ContentFiltered { reason: reason.to_owned() };
        assert_eq!(outcome.unwrap_err().kind, fault);
    }
}

#[tokio::test]
async fn an_error_in_the_middle_is_an_error() {
    let google = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow", "details": [{"retryDelay": "3s"}]}});
    let anthropic =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let openai = json!({"error": {"type": "server_error", "code": null, "message": "oops"}});
    let ollama = json!({"error": "model runner has unexpectedly stopped"});
    for (provider, error, kind, wait) in [
        (ModelProvider::OpenAi, openai, "overloaded", None),
        (ModelProvider::Anthropic, anthropic, "overloaded", None),
        (ModelProvider::Gemini, google, "rate_limited", Some(3)),
        (ModelProvider::Ollama, ollama, "overloaded", None),
    ] {
        let piece = if provider == ModelProvider::Ollama {
            format!("{error}\n")
        } else {
            format!("event: error\ndata: {error}\n\n")
        };
        let steps = chunked(media_type(provider), piece.as_bytes(), 4096);
        let (outcome, ..) = call(provider, steps, &ask()).await;
        let error = outcome.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), (kind, true), "{provider}");
        assert_eq!(error.retry_after().map(|wait| wait.as_secs()), wait);
    }
}

#[tokio::test]
async fn an_answer_without_end_is_stopped_at_the_limit() {
    let text = "x".repeat(64 << 10);
    for provider in ModelProvider::ALL {
        let piece = ending(provider, "stop").replace("\"x\"", &format!("\"{text}\""));
        let piece = match provider {
            ModelProvider::OpenAi => {
                piece.replace("data: [DONE]\n\n", "").replace("\"stop\"", "null")
            }
            ModelProvider::Anthropic => piece.split_inclusive("\n\n").next().unwrap().to_owned(),
            ModelProvider::Gemini => piece.replace("\"stop\"", "null"),
            ModelProvider::Ollama => piece.replace("\"done\":true", "\"done\":false"),
        };
        let mut steps = vec![stream(media_type(provider))];
        steps.extend(vec![Step::Send(piece.into_bytes()); 40]);
        let (outcome, pieces, _server) = call(provider, steps, &ask()).await;
        let error = outcome.unwrap_err();
        assert_eq!(
            error.kind,
            ModelErrorKind::InvalidResponse {
                defect: ResponseDefect::TooLarge { limit: MAX_REPLY_BYTES }
            }
        );
        assert!(!error.is_retryable());
        assert_eq!(pieces.concat().len(), MAX_REPLY_BYTES);
    }
}

#[tokio::test]
async fn what_is_no_stream_is_told_without_its_text() {
    let cases = [
        ("text/html", "<p>Login</p>", "expected text/event-stream, found text/html"),
        ("application/json", "{}", "expected text/event-stream, found application/json"),
        (
            "text/event-stream",
            "data: <p>\n\n",
            "expected JSON, found something else at line 1, column 1",
        ),
        (
            "text/event-stream",
            "data: {\"x\":1}\n\n",
            "expected `choices`, found a chunk without them",
        ),
    ];
    for (media_type, body, flaw) in cases {
        let steps = response(200, &format!("content-type: {media_type}\r\n"), body);
        let (outcome, ..) = call(ModelProvider::OpenAi, steps, &ask()).await;
        let error = outcome.unwrap_err();
        let expected = format!("`openai:some-model-high`: the answer cannot be used: {flaw}");
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.exchange.unwrap().response, body.as_bytes());
    }
}
