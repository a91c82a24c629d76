//! Patience has an end, of four kinds; and whoever stops listening ends the call.

use std::time::Duration;

use countersign_models::{ModelErrorKind, ModelProvider, ModelTimeouts, TimeoutStage};

use crate::asking::{PATIENT, ask, model};
use crate::loopback::{Server, Step, stream};

const SHORT: Duration = Duration::from_millis(80);
/// A connection on this machine that takes longer is not being taken at all.
const FULL: Duration = Duration::from_millis(600);

async fn times_out(steps: Vec<Step>, timeouts: ModelTimeouts) -> (String, String) {
    let server = Server::start(steps).await;
    let model = model(ModelProvider::Ollama, &server.address, timeouts);
    let error = model.complete(&ask(), &mut |_| {}).await.unwrap_err();
    assert!(error.is_retryable());
    let kept = error.exchange.as_ref().unwrap().response.clone();
    server.hung_up().await;
    (error.to_string(), String::from_utf8(kept).unwrap())
}

const PIECE: &str = "{\"message\":{\"content\":\"x\"},\"done\":false}\n";

/// In one write, so that nothing lies between the head and the first piece.
fn begun() -> Vec<Step> {
    let Step::Send(mut bytes) = stream("application/x-ndjson") else { unreachable!() };
    bytes.extend_from_slice(PIECE.as_bytes());
    vec![Step::Send(bytes), Step::Hold]
}

#[tokio::test]
async fn a_silent_server_runs_out_of_the_first_byte() {
    let timeouts = ModelTimeouts { first_byte: SHORT, ..PATIENT };
    let (message, kept) = times_out(vec![Step::Hold], timeouts).await;
    assert_eq!(
        message,
        "`ollama:some-model-high`: the first byte of the answer took longer than 0.08 s"
    );
    assert_eq!(kept, "");
}

#[tokio::test]
async fn a_server_that_falls_silent_runs_out_of_the_next() {
    let (message, kept) = times_out(begun(), ModelTimeouts { idle: SHORT, ..PATIENT }).await;
    assert_eq!(
        message,
        "`ollama:some-model-high`: the next part of the answer took longer than 0.08 s"
    );
    assert_eq!(kept, PIECE);
}

#[tokio::test]
async fn the_whole_has_a_limit_of_its_own() {
    // Long enough for the first piece on a busy machine.
    let total = Duration::from_secs(2);
    let (message, kept) = times_out(begun(), ModelTimeouts { total, ..PATIENT }).await;
    assert_eq!(message, "`ollama:some-model-high`: the whole answer took longer than 2 s");
    assert_eq!(kept, PIECE);
}

#[tokio::test]
async fn an_error_that_never_ends_is_told_by_its_status() {
    let head = b"HTTP/1.1 500 X\r\ncontent-length: 9\r\n\r\n{\"e".to_vec();
    let server = Server::start(vec![Step::Send(head), Step::Hold]).await;
    let model =
        model(ModelProvider::Ollama, &server.address, ModelTimeouts { idle: SHORT, ..PATIENT });
    let error = model.complete(&ask(), &mut |_| {}).await.unwrap_err();
    assert_eq!(error.code(), "overloaded");
}

#[tokio::test]
async fn dropping_the_call_hangs_up() {
    let server = Server::start(begun()).await;
    let model = model(ModelProvider::Ollama, &server.address, PATIENT);
    let heard = std::sync::Arc::new(tokio::sync::Notify::new());
    let bell = std::sync::Arc::clone(&heard);
    let task = tokio::spawn(async move {
        let ask = ask();
        let mut live = |_: &str| bell.notify_one();
        model.complete(&ask, &mut live).await.map(|answer| answer.text)
    });
    heard.notified().await;
    task.abort();
    server.hung_up().await;
    assert!(task.await.unwrap_err().is_cancelled());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_connection_that_is_not_taken_runs_out() {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    // Nobody takes these; when the queue is full, the next one gets no answer at all.
    let mut queue = Vec::new();
    while let Ok(waiting) =
        tokio::time::timeout(FULL, tokio::net::TcpStream::connect(address)).await
    {
        queue.push(waiting.unwrap());
        assert!(queue.len() < 64, "the queue has an end");
    }
    let model = model(
        ModelProvider::Ollama,
        &format!("http://{address}"),
        ModelTimeouts { connect: SHORT, ..PATIENT },
    );
    let error = model.complete(&ask(), &mut |_| {}).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::TimedOut { stage: TimeoutStage::Connect, limit: SHORT });
    assert_eq!(
        error.to_string(),
        "`ollama:some-model-high`: the connection took longer than 0.08 s"
    );
}
