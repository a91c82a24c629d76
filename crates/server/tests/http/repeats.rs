//! The same `Idempotency-ApiKey` twice: the same answer, now and after a restart; for something else a problem.

use std::fs;

use countersign_server::access::AuthMode;
use serde_json::{Value, json};

use crate::rig::{Answer, Client, Rig, json as with_json, serve};

/// What a client compares: status, body, and the headers that say something about the run.
fn response_parts(answer: &Answer) -> (u16, Value, String, String) {
    let (location, etag) = (answer.header("location").to_owned(), answer.header("etag").to_owned());
    (answer.status, answer.good(), location, etag)
}

async fn keyed(client: &Client, path: &str, key: &str, body: &Value, at: Option<u64>) -> Answer {
    let request = with_json(client.request("POST", path), body).header("idempotency-key", key);
    let request = match at {
        Some(version) => request.header("if-match", format!("\"{version}\"")),
        None => request,
    };
    Answer::of(request).await
}

/// A request, twice to one server and once more to the next: three times the same. Another body is refused.
async fn thrice(rig: Rig, path: &str, body: &Value, other: &Value, at: Option<u64>) -> Rig {
    let client = rig.client();
    let first = keyed(&client, path, "k-1", body, at).await;
    let again = keyed(&client, path, "k-1", body, at).await;
    assert_eq!(response_parts(&again), response_parts(&first), "{path}");
    assert_eq!(keyed(&client, path, "k-1", other, at).await.problem(422), "key_reused", "{path}");
    let rig = Rig::open(rig.end().await, AuthMode::LoopbackToken).await;
    let client = rig.client();
    let later = keyed(&client, path, "k-1", body, at).await;
    assert_eq!(response_parts(&later), response_parts(&first), "{path}, after a restart");
    assert_eq!(keyed(&client, path, "k-1", other, at).await.problem(422), "key_reused", "{path}");
    rig
}

async fn started(client: &Client, body: &Value) -> (String, u64) {
    let request = with_json(client.request("POST", "/v1/runs"), body).header("prefer", "wait=20");
    let started = Answer::of(request).await.good();
    (started["run"].as_str().unwrap().to_owned(), started["version"].as_u64().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_begin_once() {
    let body = json!({"model": "human"});
    let rig = thrice(serve().await, "/v1/runs", &body, &json!({}), None).await;
    assert_eq!(rig.client().get("/v1/runs").await.good()["items"].as_array().unwrap().len(), 1);
    rig.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_to_the_order_that_is_out_is_taken_once_also_where_it_is_refused() {
    let rig = serve().await;
    let (run, version) = started(&rig.client(), &json!({"model": "human"})).await;
    let path = format!("/v1/runs/{run}/submit");
    let points =
        json!({"points": ["What a countersign is", "Who signs second", "What it keeps out"]});
    let (good, bad) =
        (json!({"text": points.to_string()}), json!({"text": json!({"points": []}).to_string()}));
    let rig = thrice(rig, &path, &bad, &good, Some(version)).await;
    let refused = keyed(&rig.client(), &path, "k-1", &bad, Some(version)).await.good();
    assert_eq!(refused["violations"][0]["code"], "min_items", "the verdict comes again too");
    let now = rig.client().get(&format!("/v1/runs/{run}")).await.good();
    assert_eq!(now["version"], version + 1);
    rig.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_of_the_newest_version_is_one_fork_when_the_run_has_gone_on() {
    let rig = serve().await;
    let client = rig.client();
    let (run, _) = started(&client, &json!({"model": "human"})).await;
    let path = format!("/v1/runs/{run}/fork");
    let first = keyed(&client, &path, "f", &json!({}), None).await;
    client.post(&format!("/v1/runs/{run}/halt"), &json!({})).await.good();
    let rig = Rig::open(rig.end().await, AuthMode::LoopbackToken).await;
    let again = keyed(&rig.client(), &path, "f", &json!({}), None).await;
    assert_eq!(response_parts(&again), response_parts(&first));
    rig.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn decisions_of_people_are_taken_once() {
    let rig = serve().await;
    let (run, _) = started(&rig.client(), &json!({})).await;
    let path = format!("/v1/runs/{run}/waits/w1/deny");
    let rig = thrice(rig, &path, &json!({"note": "no"}), &json!({"note": "yes"}), None).await;
    rig.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_is_brought_once() {
    let rig = serve().await;
    let workflow = "id: bring
phases:
  - id: bring
    ask:
      - { id: paper, question: Bring it, document: { accepts: [.md] }, apply: { set: /paper } }
  - { id: done, terminal: true }
transitions:
  - { from: bring, to: done }
";
    let protocol = rig.folder.path().join(".opencode/protocol");
    fs::write(protocol.join("workflows/bring.yaml"), workflow).unwrap();
    let (run, _) = started(&rig.client(), &json!({"workflow": "bring"})).await;
    let path = format!("/v1/runs/{run}/waits/w1/document?name=paper.md");
    let put = async |client: &Client, body: &'static str| {
        let request = client.request("PUT", &path).header("idempotency-key", "d");
        Answer::of(request.body(body)).await
    };
    let client = rig.client();
    let first = put(&client, "# One\n").await;
    assert_eq!(response_parts(&put(&client, "# One\n").await), response_parts(&first));
    assert_eq!(put(&client, "# Two\n").await.problem(422), "key_reused");
    let rig = Rig::open(rig.end().await, AuthMode::LoopbackToken).await;
    let client = rig.client();
    assert_eq!(
        response_parts(&put(&client, "# One\n").await),
        response_parts(&first),
        "after a restart"
    );
    let document = client.get(&format!("/v1/runs/{run}/document")).await.good();
    let place = rig.folder.path().join(document["paper"]["path"].as_str().unwrap());
    assert_eq!(fs::read_to_string(&place).unwrap(), "# One\n", "a refused one changes no file");
    let folders = fs::read_dir(place.parent().unwrap().parent().unwrap()).unwrap();
    assert_eq!(folders.count(), 1, "a repeated and a refused one leave no file");
    rig.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_remembered_is_answered_again_and_kept_once() {
    let rig = serve().await;
    let client = rig.client();
    let body = json!({"user": "ann", "agent": "helper", "items": [{"event": "I am vegetarian"}]});
    let first = keyed(&client, "/v1/memory/remember", "m", &body, None).await;
    let again = keyed(&client, "/v1/memory/remember", "m", &body, None).await;
    assert_eq!(response_parts(&again), response_parts(&first));
    assert_eq!(again.header("idempotency-replayed"), "true");
    let search = json!({"user": "ann", "agent": "helper", "text": "vegetarian"});
    let found = client.post("/v1/memory/search", &search).await.good();
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    rig.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_was_refused_leaves_its_key_free() {
    let rig = serve().await;
    let client = rig.client();
    let refused = keyed(&client, "/v1/runs", "r", &json!({"protocol": "nobody"}), None).await;
    assert_eq!(refused.problem(404), "unknown_protocol");
    let mended = keyed(&client, "/v1/runs", "r", &json!({"model": "human"}), None).await;
    assert_eq!(mended.status, 201);
    rig.end().await;
}
