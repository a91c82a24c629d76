//! What runs are given, and what they make of it.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_runtime::clock::{Clock as _, SystemClock};
use countersign_runtime::engine::{Engine, EngineConfig};
use countersign_runtime::prune::{PruneCriteria, plan_prune, prune_runs};
use countersign_runtime::run_observer::NoopRunObserver;
use countersign_store::{LeaseStore as _, RunHead, RunId, RunStore as _, SqliteStore, TenantId};
use serde_json::{Value, json};

use crate::rig::{Answer, Client, json as with_json, serve, signed};

/// Posts, and waits until the run rests.
async fn settled(client: &Client, path: &str, body: &Value) -> Answer {
    let request = with_json(client.request("POST", path), body).header("prefer", "wait=20");
    Answer::of(request).await
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_demo_goes_from_start_to_file() {
    let rig = serve().await;
    let client = rig.client();
    let started = settled(&client, "/v1/runs", &json!({})).await.good();
    let run = text_of(&started["run"]);
    assert_eq!((&started["status"], &started["waits"][0]["id"]), (&json!("waiting"), &json!("w1")));
    let path = format!("/v1/runs/{run}/waits/w1/approve");
    let approved = settled(&client, &path, &signed(&started, "good")).await.good();
    assert_eq!(approved["status"], "completed", "{approved}");
    assert_eq!(approved["output"][1]["pointer"], "/published");
    let written = fs::read_to_string(rig.folder.path().join("out/text.md")).unwrap();
    assert!(written.starts_with("# "), "{written}");

    let second = client.post(&path, &json!({})).await;
    assert_eq!(second.problem(409), "run_ended");
    let history = client.get(&format!("/v1/runs/{run}/versions?limit=500")).await.good();
    let said: Vec<String> =
        history["items"].as_array().unwrap().iter().map(|one| text_of(&one["summary"])).collect();
    assert!(said.contains(&"ann approved w1: good".to_owned()), "{said:?}");
    let proof = client.get(&format!("/v1/runs/{run}/verify")).await.good();
    assert_eq!(proof["verified"], true, "{proof}");
    rig.end().await;
}

#[tokio::test]
async fn a_run_on_which_three_workers_ended_is_shown_as_parked_until_it_is_resumed() {
    let rig = serve().await;
    let client = rig.client();
    let started = settled(&client, "/v1/runs", &json!({"model": "human"})).await.good();
    let run = text_of(&started["run"]);
    let store = SqliteStore::open(rig.folder.path().join(".countersign/countersign.db")).unwrap();
    // The server's own worker lays the run down a moment after it rests.
    let id = RunId::local(&run);
    let begun = Instant::now();
    let works = |head: RunHead| head.lease.is_some() || head.wake_at.is_some();
    while works(store.load_head(&id).await.unwrap().unwrap()) {
        assert!(begun.elapsed() < Duration::from_mins(1), "the worker keeps the run");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Leases that ran out an hour ago, one after the other, without a step forward.
    let then = SystemClock.now().plus_millis(-3_600_000).0;
    for number in 0..3 {
        let from = then + number * 10;
        let worker = format!("w{number}");
        let lease = store.acquire_lease(&id, &worker, from, from + 10).await.unwrap();
        assert!(lease.is_some(), "{worker} gets the run");
    }
    let path = format!("/v1/runs/{run}");
    let sentence = "parked: 3 workers ended while working on it";
    let shown = client.get(&path).await.good();
    assert!(text_of(&shown["parked"]).starts_with(sentence), "{shown}");
    let listed = client.get("/v1/runs").await.good();
    assert_eq!(listed["items"][0]["parked"], true, "{listed}");
    assert!(text_of(&listed["items"][0]["summary"]).starts_with(sentence), "{listed}");
    client.post(&format!("{path}/resume"), &json!({})).await.good();
    assert!(client.get(&path).await.good()["parked"].is_null());
    rig.end().await;
}

#[tokio::test]
async fn a_run_that_was_pruned_is_gone_and_says_so() {
    let rig = serve().await;
    let client = rig.client();
    let started = settled(&client, "/v1/runs", &json!({})).await.good();
    let run = text_of(&started["run"]);
    let path = format!("/v1/runs/{run}/waits/w1/approve");
    settled(&client, &path, &signed(&started, "good")).await.good();
    let store = SqliteStore::open(rig.folder.path().join(".countersign/countersign.db")).unwrap();
    let engine = Engine::open(EngineConfig {
        store: Arc::new(store),
        clock: Arc::new(SystemClock),
        observer: Arc::new(NoopRunObserver),
        shipped_contracts: Arc::new(countersign_shipped_contracts::load_shipped_contracts()),
        workspace: None,
        tenant: TenantId::default(),
    });
    let planned = plan_prune(&engine, PruneCriteria::default(), |_| ()).await.unwrap();
    let done = prune_runs(&engine, &planned, SystemClock.now(), |_| ()).await.unwrap();
    assert_eq!((done.runs, done.skipped), (1, Vec::new()));
    for path in [
        "",
        "/versions",
        "/verify",
        "/document",
        "/state",
        "/graph",
        "/events",
        "/next",
        "/diff?from=1&to=2",
    ] {
        let response = client.get(&format!("/v1/runs/{run}{path}")).await;
        assert_eq!(response.problem(410), "pruned", "{path}");
    }
    let late = client.post(&format!("/v1/runs/{run}/waits/w1/approve"), &json!({})).await;
    assert_eq!(late.problem(410), "pruned");
    assert_eq!(client.get("/v1/runs").await.good()["items"][0]["run"], run);
    rig.end().await;
}

#[tokio::test]
async fn a_reply_is_handed_in_and_judged() {
    let rig = serve().await;
    let client = rig.client();
    let started = client.post("/v1/runs", &json!({"model": "human"})).await.good();
    let run = text_of(&started["run"]);
    let next = client.get(&format!("/v1/runs/{run}/next")).await;
    let (tag, next) = (next.header("etag").to_owned(), next.good());
    assert_eq!((&next["expects"], &next["agent"]), (&json!("reply"), &json!("planner")));
    let path = format!("/v1/runs/{run}/submit");

    let blind = client.post(&path, &json!({"text": "{}"})).await;
    assert_eq!(blind.problem(428), "version_required");
    let wrong = client
        .post(&path, &json!({"text": "{\"points\": []}", "action": next["action"]}))
        .await
        .good();
    assert_eq!(wrong["violations"][0]["code"], "min_items", "{wrong}");

    let late =
        with_json(client.request("POST", &path), &json!({"text": "{}"})).header("if-match", &tag);
    let late = Answer::of(late).await;
    assert_eq!(late.problem(412), "version_mismatch");
    assert_eq!(serde_json::from_str::<Value>(&late.text).unwrap()["version"], wrong["version"]);

    let points =
        json!({"points": ["What a countersign is", "Who signs second", "What it keeps out"]});
    let good = json!({"text": points.to_string()});
    let tag = format!("\"{}\"", wrong["version"]);
    let request = with_json(client.request("POST", &path), &good).header("if-match", tag);
    let taken = Answer::of(request).await.good();
    assert_eq!((&taken["violations"], &taken["phase"]), (&Value::Null, &json!("draft")));
    let odd = with_json(client.request("POST", &path), &good).header("if-match", "5");
    assert_eq!(Answer::of(odd).await.problem(400), "bad_if_match");
    rig.end().await;
}

#[tokio::test]
async fn the_same_key_twice_is_once_and_for_something_else_is_told() {
    let rig = serve().await;
    let client = rig.client();
    let start = |key: &str, body: Value| {
        let request = with_json(client.request("POST", "/v1/runs"), &body);
        Answer::of(request.header("idempotency-key", key).header("prefer", "wait=20"))
    };
    let first = start("a key/1", json!({})).await.good();
    let again = start("a key/1", json!({})).await.good();
    assert_eq!(first["run"], again["run"]);
    assert_eq!(start("a key/1", json!({"model": "human"})).await.problem(422), "key_reused");
    assert_eq!(client.get("/v1/runs").await.good()["items"].as_array().unwrap().len(), 1);
    assert_eq!(start("", json!({})).await.problem(400), "bad_idempotency_key");

    let run = text_of(&first["run"]);
    let halt = |reason: &str| {
        let request = client.request("POST", &format!("/v1/runs/{run}/halt"));
        Answer::of(with_json(request, &json!({"reason": reason})).header("idempotency-key", "h"))
    };
    let halted = halt("lunch").await.good();
    assert_eq!(halted["status"], "halted");
    assert_eq!(halt("lunch").await.good()["version"], halted["version"]);
    assert_eq!(halt("dinner").await.problem(422), "key_reused");
    let halted_twice = client.post(&format!("/v1/runs/{run}/halt"), &json!({})).await;
    assert_eq!(halted_twice.problem(409), "already_halted");
    let resumed = client.post(&format!("/v1/runs/{run}/resume"), &json!({})).await.good();
    assert_eq!(resumed["status"], "waiting");
    let cancelled =
        client.post(&format!("/v1/runs/{run}/cancel"), &json!({"reason": "enough"})).await;
    assert_eq!(cancelled.good()["status"], "failed");
    rig.end().await;
}

#[tokio::test]
async fn a_run_continues_the_conversation_of_another() {
    let rig = serve().await;
    let client = rig.client();
    let first = text_of(&settled(&client, "/v1/runs", &json!({})).await.good()["run"]);
    let more = json!({ "continues": first });
    let second = text_of(&settled(&client, "/v1/runs", &more).await.good()["run"]);
    let status = client.get(&format!("/v1/runs/{second}")).await.good();
    assert_eq!(status["continues"], json!(first));
    // The demo takes no text, and shows no earlier turns to its prompts.
    assert_eq!(status["follow_up"], json!(false));
    let status = client.get(&format!("/v1/runs/{first}")).await.good();
    assert_eq!(status["continues"], json!(null));
    // The session is that of the first run, however long the conversation is.
    let third =
        text_of(&settled(&client, "/v1/runs", &json!({ "continues": second })).await.good()["run"]);
    let log = client.get(&format!("/v1/runs/{third}/events")).await;
    assert!(log.text.contains(&format!("\"session\":\"{first}\"")), "{}", log.text);
    let unknown = client.post("/v1/runs", &json!({ "continues": "nobody" })).await;
    assert_eq!(unknown.problem(404), "unknown_run");
    rig.end().await;
}

#[tokio::test]
async fn a_fork_goes_on_from_a_version() {
    let rig = serve().await;
    let client = rig.client();
    let started = settled(&client, "/v1/runs", &json!({})).await.good();
    let run = text_of(&started["run"]);
    let path = format!("/v1/runs/{run}/fork");
    let forked = client.post(&path, &json!({"version": 1, "model": "human"})).await;
    assert_eq!(forked.status, 201);
    let fork = text_of(&forked.good()["run"]);
    let status = client.get(&format!("/v1/runs/{fork}")).await.good();
    assert_eq!((&status["fork"]["run"], &status["fork"]["version"]), (&json!(run), &json!(1)));
    assert_eq!((&status["model"], &status["phase"]), (&json!("human"), &json!("outline")));
    let path = format!("/v1/runs/{fork}/diff?from=1&to_run={run}");
    let ops = client.get(&path).await.good();
    assert!(ops.as_array().unwrap().iter().any(|op| op["path"] == "/draft"), "{ops}");
    rig.end().await;
}

#[tokio::test]
async fn bodies_that_cannot_be_read_are_told_with_their_place() {
    let rig = serve().await;
    let client = rig.client();
    let post = |kind: &str, body: &str| {
        let request = client.request("POST", "/v1/runs").header("content-type", kind);
        Answer::of(request.body(body.to_owned()))
    };
    assert_eq!(post("application/json", "{\"input\":").await.problem(400), "invalid_json");
    let unknown = post("application/json; charset=utf-8", "{\"protocl\": \"demo\"}").await;
    assert_eq!(unknown.problem(422), "bad_body");
    assert!(unknown.text.contains("unknown field `protocl`"), "{}", unknown.text);
    assert_eq!(post("text/plain", "{}").await.problem(415), "not_json");
    assert_eq!(post("application/json", "[\"demo\"]").await.problem(422), "bad_body");
    let long = format!("{{\"input\": \"{}\"}}", "x".repeat(4 << 20));
    assert_eq!(post("application/json", &long).await.problem(413), "too_large");
    let deep = format!("{{\"input\": {}{}}}", "[".repeat(200), "]".repeat(200));
    assert_eq!(post("application/json", &deep).await.problem(400), "invalid_json");
    assert_eq!(
        post("application/json", "{\"protocol\": \"nobody\"}").await.problem(404),
        "unknown_protocol"
    );
    assert_eq!(
        post("application/json", "{\"workflow\": \"nobody\"}").await.problem(404),
        "unknown_workflow"
    );
    rig.end().await;
}

#[tokio::test]
async fn one_reply_one_contract_and_one_protocol_are_looked_over() {
    let rig = serve().await;
    let client = rig.client();
    let path = "/v1/contracts/outline/admit";
    let good = json!({"text": "{\"points\": [\"What a countersign is\", \"Who signs second\", \"What it keeps out\"]}"});
    assert_eq!(client.post(path, &good).await.good()["verdict"], "accepted");
    let refused = client.post(path, &json!({"text": "no", "reask": true})).await.good();
    assert_eq!(refused["verdict"], "refused");
    assert!(refused["reask"].as_str().is_some_and(|text| !text.is_empty()), "{refused}");
    let same = json!({"old": {"id": "outline"}, "new": {"id": "outline"}});
    assert_eq!(client.post("/v1/contracts/diff", &same).await.good()["compatibility"], "full");
    let neither = json!({"old": {"id": "outline"}, "new": {}});
    assert_eq!(client.post("/v1/contracts/diff", &neither).await.problem(422), "bad_body");
    // A small request that asks for a value of a thousand million fields.
    let text = |least: u64| {
        format!("id: big\nversion: 1.0.0\nschema: {{ type: object, minProperties: {least} }}\n")
    };
    let large = json!({"old": {"text": text(1_000_000_000)}, "new": {"text": text(1_000_000_001)}});
    let compared = client.post("/v1/contracts/diff", &large).await.good();
    assert_eq!(compared["forward"]["answer"], "yes", "{compared}");
    assert_eq!(compared["backward"]["answer"], "unknown", "{compared}");
    let files =
        json!({"files": {"index.yaml": "name: own\nversion: 1.0.0\ndefault_workflow: own\n"}});
    let found = client.post("/v1/protocols/check", &files).await.good();
    assert!(found["errors"].as_u64().unwrap() > 0, "{found}");
    rig.end().await;
}

#[tokio::test]
async fn a_question_is_answered_and_a_document_brought() {
    let rig = serve().await;
    let client = rig.client();
    let protocol = rig.folder.path().join(".opencode/protocol");
    fs::write(
        protocol.join("workflows/ask.yaml"),
        "id: ask
phases:
  - id: ask
    ask:
      - id: number
        question: How many?
        answer: { type: integer, minimum: 1 }
        apply: { set: /number }
  - id: bring
    ask:
      - id: paper
        question: The paper, please
        document: { accepts: [.md] }
        apply: { set: /paper }
  - { id: done, terminal: true }
transitions:
  - { from: ask, to: bring }
  - { from: bring, to: done }
",
    )
    .unwrap();
    let started = settled(&client, "/v1/runs", &json!({"workflow": "ask"})).await;
    let run = text_of(&started.good()["run"]);
    let path = format!("/v1/runs/{run}/waits/w1/answer");
    let wrong = client.post(&path, &json!({"value": 0})).await;
    assert_eq!(wrong.problem(422), "answer_mismatch");
    assert!(wrong.text.contains("\"violations\""), "{}", wrong.text);
    assert_eq!(client.post(&path, &json!({})).await.problem(422), "bad_body");
    let strange =
        client.post(&format!("/v1/runs/{run}/waits/w9/answer"), &json!({"value": 1})).await;
    assert_eq!(strange.problem(404), "unknown_wait");
    let answered = settled(&client, &path, &json!({"value": 2})).await.good();
    assert_eq!(answered["phase"], "bring", "{answered}");
    let second = client.post(&path, &json!({"value": 3})).await;
    assert_eq!(second.problem(409), "already_closed");

    let put = |name: &str| {
        let path = format!("/v1/runs/{run}/waits/w2/document?name={name}");
        Answer::of(client.request("PUT", &path).header("prefer", "wait=20").body("# Paper\n"))
    };
    assert_eq!(put("..%2Fpaper.md").await.problem(400), "bad_query");
    assert_eq!(put("paper.exe").await.problem(422), "answer_mismatch");
    let brought = put("paper.md").await.good();
    assert_eq!(brought["status"], "completed", "{brought}");
    let document = client.get(&format!("/v1/runs/{run}/document")).await.good();
    assert_eq!((&document["number"], &document["paper"]["name"]), (&json!(2), &json!("paper.md")));
    let kept = rig.folder.path().join(document["paper"]["path"].as_str().unwrap());
    assert_eq!(fs::read_to_string(kept).unwrap(), "# Paper\n");
    rig.end().await;
}
