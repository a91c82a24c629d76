//! Events as they happen, and going on where one was.

use std::fs;
use std::time::Duration;

use countersign_server::access::AuthMode;
use serde_json::{Value, json};

use crate::rig::{Answer, Client, Rig, json as with_json, serve, signed};

/// A stream of events, read one by one.
struct Stream {
    response: reqwest::Response,
    rest: String,
}

#[derive(Debug, Clone, PartialEq)]
struct Event {
    name: String,
    id: Option<String>,
    data: Value,
}

impl Stream {
    async fn open(client: &Client, path: &str, last: Option<&str>) -> Self {
        let request = client.request("GET", path);
        let request = match last {
            Some(id) => request.header("last-event-id", id),
            None => request,
        };
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, rest: String::new() }
    }

    /// The next event; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((block, rest)) = self.rest.split_once("\n\n") {
                let (event, rest) = (parsed(block), rest.to_owned());
                self.rest = rest;
                match event {
                    Some(event) => return Some(event),
                    None => continue,
                }
            }
            let chunk = tokio::time::timeout(Duration::from_secs(30), self.response.chunk());
            let chunk = chunk.await.expect("an event comes within half a minute").unwrap()?;
            self.rest.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// Events until one of this name, which is the last of them.
    async fn until(&mut self, name: &str) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let event = self.next().await.expect("the stream goes on");
            let last = event.name == name;
            events.push(event);
            if last {
                return events;
            }
        }
    }
}

/// An event out of its lines; `None` where it only says when to come back, or that somebody is there.
fn parsed(block: &str) -> Option<Event> {
    let field = |name: &str| {
        let prefix = format!("{name}: ");
        block.lines().find_map(|line| line.strip_prefix(&prefix)).map(str::to_owned)
    };
    let data = serde_json::from_str(&field("data")?).unwrap();
    Some(Event { name: field("event").unwrap(), id: field("id"), data })
}

async fn started(client: &Client, body: &Value) -> String {
    let started = client.post("/v1/runs", body).await.good();
    started["run"].as_str().unwrap().to_owned()
}

async fn settled(client: &Client, path: &str, body: &Value) -> Answer {
    let request = with_json(client.request("POST", path), body).header("prefer", "wait=20");
    Answer::of(request).await
}

fn versions(events: &[Event]) -> Vec<u64> {
    let versions = events.iter().filter(|event| event.name == "version");
    versions.map(|event| event.data["version"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn a_run_is_followed_from_start_to_end_and_picked_up_again() {
    let rig = serve().await;
    let client = rig.client();
    let run = started(&client, &json!({})).await;
    let path = format!("/v1/runs/{run}/stream");
    let mut stream = Stream::open(&client, &path, None).await;
    let mut seen = Vec::new();
    let waits = |event: &Event| {
        event.data["events"]
            .as_array()
            .is_some_and(|events| events.iter().any(|one| one["event"] == "wait_opened"))
    };
    loop {
        let event = stream.next().await.unwrap();
        let rests = waits(&event);
        seen.push(event);
        if rests {
            break;
        }
    }
    let before = versions(&seen);
    assert_eq!(before, (1..=before.len() as u64).collect::<Vec<_>>(), "every version once");
    assert_eq!(seen.last().unwrap().id, Some(before.len().to_string()));
    drop(stream);

    let waiting = client.get(&format!("/v1/runs/{run}")).await.good();
    let approval = signed(&waiting, "good");
    settled(&client, &format!("/v1/runs/{run}/waits/w1/approve"), &approval).await.good();
    let last = before.len().to_string();
    let mut again = Stream::open(&client, &path, Some(&last)).await;
    let rest = again.until("end").await;
    assert_eq!(again.next().await, None, "the run is over, and so is the stream");
    let after = versions(&rest);
    assert_eq!(after[0], before.len() as u64 + 1, "it goes on where it was");
    assert_eq!(rest.last().unwrap().data["status"], "completed");
    let end = after.last().unwrap().to_string();
    let over = client.request("GET", &path).header("last-event-id", &end);
    assert_eq!(Answer::of(over).await.status, 204);
    let odd = client.request("GET", &path).header("last-event-id", "x");
    assert_eq!(Answer::of(odd).await.problem(400), "bad_header");
    rig.end().await;
}

#[tokio::test]
async fn a_reply_comes_as_it_is_written() {
    let rig = serve().await;
    let client = rig.client();
    // A model that writes slowly enough to be watched.
    let server = slow_model().await;
    let model = format!("openai:slow@http://{server}/v1");
    let run = started(&client, &json!({ "model": model })).await;
    let mut stream = Stream::open(&client, &format!("/v1/runs/{run}/stream"), None).await;
    let mut text = String::new();
    let reply =
        "{\"points\": [\"What a countersign is\", \"Who signs second\", \"What it keeps out\"]}";
    let mut pieces = 0;
    while text != reply {
        let event = stream.next().await.unwrap();
        if event.name == "writing" {
            assert_eq!(event.data["offset"].as_u64().unwrap() as usize, text.len());
            text.push_str(event.data["text"].as_str().unwrap());
            pieces += 1;
        }
    }
    assert!(pieces > 1, "it came in {pieces} piece");
    let next = stream.until("version").await;
    let replied = &next.last().unwrap().data;
    assert_eq!(replied["input"]["text"], reply, "{replied}");
    rig.end().await;
}

/// A provider that speaks to whoever comes, a few letters at a time, and then never again.
async fn slow_model() -> std::net::SocketAddr {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 65_536];
        // The head and the body of one request: whatever comes first is enough to answer.
        let _ = socket.read(&mut request).await.unwrap();
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        socket.write_all(head.as_bytes()).await.unwrap();
        let reply = "{\"points\": [\"What a countersign is\", \"Who signs second\", \"What it keeps out\"]}";
        for piece in reply.as_bytes().chunks(20) {
            let piece = std::str::from_utf8(piece).unwrap();
            let delta = json!({"choices": [{"index": 0, "delta": {"content": piece}}]});
            socket.write_all(format!("data: {delta}\n\n").as_bytes()).await.unwrap();
            socket.flush().await.unwrap();
            // Not to wait for something: a model takes its time.
            tokio::time::sleep(Duration::from_millis(60)).await;
        }
        let done = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
        let last = format!("data: {done}\n\ndata: [DONE]\n\n");
        socket.write_all(last.as_bytes()).await.unwrap();
        drop(socket);
        // The next step is never answered, so that the run stays where the test looks at it.
        let _kept = listener.accept().await;
        std::future::pending::<()>().await;
    });
    address
}

#[tokio::test]
async fn the_inbox_is_followed_and_picked_up_again() {
    let rig = serve().await;
    let client = rig.client();
    let mut stream = Stream::open(&client, "/v1/inbox/stream", None).await;
    let first = stream.next().await.unwrap();
    assert_eq!(first.name, "reset", "whoever comes first reads the inbox");
    let begun = first.id.unwrap();

    let one = settled(&client, "/v1/runs", &json!({})).await.good();
    let opened = stream.next().await.unwrap();
    let address = format!("{}/w1", one["run"].as_str().unwrap());
    assert_eq!((opened.name.as_str(), &opened.data["address"]), ("opened", &json!(address)));
    let listed = client.get("/v1/inbox").await.good();
    assert_eq!(listed["items"][0], opened.data, "the same as in the list");
    let path = format!("/v1/runs/{}/waits/w1/deny", one["run"].as_str().unwrap());
    settled(&client, &path, &json!({"note": "no"})).await.good();
    let closed = stream.until("closed").await.pop().unwrap();
    assert_eq!(closed.data["address"], address);

    let mut late = Stream::open(&client, "/v1/inbox/stream", Some(&begun)).await;
    let again = late.until("closed").await;
    assert_eq!(again.first(), Some(&opened), "what was missed comes first");
    assert_eq!(again.last(), Some(&closed));
    let mut lost = Stream::open(&client, "/v1/inbox/stream", Some("other-7")).await;
    assert_eq!(lost.next().await.unwrap().name, "reset");
    rig.end().await;
}

#[tokio::test]
async fn when_the_server_ends_streams_get_a_last_event_and_nothing_is_lost() {
    let rig = serve().await;
    let client = rig.client();
    let run = started(&client, &json!({ "model": "human" })).await;
    let mut of_run = Stream::open(&client, &format!("/v1/runs/{run}/stream"), None).await;
    let mut of_inbox = Stream::open(&client, "/v1/inbox/stream", None).await;
    of_run.until("version").await;
    of_inbox.until("reset").await;
    // An answer that is on its way when the server is told to end.
    let waiting = {
        let request = client.request("POST", &format!("/v1/runs/{run}/halt"));
        with_json(request, &json!({})).header("prefer", "wait=3").send()
    };
    let (folder, halted, last, bye) = tokio::join!(
        async {
            // Long enough that the request is there.
            tokio::time::sleep(Duration::from_millis(200)).await;
            rig.end().await
        },
        waiting,
        async {
            let events = of_run.until("bye").await;
            (events, of_run.next().await)
        },
        async {
            let events = of_inbox.until("bye").await;
            (events, of_inbox.next().await)
        },
    );
    assert_eq!(Answer::read(halted.unwrap()).await.good()["status"], "halted");
    assert_eq!((last.1, bye.1), (None, None));
    let again = Rig::open(folder, AuthMode::LoopbackToken).await;
    let client = again.client();
    let status = client.get(&format!("/v1/runs/{run}")).await.good();
    assert_eq!(status["status"], "halted");
    assert_eq!(client.get(&format!("/v1/runs/{run}/verify")).await.good()["verified"], true);
    let folder = again.end().await;
    let workers = fs::read_dir(folder.path().join(".countersign/workers")).unwrap();
    assert_eq!(workers.count(), 0, "no worker is left that others would wait for");
}
