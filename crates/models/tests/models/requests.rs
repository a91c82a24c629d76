//! What is sent, byte for byte, for every provider with a schema, in JSON mode and with nothing.

use std::sync::Arc;

use countersign_core::contract::{Contract, Target};
use countersign_models::{Ask, Provider, SchemaUse, Sent, Settings, connect};
use serde_json::Value;

use crate::asking::{PATIENT, anything, ask, call, closed, open, settings};
use crate::loopback::{Server, response};

/// Sends a question to a server that refuses, and shows what arrived.
async fn sent(provider: Provider, ask: &Ask) -> String {
    let (outcome, _, server) = call(provider, response(400, "", "{}"), ask).await;
    let seen = server.seen().remove(0);
    let kept = outcome.unwrap_err().exchange.unwrap().request;
    assert_eq!(kept, seen.body, "what is kept is what was sent");
    let body: Value = serde_json::from_slice(&seen.body).unwrap();
    assert_eq!(body.to_string().into_bytes(), seen.body, "no byte beside the shown JSON");
    let mut lines: Vec<&str> = seen.head.lines().collect();
    let first = lines.remove(0);
    lines.retain(|line| !line.starts_with("host: "));
    lines.sort_unstable();
    format!("{first}\n{}\n\n{}", lines.join("\n"), serde_json::to_string_pretty(&body).unwrap())
}

fn with(contract: Arc<Contract>) -> Ask {
    Ask { contract: Some(contract), ..ask() }
}

#[tokio::test]
async fn openai() {
    insta::assert_snapshot!("openai_schema", sent(Provider::OpenAi, &with(closed())).await);
    insta::assert_snapshot!("openai_json_mode", sent(Provider::OpenAi, &with(open())).await);
    insta::assert_snapshot!("openai_nothing", sent(Provider::OpenAi, &ask()).await);
}

#[tokio::test]
async fn anthropic() {
    insta::assert_snapshot!("anthropic_schema", sent(Provider::Anthropic, &with(closed())).await);
    insta::assert_snapshot!(
        "anthropic_no_json_mode",
        sent(Provider::Anthropic, &with(open())).await
    );
    insta::assert_snapshot!("anthropic_nothing", sent(Provider::Anthropic, &ask()).await);
}

#[tokio::test]
async fn gemini() {
    insta::assert_snapshot!("gemini_schema", sent(Provider::Gemini, &with(closed())).await);
    insta::assert_snapshot!("gemini_json_mode", sent(Provider::Gemini, &with(anything())).await);
    insta::assert_snapshot!("gemini_nothing", sent(Provider::Gemini, &ask()).await);
}

#[tokio::test]
async fn ollama() {
    insta::assert_snapshot!("ollama_schema", sent(Provider::Ollama, &with(closed())).await);
    insta::assert_snapshot!("ollama_json_mode", sent(Provider::Ollama, &with(anything())).await);
    insta::assert_snapshot!("ollama_nothing", sent(Provider::Ollama, &ask()).await);
}

#[tokio::test]
async fn a_bare_question_sends_no_field_that_nobody_set() {
    let bare = Ask::new("", "Hello");
    for provider in Provider::ALL {
        let text = sent(provider, &bare).await;
        let body = text.split_once("\n\n").unwrap().1;
        insta::assert_snapshot!(format!("{provider}_bare"), body);
    }
}

#[tokio::test]
async fn json_mode_is_left_out_where_the_prompt_does_not_name_json() {
    let ask = Ask { contract: Some(open()), ..Ask::new("Judge.", "How good?") };
    assert!(!sent(Provider::OpenAi, &ask).await.contains("response_format"));
    let ask = Ask { contract: Some(open()), ..Ask::new("", "How good? Reply in Json.") };
    assert!(sent(Provider::OpenAi, &ask).await.contains("json_object"));
}

#[tokio::test]
async fn an_object_without_one_schema_is_asked_for_as_json() {
    let object = Ask { object: true, ..ask() };
    let told = [
        (Provider::OpenAi, "\"response_format\":{\"type\":\"json_object\"}"),
        (Provider::Gemini, "\"responseMimeType\":\"application/json\""),
        (Provider::Ollama, "\"format\":\"json\""),
    ];
    for (provider, words) in told {
        let text = sent(provider, &object).await.replace(": ", ":").replace([' ', '\n'], "");
        assert!(text.contains(words), "{provider}: {text}");
        let text = sent(provider, &ask()).await.replace(": ", ":").replace([' ', '\n'], "");
        assert!(!text.contains(words), "{provider} is told so only where it is asked");
    }
}

#[tokio::test]
async fn the_answer_says_what_the_provider_was_told() {
    let cases = [(closed(), Sent::Schema(Target::OpenAi), true), (open(), Sent::JsonMode, false)];
    for (contract, told, drop_nulls) in cases {
        let body = "data: {\"choices\":[{\"delta\":{\"content\":\"{\\\"score\\\":1,\\\"note\\\":null}\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        let steps = response(200, "content-type: text/event-stream\r\n", body);
        let (outcome, ..) = call(Provider::OpenAi, steps, &with(contract)).await;
        let answer = outcome.unwrap();
        assert_eq!((answer.sent, answer.drop_nulls), (told, drop_nulls));
        // The text stays as it came; dropping nulls is the caller's.
        assert_eq!(answer.text, "{\"score\":1,\"note\":null}");
        assert_eq!(
            answer.model, "some-model-high",
            "who answered is who was asked, if nobody says"
        );
        assert_eq!(answer.usage, None);
    }
}

#[tokio::test]
async fn a_schema_that_is_held_back_leaves_no_trace_in_the_request() {
    for provider in Provider::ALL {
        let mut bodies = Vec::new();
        for (schema, contract) in [
            (SchemaUse::Hold, Some(closed())),
            (SchemaUse::Hold, Some(open())),
            (SchemaUse::Send, None),
            (SchemaUse::Send, Some(closed())),
        ] {
            let server = Server::start(response(400, "", "{}")).await;
            let settings = Settings { schema, ..settings(provider, &server.address, PATIENT) };
            let model = connect(&format!("{provider}:m").parse().unwrap(), &settings).unwrap();
            model.complete(&Ask { contract, ..ask() }, &mut |_| {}).await.unwrap_err();
            bodies.push(server.seen().remove(0).body);
        }
        let [held, held_open, bare, told] = &bodies[..] else { panic!("four calls") };
        assert_eq!((held, held_open), (bare, bare), "{provider}: as if there were no contract");
        assert_ne!(told, bare, "{provider}: it would have been told");
    }
}

#[tokio::test]
async fn the_answer_says_that_nothing_was_told() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let steps = response(200, "content-type: text/event-stream\r\n", body);
    let server = Server::start(steps).await;
    let held = settings(Provider::OpenAi, &server.address, PATIENT);
    let held = Settings { schema: SchemaUse::Hold, ..held };
    let model = connect(&"openai:m".parse().unwrap(), &held).unwrap();
    let answer = model.complete(&with(closed()), &mut |_| {}).await.unwrap();
    assert_eq!((answer.sent, answer.drop_nulls), (Sent::Nothing, false));
}
