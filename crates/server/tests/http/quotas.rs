//! What one client can hold: memory, disk, streams, connections. Real sockets, which stall on purpose.

use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use countersign_server::access::{AccessRole, AuthMode};
use countersign_server::service_limits::ServiceLimits;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::rig::{Answer, Client, Rig, demo_folder, json as with_json};

const ASK: &str = "id: ask
phases:
  - id: ask
    ask:
      - id: number
        question: How many?
        answer: { type: integer, minimum: 1 }
        apply: { set: /number }
      - id: paper
        question: The paper, please
        document: { accepts: [.md] }
        apply: { set: /paper }
  - { id: done, terminal: true }
transitions:
  - { from: ask, to: done }
";

async fn open(demand: AuthMode, limits: ServiceLimits) -> Rig {
    let folder = demo_folder();
    fs::write(folder.path().join(".opencode/protocol/workflows/ask.yaml"), ASK).unwrap();
    Rig::open_with(folder, demand, limits).await
}

/// A run that waits for a number (`w1`) and a document (`w2`).
async fn asking(client: &Client) -> String {
    let request = with_json(client.request("POST", "/v1/runs"), &json!({"workflow": "ask"}));
    let started = Answer::of(request.header("prefer", "wait=20")).await.good();
    started["run"].as_str().unwrap().to_owned()
}

/// A request of which only a part is sent.
struct Stalled {
    socket: TcpStream,
}

impl Stalled {
    async fn send(rig: &Rig, head: &str, body: &[u8]) -> Self {
        let address: SocketAddr = rig.address;
        let mut socket = TcpStream::connect(address).await.unwrap();
        let token = rig
            .token()
            .map_or_else(String::new, |token| format!("\r\nauthorization: Bearer {token}"));
        let head = format!("{head}{token}\r\nhost: {address}\r\n\r\n");
        socket.write_all(head.as_bytes()).await.unwrap();
        socket.write_all(body).await.unwrap();
        Self { socket }
    }

    /// What is answered, read to the end of the connection or of what is said.
    async fn answer(mut self) -> (u16, String) {
        let mut text = Vec::new();
        let mut block = vec![0; 4096];
        let read = async {
            loop {
                let read = self.socket.read(&mut block).await.unwrap_or(0);
                text.extend_from_slice(&block[..read]);
                if read == 0 || text.ends_with(b"}") {
                    return;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), read).await.expect("it is answered");
        let text = String::from_utf8(text).unwrap();
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        (status, text)
    }
}

/// Waits until the server holds so much of something, as its measures have it.
async fn until_held(client: &Client, name: &str, expected: u64) {
    let line = format!("{name} {expected}");
    let held = async {
        while !client.get("/v1/metrics").await.text.lines().any(|found| found == line) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(15), held).await.expect("it is held in time");
}

fn put(run: &str, wait: &str, name: &str, length: usize) -> String {
    format!(
        "PUT /v1/runs/{run}/waits/{wait}/document?name={name} HTTP/1.1\r\ncontent-length: {length}"
    )
}

fn code(text: &str) -> String {
    let body = text.split("\r\n\r\n").nth(1).unwrap_or_default();
    let problem: Value = serde_json::from_str(body).unwrap();
    problem["code"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_that_would_not_be_taken_is_refused_before_it_is_sent() {
    let rig = open(AuthMode::LoopbackToken, ServiceLimits::default()).await;
    let run = asking(&rig.client()).await;
    for (wait, name, expected) in [
        ("w1", "paper.md", (422, "wrong_kind")),
        ("w2", "paper.exe", (422, "answer_mismatch")),
        ("w9", "paper.md", (404, "unknown_wait")),
        ("w2", "..%2Fpaper.md", (400, "bad_query")),
    ] {
        // Thirty mebibytes are announced, and none is sent.
        let head = put(&run, wait, name, 30 << 20);
        let (status, text) = Stalled::send(&rig, &head, b"").await.answer().await;
        assert_eq!((status, &*code(&text)), expected, "{text}");
    }
    let large = put(&run, "w2", "paper.md", (32 << 20) + 1);
    let (status, text) = Stalled::send(&rig, &large, b"").await.answer().await;
    assert_eq!((status, &*code(&text)), (413, "too_large"));
    rig.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uploads_that_stall_are_counted_and_given_up_and_leave_nothing() {
    let limits = ServiceLimits {
        uploads_per_key: 3,
        body_idle_timeout: Duration::from_secs(3),
        ..ServiceLimits::default()
    };
    let rig = open(AuthMode::LoopbackToken, limits).await;
    let client = rig.client();
    let run = asking(&client).await;
    let path = format!("/v1/runs/{run}/waits/w2/document?name=paper.md");
    let mut stalled = Vec::new();
    for _ in 0..3 {
        let head = put(&run, "w2", "paper.md", 8 << 20);
        stalled.push(Stalled::send(&rig, &head, &vec![b'x'; 1 << 20]).await);
    }
    until_held(&client, "countersign_uploads_open", 3).await;
    let refused = Answer::of(client.request("PUT", &path).body("# Paper\n")).await;
    assert_eq!(refused.problem(429), "too_many_uploads");
    assert_eq!(refused.header("retry-after"), "2");
    assert_eq!(client.get("/v1/health").await.status, 200);
    let spooled = rig.folder.path().join(".countersign/uploads");
    assert_eq!(fs::read_dir(&spooled).unwrap().count(), 0, "what is spooled has no name");
    for one in stalled {
        let (status, text) = one.answer().await;
        assert_eq!((status, &*code(&text)), (408, "slow_body"));
    }
    let brought = Answer::of(client.request("PUT", &path).body("# Paper\n")).await.good();
    assert_eq!(brought["run"], run.as_str());
    let paper = client.get(&format!("/v1/runs/{run}/document?pointer=/paper")).await.good();
    assert_eq!((&paper["bytes"], &paper["name"]), (&json!(8), &json!("paper.md")));
    rig.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_of_bodies_are_counted_for_each_key_and_in_total() {
    let limits = ServiceLimits {
        body_bytes: 5 << 20,
        body_bytes_per_key: 3 << 20,
        body_idle_timeout: Duration::from_secs(30),
        ..ServiceLimits::default()
    };
    let rig = open(AuthMode::KeyRequired, limits).await;
    let keys = [(); 3].map(|()| rig.new_key("default", AccessRole::Operator));
    let mut stalled = Vec::new();
    for key in &keys[..2] {
        let head = format!(
            "POST /v1/runs HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\nauthorization: Bearer {key}",
            4 << 20
        );
        stalled.push(Stalled::send(&rig, &head, &vec![b' '; 2 << 20]).await);
    }
    let large = json!({"input": "x".repeat((3 << 20) / 2)});
    let watching = rig.client_of("default", AccessRole::Reader);
    until_held(&watching, "countersign_body_bytes", 4 << 20).await;
    let post = async |key: &str, body: &Value| {
        Client::new(rig.address, Some(key.to_owned())).post("/v1/runs", body).await
    };
    let same = post(&keys[0], &large).await;
    assert_eq!(same.problem(429), "too_many_bytes");
    let other = post(&keys[2], &large).await;
    assert_eq!(other.problem(503), "busy");
    assert_eq!(other.header("retry-after"), "2");
    assert_eq!(post(&keys[2], &json!({"model": "human"})).await.status, 201);
    drop(stalled);
    rig.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_are_bounded_for_each_key_and_in_total_and_given_back() {
    let limits = ServiceLimits { streams: 4, streams_per_key: 3, ..ServiceLimits::default() };
    let rig = open(AuthMode::KeyRequired, limits).await;
    let greedy = rig.client_of("default", AccessRole::Reader);
    let follow = async |client: &Client| {
        let response = client.request("GET", "/v1/inbox/stream").send().await.unwrap();
        (response.status().as_u16(), response)
    };
    let mut streams = Vec::new();
    for _ in 0..3 {
        let (status, stream) = follow(&greedy).await;
        assert_eq!(status, 200);
        streams.push(stream);
    }
    let refused = greedy.get("/v1/inbox/stream").await;
    assert_eq!(refused.problem(429), "too_many_streams");
    assert_eq!(refused.header("retry-after"), "2");
    let [other, third] = [(); 2].map(|()| rig.client_of("default", AccessRole::Reader));
    let (status, kept) = follow(&other).await;
    assert_eq!(status, 200, "another key is another's");
    assert_eq!(third.get("/v1/inbox/stream").await.problem(503), "busy");
    assert_eq!(greedy.get("/v1/me").await.status, 200, "what is no stream is answered");
    drop((streams, kept));
    until_held(&third, "countersign_streams_open", 0).await;
    assert_eq!(follow(&third).await.0, 200, "they are given back");
    rig.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beyond_its_connections_the_server_still_says_that_it_lives() {
    let limits = ServiceLimits { connections: 4, ..ServiceLimits::default() };
    let rig = open(AuthMode::LoopbackToken, limits).await;
    let mut idle = Vec::new();
    for _ in 0..4 {
        // Answered once, and kept open by the client.
        let mut socket = TcpStream::connect(rig.address).await.unwrap();
        let head = format!("GET /v1/health HTTP/1.1\r\nhost: {}\r\n\r\n", rig.address);
        socket.write_all(head.as_bytes()).await.unwrap();
        let mut first = [0; 12];
        socket.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        idle.push(socket);
    }
    let client = rig.client();
    assert_eq!(client.get("/v1/health").await.status, 200);
    assert_eq!(client.get("/v1/ready").await.status, 200);
    let refused = client.get("/v1/me").await;
    assert_eq!(refused.problem(503), "busy");
    assert_eq!(refused.header("retry-after"), "2");
    drop(idle);
    let back = async {
        while client.get("/v1/me").await.status != 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), back).await.expect("there is room again");
    rig.end().await;
}
