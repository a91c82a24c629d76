//! Replies: refused, asked again, accepted; providers that fail; models that nobody names.

use countersign_run::{ExecutionStatus, Timestamp};
use countersign_runtime::driver::{IdleReason, build_manual_reply};
use serde_json::json;

use crate::rig::{EPOCH, Kind, TestApp};

pub(crate) const NOTE: &str = r#"
--- index.yaml
name: t
version: 1.0.0
default_workflow: main
models: { default: "script:script.yaml" }
--- contracts/note.yaml
id: note
version: 1.0.0
schema: { type: object, additionalProperties: false, required: [note], properties: { note: { type: string, minLength: 2 } } }
--- agents/writer.yaml
id: writer
description: writes
base: designer
--- workflows/main.yaml
id: main
phases:
  - { id: write, agent: writer, contract: note, writes: [/note], apply: { set: { at: /note, value: reply.note } } }
  - { id: done, terminal: true }
transitions: [{ from: write, to: done }]
"#;

fn scripted(script: &str) -> String {
    format!("{NOTE}--- work/script.yaml\n{script}")
}

async fn a_refused_reply_is_asked_again_until_one_is_accepted(kind: Kind) {
    let script = "- sure\n- { reply: { note: x } }\n- { reply: { note: hello } }\n";
    let app = TestApp::new(kind, &scripted(script));
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    assert_eq!(app.document("r1", "/note").await, json!("hello"));
    let refused = app.kinds("r1").await.into_iter().filter(|kind| *kind == "reply_refused");
    assert_eq!(refused.count(), 2);
    assert_eq!(
        driver.drive("r1").await.unwrap(),
        IdleReason::Ended(ExecutionStatus::Completed),
        "over is over"
    );
}

async fn a_provider_that_asks_for_time_gets_it(kind: Kind) {
    let script = "- error: { kind: rate_limited, retry_after_ms: 90000 }\n- error: { kind: overloaded }\n- { reply: { note: hello } }\n";
    let app = TestApp::new(kind, &scripted(script));
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    let first = IdleReason::WaitingUntil(Timestamp(EPOCH + 90_000));
    assert_eq!(driver.drive("r1").await.unwrap(), first);
    app.clock.advance(89_999);
    assert_eq!(driver.drive("r1").await.unwrap(), first, "not before");
    // The next worker knows as well as the first one.
    app.clock.advance(1);
    let other = app.engine();
    let driver = app.driver(&other, "v");
    assert_eq!(
        driver.drive("r1").await.unwrap(),
        IdleReason::WaitingUntil(Timestamp(EPOCH + 92_000))
    );
    app.clock.advance(2_000);
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    assert_eq!(app.document("r1", "/note").await, json!("hello"));
}

async fn a_model_that_cannot_be_had_is_a_wait_and_no_loop(kind: Kind) {
    let app = TestApp::new(kind, NOTE);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    assert_eq!(app.driver(&engine, "w").drive("r1").await.unwrap(), IdleReason::WaitingForInput);
    let state = app.state("r1").await;
    let wait = state.waits.values().next().unwrap();
    assert!(wait.question.contains("cannot be called"), "{}", wait.question);
}

async fn without_a_model_the_reply_is_handed_in(kind: Kind) {
    let app =
        TestApp::new(kind, &NOTE.replace("models: { default: \"script:script.yaml\" }\n", ""));
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::NeedsReply);
    let action = app.state("r1").await.pending.into_keys().next().unwrap();
    engine
        .submit_input("r1", build_manual_reply(&action, r#"{"note":"mine"}"#, "anna"), None)
        .await
        .unwrap();
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    assert_eq!(app.document("r1", "/note").await, json!("mine"));
}

async fn a_hostile_reply_reaches_the_log_and_nothing_else(kind: Kind) {
    // U+0000 in a value that ends up in a question, which lists show.
    let text = NOTE.replace(
        "  - { id: done, terminal: true }\ntransitions: [{ from: write, to: done }]",
        "  - { id: ask, ask: { question: \"{{ state.note }}?\", apply: { set: /answer } } }\n  - { id: done, terminal: true }\ntransitions: [{ from: write, to: ask }, { from: ask, to: done }]",
    );
    let script = "- '{\"note\": \"a\\u0000b\\u001b[2Jc\"}'\n";
    let app = TestApp::new(kind, &format!("{text}--- work/script.yaml\n{script}"));
    let engine = app.engine();
    app.start(&engine, "r1").await;
    assert_eq!(app.driver(&engine, "w").drive("r1").await.unwrap(), IdleReason::WaitingForInput);
    let head = app.store.load_head(&engine.run_id("r1")).await.unwrap().unwrap();
    assert_eq!(head.summary, "a b [2Jc?");
    assert_eq!(app.document("r1", "/note").await, json!("a\0b\u{1b}[2Jc"));
}

on_both!(
    a_refused_reply_is_asked_again_until_one_is_accepted,
    a_provider_that_asks_for_time_gets_it,
    a_model_that_cannot_be_had_is_a_wait_and_no_loop,
    without_a_model_the_reply_is_handed_in,
    a_hostile_reply_reaches_the_log_and_nothing_else,
);
