//! What each failure of a provider means, and whether to try again.

use std::time::Duration;

use countersign_models::{ModelError, ModelProvider, ModelSettings, connect_model};
use serde_json::json;
use tokio::io::AsyncReadExt as _;

use crate::asking::{PATIENT, ask, call, model};
use crate::loopback::{Step, response};

async fn fails(provider: ModelProvider, steps: Vec<Step>) -> ModelError {
    call(provider, steps, &ask()).await.0.unwrap_err()
}

fn row(error: &ModelError) -> String {
    let again = match (error.is_retryable(), error.retry_after()) {
        (false, _) => "never again".to_owned(),
        (true, None) => "again".to_owned(),
        (true, Some(wait)) => format!("again after {wait:?}"),
    };
    format!("{} | {again} | {error}", error.code())
}

#[tokio::test]
async fn statuses_mean_what_the_providers_say() {
    let openai = |code: &str| {
        json!({"error": {"message": "Told by OpenAI.", "type": "t", "param": null, "code": code}})
            .to_string()
    };
    let anthropic = |kind: &str| {
        json!({"type": "error", "error": {"type": kind, "message": "Told by Anthropic."}, "request_id": "r"}).to_string()
    };
    let gemini = |status: &str| {
        json!({"error": {"code": 1, "message": "Told by Google.", "status": status, "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]}}).to_string()
    };
    let dated =
        "date: Sun, 06 Nov 1994 08:49:07 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    let cases = [
        (ModelProvider::OpenAi, 400, "", openai("context_length_exceeded")),
        (ModelProvider::OpenAi, 401, "", openai("invalid_api_key")),
        (ModelProvider::OpenAi, 403, "", openai("unsupported_country")),
        (ModelProvider::OpenAi, 404, "", openai("model_not_found")),
        (ModelProvider::OpenAi, 408, "", String::new()),
        (ModelProvider::OpenAi, 429, "retry-after: 7\r\n", openai("rate_limit_exceeded")),
        (
            ModelProvider::OpenAi,
            429,
            "retry-after-ms: 1500\r\nretry-after: 2\r\n",
            openai("rate_limit_exceeded"),
        ),
        (ModelProvider::OpenAi, 429, "", openai("insufficient_quota")),
        (ModelProvider::OpenAi, 500, "", openai("server_error")),
        (
            ModelProvider::OpenAi,
            502,
            "content-type: text/html\r\n",
            "<h1>Bad\r\n gateway</h1>".to_owned(),
        ),
        (ModelProvider::OpenAi, 503, dated, openai("")),
        (ModelProvider::OpenAi, 307, "location: http://127.0.0.1:1/\r\n", String::new()),
        (ModelProvider::Anthropic, 400, "", anthropic("invalid_request_error")),
        (ModelProvider::Anthropic, 429, "retry-after: 3\r\n", anthropic("rate_limit_error")),
        (ModelProvider::Anthropic, 529, "", anthropic("overloaded_error")),
        (ModelProvider::Gemini, 400, "", gemini("INVALID_ARGUMENT")),
        (ModelProvider::Gemini, 429, "", gemini("RESOURCE_EXHAUSTED")),
        (ModelProvider::Gemini, 503, "", format!("[{}]", gemini("UNAVAILABLE"))),
        (ModelProvider::Ollama, 404, "", json!({"error": "model 'x' not found"}).to_string()),
        (ModelProvider::Ollama, 500, "", json!({"error": "out of memory"}).to_string()),
    ];
    let mut table = String::new();
    for (provider, status, headers, body) in cases {
        let error = fails(provider, response(status, headers, &body)).await;
        assert_eq!(error.exchange.as_ref().unwrap().response, body.as_bytes());
        table += &format!("{status} {}\n", row(&error));
    }
    insta::assert_snapshot!(table);
}

#[tokio::test]
async fn a_long_error_is_shortened_and_kept_whole() {
    let body = "е".repeat(5_000);
    let error = fails(ModelProvider::OpenAi, response(400, "", &body)).await;
    assert!(error.to_string().chars().count() < 400);
    assert_eq!(error.exchange.unwrap().response, body.as_bytes());
}

#[tokio::test]
async fn an_error_whose_body_breaks_off_is_still_that_error() {
    let text = "HTTP/1.1 429 X\r\nretry-after: 5\r\ncontent-length: 500\r\n\r\n{\"error\":";
    let error = fails(ModelProvider::OpenAi, vec![Step::Send(text.as_bytes().to_vec())]).await;
    assert_eq!(error.code(), "rate_limited");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(5)));
}

#[tokio::test]
async fn nobody_there_is_unreachable() {
    // Bound and dropped: a port that was free a moment ago.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let model = model(ModelProvider::Ollama, &address, PATIENT);
    let error = model.complete(&ask(), &mut |_| {}).await.unwrap_err();
    let message = row(&error);
    let beginning = "unreachable | again | `ollama:some-model-high`: no connection: ";
    assert!(message.starts_with(beginning) && message.contains("refused"), "{message}");
}

#[tokio::test]
async fn a_server_that_speaks_no_http_is_unreachable() {
    let error = fails(ModelProvider::Anthropic, vec![Step::Send(b"SSH-2.0-x\r\n".to_vec())]).await;
    assert_eq!(error.code(), "unreachable");
    let error = fails(ModelProvider::Anthropic, Vec::new()).await;
    assert_eq!(error.code(), "unreachable");
}

#[tokio::test]
async fn https_is_spoken_where_the_address_says_so() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let spec = format!("openai:m@https://{}/v1", listener.local_addr().unwrap());
    let settings = ModelSettings { timeouts: PATIENT, ..ModelSettings::default() };
    let model = connect_model(&spec.parse().unwrap(), &settings).unwrap();
    let greeted = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.read_u8().await.unwrap()
    });
    let error = model.complete(&ask(), &mut |_| {}).await.unwrap_err();
    assert_eq!(greeted.await.unwrap(), 0x16, "a TLS handshake begins so");
    assert_eq!((error.code(), error.is_retryable()), ("unreachable", true));
}
