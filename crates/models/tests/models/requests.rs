//! What is sent, byte for byte, for every provider with a schema, in JSON mode and with nothing.

use std::sync::Arc;

use countersign_contract::contract::Contract;
use countersign_models::{
    ModelProvider, ModelRequest, ModelSettings, OutputConstraint, SchemaDelivery, connect_model,
};
use countersign_schema_tools::ExportTarget;
use serde_json::Value;

use crate::asking::{PATIENT, anything, ask, call, closed, open, settings};
use crate::loopback::{Server, response};

/// Sends a question to a server that refuses, and shows what arrived.
async fn sent(provider: ModelProvider, ask: &ModelRequest) -> String {
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

fn with(contract: Arc<Contract>) -> ModelRequest {
    ModelRequest { contract: Some(contract), ..ask() }
}

#[tokio::test]
async fn openai() {
    insta::assert_snapshot!("openai_schema", sent(ModelProvider::OpenAi, &with(closed())).await);
    insta::assert_snapshot!("openai_json_mode", sent(ModelProvider::OpenAi, &with(open())).await);
    insta::assert_snapshot!("openai_nothing", sent(ModelProvider::OpenAi, &ask()).await);
}

#[tokio::test]
async fn anthropic() {
    insta::assert_snapshot!(
        "anthropic_schema",
        sent(ModelProvider::Anthropic, &with(closed())).await
    );
    insta::assert_snapshot!(
        "anthropic_no_json_mode",
        sent(ModelProvider::Anthropic, &with(open())).await
    );
    insta::assert_snapshot!("anthropic_nothing", sent(ModelProvider::Anthropic, &ask()).await);
}

#[tokio::test]
async fn gemini() {
    insta::assert_snapshot!("gemini_schema", sent(ModelProvider::Gemini, &with(closed())).await);
    insta::assert_snapshot!(
        "gemini_json_mode",
        sent(ModelProvider::Gemini, &with(anything())).await
    );
    insta::assert_snapshot!("gemini_nothing", sent(ModelProvider::Gemini, &ask()).await);
}

#[tokio::test]
async fn ollama() {
    insta::assert_snapshot!("ollama_schema", sent(ModelProvider::Ollama, &with(closed())).await);
    insta::assert_snapshot!(
        "ollama_json_mode",
        sent(ModelProvider::Ollama, &with(anything())).await
    );
    insta::assert_snapshot!("ollama_nothing", sent(ModelProvider::Ollama, &ask()).await);
}

#[tokio::test]
async fn a_bare_question_sends_no_field_that_nobody_set() {
    let bare = ModelRequest::new("", "Hello");
    for provider in ModelProvider::ALL {
        let text = sent(provider, &bare).await;
        let body = text.split_once("\n\n").unwrap().1;
        insta::assert_snapshot!(format!("{provider}_bare"), body);
    }
}

#[tokio::test]
async fn json_mode_is_left_out_where_the_prompt_does_not_name_json() {
    let ask = ModelRequest { contract: Some(open()), ..ModelRequest::new("Judge.", "How good?") };
    assert!(!sent(ModelProvider::OpenAi, &ask).await.contains("response_format"));
    let ask = ModelRequest {
        contract: Some(open()),
        ..ModelRequest::new("", "How good? Reply in Json.")
    };
    assert!(sent(ModelProvider::OpenAi, &ask).await.contains("json_object"));
}

#[tokio::test]
async fn an_object_without_one_schema_is_asked_for_as_json() {
    let object = ModelRequest { expects_object: true, ..ask() };
    let expected = [
        (ModelProvider::OpenAi, "\"response_format\":{\"type\":\"json_object\"}"),
        (ModelProvider::Gemini, "\"responseMimeType\":\"application/json\""),
        (ModelProvider::Ollama, "\"format\":\"json\""),
    ];
    for (provider, words) in expected {
        let text = sent(provider, &object).await.replace(": ", ":").replace([' ', '\n'], "");
        assert!(text.contains(words), "{provider}: {text}");
        let text = sent(provider, &ask()).await.replace(": ", ":").replace([' ', '\n'], "");
        assert!(!text.contains(words), "{provider} is told so only where it is asked");
    }
}

#[tokio::test]
async fn the_answer_says_what_the_provider_was_told() {
    let cases = [
        (closed(), OutputConstraint::Schema(ExportTarget::OpenAi), true),
        (open(), OutputConstraint::JsonMode, false),
    ];
    for (contract, constraint, drop_nulls) in cases {
        let body = "data: {\"choices\":[{\"delta\":{\"content\":\"{\\\"score\\\":1,\\\"note\\\":null}\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        let steps = response(200, "content-type: text/event-stream\r\n", body);
        let (outcome, ..) = call(ModelProvider::OpenAi, steps, &with(contract)).await;
        let answer = outcome.unwrap();
        assert_eq!((answer.constraint, answer.drop_nulls), (constraint, drop_nulls));
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
    for provider in ModelProvider::ALL {
        let mut bodies = Vec::new();
        for (schema_delivery, contract) in [
            (SchemaDelivery::Omit, Some(closed())),
            (SchemaDelivery::Omit, Some(open())),
            (SchemaDelivery::Send, None),
            (SchemaDelivery::Send, Some(closed())),
        ] {
            let server = Server::start(response(400, "", "{}")).await;
            let settings =
                ModelSettings { schema_delivery, ..settings(provider, &server.address, PATIENT) };
            let model =
                connect_model(&format!("{provider}:m").parse().unwrap(), &settings).unwrap();
            model.complete(&ModelRequest { contract, ..ask() }, &mut |_| {}).await.unwrap_err();
            bodies.push(server.seen().remove(0).body);
        }
        let [held, held_open, bare, sent] = &bodies[..] else { panic!("four calls") };
        assert_eq!((held, held_open), (bare, bare), "{provider}: as if there were no contract");
        assert_ne!(sent, bare, "{provider}: it would have been told");
    }
}

#[tokio::test]
async fn the_answer_says_that_nothing_was_told() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let steps = response(200, "content-type: text/event-stream\r\n", body);
    let server = Server::start(steps).await;
    let held = settings(ModelProvider::OpenAi, &server.address, PATIENT);
    let held = ModelSettings { schema_delivery: SchemaDelivery::Omit, ..held };
    let model = connect_model(&"openai:m".parse().unwrap(), &held).unwrap();
    let answer = model.complete(&with(closed()), &mut |_| {}).await.unwrap();
    assert_eq!((answer.constraint, answer.drop_nulls), (OutputConstraint::Unconstrained, false));
}
