//! What stands beside a log is compared with it: each row that somebody edits is told by its name, by both
//! proofs.

use std::sync::Arc;

use countersign_contract::reply::FinishReason;
use countersign_models::{
    ChatModel, ModelError, ModelExchange, ModelFuture, ModelRequest, ModelResponse,
    OutputConstraint,
};
use countersign_runtime::driver::{IdleReason, ModelResolver, build_manual_reply};
use countersign_runtime::integrity::{verify_stored_chain, verify_stored_run};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::rig::{Kind, TestApp, answer};

const QUESTION: &str = r"
--- index.yaml
name: t
version: 1.0.0
default_workflow: main
--- contracts/note.yaml
id: note
version: 1.0.0
schema: { type: object, required: [note], properties: { note: { type: string } } }
--- agents/writer.yaml
id: writer
description: writes
base: fixer
--- workflows/main.yaml
id: main
phases:
  - { id: first, ask: { question: Who?, apply: { set: /name } } }
  - { id: write, agent: writer, contract: note, apply: { set: { at: /note, value: reply.note } } }
  - { id: ask, ask: { question: Which?, who: anna, deadline: 1h, apply: { set: /answer } } }
  - { id: done, terminal: true }
transitions: [ { from: first, to: write }, { from: write, to: ask }, { from: ask, to: done } ]
";

/// A run that waits for anna, of version 3, with a key.
async fn waiting() -> TestApp {
    let app = TestApp::new(Kind::Sqlite, QUESTION);
    let engine = app.engine();
    let key = Some("begin".to_owned());
    engine.start_named_run("r1", &app.protocol, app.begin(), key).await.unwrap();
    app.clock.advance(1_000);
    answer(&engine, "r1", "w1", "me").await.unwrap();
    app.clock.advance(1_000);
    let action = engine.get_run("r1").await.unwrap().state.pending.keys().next().cloned().unwrap();
    engine
        .submit_input("r1", build_manual_reply(&action, r#"{"note":"yes"}"#, "m"), None)
        .await
        .unwrap();
    app
}

/// A run that asks a model, of version 2.
async fn asking() -> TestApp {
    let app = TestApp::new(Kind::Sqlite, QUESTION);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    answer(&engine, "r1", "w1", "me").await.unwrap();
    app
}

/// Edits one row, and gives what both proofs say of it.
async fn edited(app: &TestApp, sql: &str) -> String {
    let db = Connection::open(app.folder.path().join("runs.db")).unwrap();
    assert_eq!(db.execute(sql, []).unwrap(), 1, "{sql}");
    drop(db);
    let engine = app.engine();
    let chained = verify_stored_chain(&engine, "r1").await.unwrap().expect_err(sql).to_string();
    let proved = verify_stored_run(&engine, "r1").await.unwrap().expect_err(sql).to_string();
    assert_eq!(chained, proved, "{sql}");
    chained
}

#[tokio::test]
async fn rows_that_nobody_edited_agree() {
    for app in [waiting().await, asking().await] {
        let engine = app.engine();
        verify_stored_chain(&engine, "r1").await.unwrap().unwrap();
        verify_stored_run(&engine, "r1").await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn every_column_of_a_wait_is_compared() {
    for (column, value, expected) in [
        ("kind", "'approval'", "kind of wait w2 `approval`"),
        ("opened_at", "opened_at + 1", "opening time of wait w2 `"),
        ("deadline", "deadline + 86400000", "deadline of wait w2 `"),
        ("deadline", "NULL", "deadline of wait w2 `none`"),
        ("who", "'mallory'", "addressee of wait w2 `mallory`, but the log says `anna`"),
        ("who", "NULL", "addressee of wait w2 `everybody`"),
        ("body", "replace(body, 'Which?', 'Really?')", "text of wait w2 `"),
        ("id", "'w9'", "open waits `w9`, but its log says `w2`"),
    ] {
        let app = waiting().await;
        let found = edited(&app, &format!("UPDATE waits SET {column} = {value}")).await;
        assert!(found.contains(expected), "{column}: {found}");
    }
    let app = waiting().await;
    let found = edited(&app, "DELETE FROM waits").await;
    assert!(found.contains("open waits `none`"), "{found}");
}

#[tokio::test]
async fn every_column_of_a_run_is_compared() {
    for (column, value, expected) in [
        ("status", "'completed'", "status `completed`, but its log says `waiting`"),
        ("phase", "'done'", "phase `done`, but its log says `ask`"),
        ("summary", "'all is well'", "summary `all is well`, but its log says `Which?`"),
        ("created_at", "created_at - 1000", "time of creation `"),
        ("updated_at", "updated_at + 1000", "time of the last change `"),
        ("workflow", "'other'", "workflow `other`"),
        ("wake_at", "wake_at + 86400000", "next wake-up `"),
        ("wake_at", "NULL", "next wake-up `none`"),
    ] {
        let app = waiting().await;
        let found = edited(&app, &format!("UPDATE runs SET {column} = {value}")).await;
        assert!(found.contains(expected), "{column}: {found}");
    }
    let app = waiting().await;
    let engine = app.engine();
    let now = crate::rig::EPOCH + 2_000;
    engine.store().acquire_lease(&engine.run_id("r1"), "w", now, now + 10).await.unwrap().unwrap();
    let found = edited(&app, "UPDATE runs SET lease_epoch = 0").await;
    assert!(found.contains("lease epoch `0`, but the log says `at least 1`"), "{found}");
}

#[tokio::test]
async fn pending_actions_are_compared() {
    for (value, expected) in [
        ("''", "pending actions `none`, but its log says `2.1`"),
        ("replace(actions, '2.1', '2.7')", "pending actions `2.7`"),
        ("replace(actions, 'model', 'tools')", "kind of action 2.1 `tools`"),
    ] {
        let app = asking().await;
        let found = edited(&app, &format!("UPDATE runs SET actions = {value}")).await;
        assert!(found.contains(expected), "{value}: {found}");
    }
}

#[tokio::test]
async fn idempotency_keys_are_compared() {
    for (sql, expected) in [
        ("UPDATE keys SET version = 2", "idempotency key `begin` `2`, but the log says `1`"),
        ("DELETE FROM keys", "idempotency key `begin` `none`, but the log says `1`"),
        (
            "INSERT INTO keys VALUES ((SELECT tenant FROM runs), 'r1', 'forged', 3)",
            "idempotency key `forged` `3`, but the log says `none`",
        ),
    ] {
        let app = waiting().await;
        let found = edited(&app, sql).await;
        assert!(found.contains(expected), "{sql}: {found}");
    }
}

/// A model that keeps what its provider sent, and may say another text.
struct FixedReply {
    text: &'static str,
    received: &'static str,
}

impl ModelResolver for FixedReply {
    fn resolve_model(&self, _: &str) -> Result<Option<Arc<dyn ChatModel>>, String> {
        let Self { text, received } = *self;
        Ok(Some(Arc::new(Self { text, received })))
    }
}

impl ChatModel for FixedReply {
    fn name(&self) -> &'static str {
        "spoken"
    }

    fn complete<'a>(
        &'a self,
        _: &'a ModelRequest,
        _: &'a mut (dyn FnMut(&str) + Send),
    ) -> ModelFuture<'a, Result<ModelResponse, ModelError>> {
        let piece =
            json!({ "message": { "content": self.received }, "done": true, "done_reason": "stop" });
        let (request, response) = (b"{}".to_vec(), format!("{piece}\n").into_bytes());
        let answer = ModelResponse {
            text: self.text.to_owned(),
            finish: FinishReason::Stop,
            finish_reason: "stop".to_owned(),
            usage: None,
            model: "spoken".to_owned(),
            exchange: ModelExchange { request, response },
            constraint: OutputConstraint::Unconstrained,
            drop_nulls: false,
        };
        Box::pin(async move { Ok(answer) })
    }
}

/// A run whose model said something, of version 3.
async fn run_reply(text: &'static str, received: &'static str) -> TestApp {
    let app = TestApp::new(
        Kind::Sqlite,
        &QUESTION.replace(
            "default_workflow: main",
            "default_workflow: main\nmodels: { default: 'openai:m' }",
        ),
    );
    let engine = app.engine();
    app.start(&engine, "r1").await;
    answer(&engine, "r1", "w1", "me").await.unwrap();
    let driver = app.driver_with(&engine, Arc::new(FixedReply { text, received }), "w");
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::WaitingForInput);
    app
}

#[tokio::test]
async fn the_text_of_a_reply_is_what_the_received_bytes_say() {
    const TRUE: &str = r#"{"note":"yes"}"#;
    let app = run_reply(TRUE, TRUE).await;
    let engine = app.engine();
    verify_stored_chain(&engine, "r1").await.unwrap().unwrap();
    verify_stored_run(&engine, "r1").await.unwrap().unwrap();
    let found = edited(&app, "DELETE FROM blobs WHERE length(bytes) > 2").await;
    assert!(found.contains("version 3: the bytes ") && found.ends_with("are missing"), "{found}");
    let app = run_reply(TRUE, TRUE).await;
    let found = edited(&app, "UPDATE blobs SET bytes = x'00' WHERE length(bytes) > 2").await;
    assert!(found.ends_with("are different"), "{found}");
    // A log that was written anew as a whole proves itself, but not against the bytes.
    let app = run_reply(TRUE, r#"{"note":"no"}"#).await;
    let engine = app.engine();
    let expected =
        "version 3: the text of the reply differs from the bytes received from the provider";
    let flaw = verify_stored_chain(&engine, "r1").await.unwrap().unwrap_err();
    assert_eq!(flaw.to_string(), expected);
    let flaw = verify_stored_run(&engine, "r1").await.unwrap().unwrap_err();
    assert_eq!(flaw.to_string(), expected);
}

#[tokio::test]
async fn snapshots_are_compared() {
    let forge = async |version: u64, document: Option<Value>, hash: Option<&str>| {
        let app = waiting().await;
        let engine = app.engine();
        let live = engine.load_version("r1", Some(version)).await.unwrap();
        let mut state = (*live.state).clone();
        state.document = document.map_or(state.document, Arc::new);
        let hash = hash.unwrap_or(&live.hash);
        let body = json!({ "v": 1, "hash": hash, "state": state }).to_string();
        let (seq, body) = (state.seq, body.replace('\'', "''"));
        let sql = format!(
            "INSERT INTO snapshots SELECT number, {version}, tail, {seq}, '{body}' FROM runs"
        );
        edited(&app, &sql).await
    };
    let newest = {
        let app = waiting().await;
        app.engine().get_run("r1").await.unwrap().state.version
    };
    let expected = "a snapshot differs from the state that the events before it produce";
    let document = || Some(json!({ "answer": "forged" }));
    assert!(forge(newest, document(), None).await.contains(expected));
    // An older one is where a look at that version and a fork begin.
    assert!(newest > 1);
    assert!(forge(1, document(), None).await.contains(expected));
    // The next commit would be chained to this hash.
    assert!(forge(newest, None, Some(&"0".repeat(64))).await.contains(expected));
}
