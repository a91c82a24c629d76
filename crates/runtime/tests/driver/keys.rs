//! A key shows nowhere: a server that says back all it was told leaves no trace of it in the store,
//! in what is told of the run, or in errors.

use std::sync::Arc;

use countersign_models::ModelSettings;
use countersign_run::ExecutionStatus;
use countersign_runtime::driver::{CachedModelResolver, IdleReason};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::replies::NOTE;
use crate::rig::{Kind, TestApp};

const KEY: &str = "sk-c0unters1gn-4f9a77aa21";

/// A server that speaks as OpenAI does: an error first, then a reply, both with the key in it.
async fn echo() -> (u16, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let task = tokio::spawn(async move {
        for attempt in 0..3 {
            let (mut stream, _) = listener.accept().await.unwrap();
            let head = request(&mut stream).await;
            assert_eq!(head.matches(KEY).count(), 1, "the key was sent");
            let (status, kind, body) = match attempt {
                0 => ("500 X", "application/json", json!({"error": {"message": head}}).to_string()),
                1 => ("200 OK", "text/event-stream", said(&head)),
                _ => ("200 OK", "text/event-stream", said(&json!({"note": head}).to_string())),
            };
            let length = body.len();
            let response = format!(
                "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nx-key: {KEY}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
            stream.write_all(response.as_bytes()).await.unwrap();
            let _ = stream.shutdown().await;
        }
    });
    (port, task)
}

async fn request(stream: &mut TcpStream) -> String {
    let (mut bytes, mut portion) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut portion).await.unwrap();
        assert!(count > 0, "the request breaks off");
        bytes.extend_from_slice(&portion[..count]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if bytes.len() - end - 4 == length.parse::<usize>().unwrap() {
            return head;
        }
    }
}

fn said(text: &str) -> String {
    let chunk = json!({"model": "m", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]});
    let last =
        json!({"model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    format!("data: {chunk}\n\ndata: {last}\n\ndata: [DONE]\n\n")
}

#[tokio::test]
async fn nothing_that_is_kept_or_told_holds_the_key() {
    let (port, server) = echo().await;
    let model = format!("openai:m@http://127.0.0.1:{port}/v1");
    let app = TestApp::new(Kind::Sqlite, &NOTE.replace("script:script.yaml", &model));
    let hosts = format!("127.0.0.1:{port}=LAN_KEY");
    let env = |name: &str| match name {
        "COUNTERSIGN_KEYS_BY_HOST" => Some(hosts.clone()),
        "LAN_KEY" => Some(KEY.to_owned()),
        _ => None,
    };
    let models = CachedModelResolver::new(ModelSettings::from_env(&env).unwrap(), app.work());
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let driver = app.driver_with(&engine, Arc::new(models), "w");
    assert!(
        matches!(driver.drive("r1").await.unwrap(), IdleReason::WaitingUntil(_)),
        "the first call failed"
    );
    app.clock.advance(60_000);
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    server.await.unwrap();

    let kinds = app.kinds("r1").await;
    for kind in ["provider_failed", "reply_refused", "reply_accepted"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    // The bytes of the calls are there, without it.
    let log = engine.read_log("r1").await.unwrap();
    let exchanges = log.iter().filter(|one| one.body.contains("\"exchange\"")).count();
    assert_eq!(exchanges, 3);
    let mut bytes = format!("{:?} {log:?}", app.state("r1").await).into_bytes();
    for entry in std::fs::read_dir(app.folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            bytes.extend(std::fs::read(path).unwrap());
        }
    }
    let whole = String::from_utf8_lossy(&bytes);
    assert!(whole.contains("authorization"), "what was said back is kept");
    assert!(!whole.contains(KEY), "and the key is not");
    assert!(!whole.contains("4f9a77aa21"), "nor the end of it");
}
