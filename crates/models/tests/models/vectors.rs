//! An embedder over a real socket: what is sent, what comes back, what fails, and what never shows.

use countersign_models::{ModelProvider, connect_embedder};
use serde_json::{Value, json};

use crate::asking::{KEY, PATIENT, settings};
use crate::loopback::{Server, Step, response};

fn texts() -> Vec<String> {
    vec!["one".to_owned(), "две".to_owned()]
}

async fn embed(
    provider: ModelProvider,
    steps: Vec<Step>,
) -> (Result<Vec<Vec<f32>>, countersign_models::ModelError>, Server) {
    let server = Server::start(steps).await;
    let spec = format!("{provider}:small").parse().unwrap();
    let settings = settings(provider, &server.address, PATIENT);
    let embedder = connect_embedder(&spec, &settings).unwrap();
    assert_eq!(embedder.name(), "small");
    (embedder.embed(&texts()).await, server)
}

#[tokio::test]
async fn texts_go_out_and_vectors_come_back() {
    let answer = json!({"object": "list", "model": "small", "data": [
        {"object": "embedding", "index": 0, "embedding": [0.25, -1.0]},
        {"object": "embedding", "index": 1, "embedding": [1.0, 0.5]},
    ], "usage": {"prompt_tokens": 4, "total_tokens": 4}});
    for (provider, path) in
        [(ModelProvider::OpenAi, "/v1/embeddings"), (ModelProvider::Ollama, "/v1/embeddings")]
    {
        let (made, server) = embed(provider, response(200, "", &answer.to_string())).await;
        assert_eq!(made.unwrap(), [[0.25, -1.0], [1.0, 0.5]]);
        let seen = server.seen().remove(0);
        assert!(seen.head.starts_with(&format!("POST {path} HTTP/1.1")), "{}", seen.head);
        assert!(seen.head.contains(&format!("authorization: Bearer {KEY}")), "{}", seen.head);
        let body: Value = serde_json::from_slice(&seen.body).unwrap();
        let request = json!({"model": "small", "input": texts(), "encoding_format": "float"});
        assert_eq!(body, request);
    }
}

#[tokio::test]
async fn failures_say_what_they_mean_and_no_key_shows() {
    let error_body =
        |message: &str| json!({"error": {"message": message, "code": "c"}}).to_string();
    for (steps, kind, again) in [
        (response(401, "", &error_body(&format!("bad key {KEY}"))), "refused", false),
        (response(429, "retry-after: 3\r\n", &error_body("slow")), "rate_limited", true),
        (response(503, "", ""), "overloaded", true),
        (response(200, "", "<html>"), "invalid_response", true),
        (response(200, "", r#"{"data": []}"#), "invalid_response", true),
        (
            vec![Step::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{".to_vec())],
            "invalid_response",
            true,
        ),
    ] {
        let error = embed(ModelProvider::OpenAi, steps).await.0.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), (kind, again), "{error}");
        assert!(!error.to_string().contains("4f9a"), "{error}");
        assert!(error.to_string().starts_with("`openai:small`: "), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_is_silent_is_not_waited_for_for_ever() {
    let server = Server::start(vec![Step::Hold]).await;
    let spec = "openai:small".parse().unwrap();
    let mut short = settings(ModelProvider::OpenAi, &server.address, PATIENT);
    short.timeouts.first_byte = std::time::Duration::from_millis(50);
    let embedder = connect_embedder(&spec, &short).unwrap();
    let error = embedder.embed(&texts()).await.unwrap_err();
    assert_eq!(error.code(), "timed_out", "{error}");
    server.hung_up().await;
}

#[tokio::test]
async fn nothing_is_not_sent() {
    let server = Server::start(vec![Step::Hold]).await;
    let settings = settings(ModelProvider::OpenAi, &server.address, PATIENT);
    let embedder = connect_embedder(&"openai:small".parse().unwrap(), &settings).unwrap();
    assert_eq!(embedder.embed(&[]).await, Ok(Vec::new()));
    assert!(server.seen().is_empty());
}
