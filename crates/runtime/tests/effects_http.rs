//! Calls: to allowed hosts only, under an id, with limits, against a real server on loopback.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::net::SocketAddr;

use countersign_protocol::ProtocolPolicy;
use countersign_run::EffectCall;
use countersign_runtime::effect::{
    EffectContext, EffectError, EffectErrorKind, EffectJournal, RetrieverRegistry, perform_effect,
};
use countersign_runtime::workspace::Workspace;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

struct Server {
    address: SocketAddr,
    requests: UnboundedReceiver<String>,
}

/// Answers each connection with the next of its answers, the last again and again.
async fn serve(answers: Vec<Vec<u8>>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, requests) = unbounded_channel();
    tokio::spawn(async move {
        for number in 0.. {
            let (mut stream, _) = listener.accept().await.unwrap();
            tell.send(request(&mut stream).await).unwrap();
            let answer = answers.get(number).or(answers.last()).unwrap();
            // A client that has read enough hangs up.
            let _ = stream.write_all(answer).await;
        }
    });
    Server { address, requests }
}

async fn request(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.unwrap();
        text.push_str(str::from_utf8(&buffer[..count]).unwrap());
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if count == 0 || body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
            return text;
        }
    }
}

fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    )
    .into_bytes()
}

struct EffectRig {
    _folder: TempDir,
    policy: ProtocolPolicy,
    workspace: Workspace,
    journal: EffectJournal,
}

fn open_rig(hosts: &[&str]) -> EffectRig {
    let folder = tempfile::tempdir().unwrap();
    let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    let policy = ProtocolPolicy { hosts, ..ProtocolPolicy::default() };
    let workspace = Workspace::open(folder.path()).unwrap();
    let journal = EffectJournal::open(&folder.path().join(".countersign/effects")).unwrap();
    EffectRig { _folder: folder, policy, workspace, journal }
}

impl EffectRig {
    async fn call(&self, id: &str, method: &str, url: &str) -> Result<Value, EffectError> {
        self.send(id, method, url, None).await
    }

    async fn send(
        &self,
        id: &str,
        method: &str,
        url: &str,
        body: Option<Value>,
    ) -> Result<Value, EffectError> {
        let order = EffectCall::Http { method: method.to_owned(), url: url.to_owned(), body };
        let sources = RetrieverRegistry::default();
        let Self { policy, workspace, journal, .. } = self;
        perform_effect(&order, id, EffectContext { policy, workspace, sources: &sources, journal })
            .await
    }
}

#[tokio::test]
async fn a_call_carries_its_id_and_is_made_once() {
    let mut server = serve(vec![answer("201 Created", "", r#"{"made": 7}"#)]).await;
    let host = server.address.to_string();
    let rig = open_rig(&[&host]);
    let url = format!("http://{host}/things?a=b");
    let body = Some(json!({"name": "ü"}));
    let result = rig.send("r/3/1", "post", &url, body.clone()).await.unwrap();
    assert_eq!(result, json!({"status": 201, "body": "{\"made\": 7}", "json": {"made": 7}}));
    let request = server.requests.recv().await.unwrap();
    assert!(request.starts_with("POST /things?a=b HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("\r\nidempotency-key: r/3/1\r\n"), "{request}");
    assert!(request.contains("\r\ncontent-type: application/json\r\n"), "{request}");
    assert!(request.ends_with("\r\n\r\n{\"name\":\"ü\"}"), "{request}");

    assert_eq!(rig.send("r/3/1", "post", &url, body).await.unwrap(), result);
    assert!(server.requests.try_recv().is_err(), "the journal answered");
}

#[tokio::test]
async fn a_status_says_whether_to_try_again() {
    for (status, retryable) in [
        ("500 Oops", true),
        ("503 Busy", true),
        ("429 Slow", true),
        ("404 No", false),
        ("401 Who", false),
    ] {
        let server = serve(vec![answer(status, "", "the body")]).await;
        let host = server.address.to_string();
        let url = format!("http://{host}/?key=secret");
        let error = open_rig(&[&host]).call("r/1/0", "GET", &url).await.unwrap_err();
        assert_eq!((error.kind, error.retryable), (EffectErrorKind::Failed, retryable), "{status}");
        let number = &status[..3];
        assert_eq!(error.to_string(), format!("`GET http://{host}` answered with status {number}"));
        assert_eq!(error.detail.unwrap()["body"], json!("the body"));
    }
}

#[tokio::test]
async fn a_failed_call_is_made_again_under_the_same_id() {
    let answers = vec![answer("503 Busy", "", ""), answer("200 OK", "", "fine")];
    let mut server = serve(answers).await;
    let host = server.address.to_string();
    let rig = open_rig(&[&host]);
    let url = format!("http://{host}/");
    rig.call("r/1/0", "PUT", &url).await.unwrap_err();
    let result = rig.call("r/1/0", "PUT", &url).await.unwrap();
    assert_eq!(result, json!({"status": 200, "body": "fine"}));
    for _ in 0..2 {
        assert!(server.requests.recv().await.unwrap().contains("\r\nidempotency-key: r/1/0\r\n"));
    }
}

#[tokio::test]
async fn what_the_policy_does_not_allow_is_not_called() {
    let mut server = serve(vec![answer("200 OK", "", "")]).await;
    let port = server.address.port();
    let rig = open_rig(&["api.example.org", &format!("localhost:{port}")]);
    for (url, sentence) in [
        (
            format!("http://127.0.0.1:{port}/x?key=secret"),
            format!(
                "the policy does not allow `http://127.0.0.1:{port}`; it allows `api.example.org`, `localhost:{port}`"
            ),
        ),
        (
            "http://api.example.org/".to_owned(),
            format!(
                "the policy does not allow `http://api.example.org`; it allows `api.example.org`, `localhost:{port}`"
            ),
        ),
        (
            format!("http://user:pass@localhost:{port}/"),
            "an address must not contain a user name or a password".to_owned(),
        ),
        (
            "file:///etc/passwd".to_owned(),
            format!(
                "the policy does not allow `file://`; it allows `api.example.org`, `localhost:{port}`"
            ),
        ),
    ] {
        let error = rig.call("r/1/0", "GET", &url).await.unwrap_err();
        assert_eq!((error.kind, error.retryable), (EffectErrorKind::NotAllowed, false), "{url}");
        assert_eq!(error.to_string(), sentence);
    }
    let url = format!("http://localhost:{port}/");
    for (method, url) in [("TRACE", url.as_str()), ("GET / HTTP/1.1\r\nX: y", &url), ("GET", "/x")]
    {
        let error = rig.call("r/1/1", method, url).await.unwrap_err();
        assert_eq!(error.kind, EffectErrorKind::Invalid, "{method} {url}");
    }
    let error = rig.call("r/1/2\r\nX-Evil: 1", "GET", &url).await.unwrap_err();
    assert_eq!(error.kind, EffectErrorKind::Invalid);
    assert!(server.requests.try_recv().is_err(), "nobody was called");
}

#[tokio::test]
async fn redirects_stay_on_their_host() {
    let mut elsewhere = serve(vec![answer("200 OK", "", "stolen")]).await;
    let away = format!("location: http://{}/\r\n", elsewhere.address);
    let answers = vec![
        answer("307 Go", "location: /second\r\n", ""),
        answer("200 OK", "", "here"),
        answer("307 Go", &away, ""),
    ];
    let mut server = serve(answers).await;
    let host = server.address.to_string();
    // Even an allowed host is not called on another's word.
    let rig = open_rig(&[&host, &elsewhere.address.to_string()]);
    let url = format!("http://{host}/first");
    let result = rig.call("r/1/0", "POST", &url).await.unwrap();
    assert_eq!(result["body"], json!("here"));
    assert!(server.requests.recv().await.unwrap().starts_with("POST /first"));
    assert!(server.requests.recv().await.unwrap().starts_with("POST /second"));
    let error = rig.call("r/1/1", "POST", &url).await.unwrap_err();
    assert_eq!((error.kind, error.retryable), (EffectErrorKind::NotAllowed, false));
    assert_eq!(
        error.to_string(),
        format!("`POST http://{host}`: the response redirects to another host")
    );
    assert!(elsewhere.requests.try_recv().is_err());
}

#[tokio::test]
async fn a_circle_of_redirects_ends() {
    let server = serve(vec![answer("307 Go", "location: /again\r\n", "")]).await;
    let host = server.address.to_string();
    let error =
        open_rig(&[&host]).call("r/1/0", "GET", &format!("http://{host}/")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("`GET http://{host}`: the response redirects too many times")
    );
}

#[tokio::test]
async fn a_long_answer_is_cut() {
    let server = serve(vec![answer("200 OK", "", &"1".repeat(3_000_000))]).await;
    let host = server.address.to_string();
    let result = open_rig(&[&host]).call("r/1/0", "GET", &format!("http://{host}/")).await.unwrap();
    assert_eq!(result["body"].as_str().unwrap().len(), 1024 * 1024);
    assert_eq!((&result["truncated"], result.get("json")), (&json!(true), None));
}

#[tokio::test]
async fn a_host_that_is_not_there_may_come_back() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    drop(listener);
    let url = format!("http://{host}/?key=secret");
    let error = open_rig(&[&host]).call("r/1/0", "GET", &url).await.unwrap_err();
    assert_eq!((error.kind, error.retryable), (EffectErrorKind::Unavailable, true));
    assert!(error.to_string().starts_with(&format!("`GET http://{host}`: ")), "{error}");
    assert!(!error.to_string().contains("secret"));
}

#[tokio::test]
async fn half_an_answer_is_none() {
    let half = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf".to_vec();
    let server = serve(vec![half]).await;
    let host = server.address.to_string();
    let error =
        open_rig(&[&host]).call("r/1/0", "GET", &format!("http://{host}/")).await.unwrap_err();
    assert_eq!((error.kind, error.retryable), (EffectErrorKind::Unavailable, true));
}
