//! Several children at once: worked on side by side, each once, and each told as it ends.

use countersign_run::ExecutionStatus;
use countersign_runtime::driver::IdleReason;
use serde_json::json;

use crate::rig::{Kind, ManualModels, TestApp};

const BROOD: &str = r#"
--- index.yaml
name: t
version: 1.0.0
default_workflow: main
models: { default: "clerk:any" }
document: { initial: { tasks: [ { id: a }, { id: b }, { id: c, later: true } ], got: [] } }
workflows:
  child:
    document: { initial: {} }
--- contracts/note.yaml
id: note
version: 1.0.0
schema: { type: object, required: [note], properties: { note: { type: string, minLength: 1 } } }
on_violation: { reask: 0, then: fail }
--- agents/writer.yaml
id: writer
description: writes
base: designer
--- workflows/child.yaml
id: child
phases:
  - { id: write, agent: writer, contract: note, apply: { set: { at: /note, value: reply.note } } }
  - { id: done, terminal: true }
transitions: [ { from: write, to: done } ]
--- workflows/main.yaml
id: main
phases:
  - id: all
    invoke:
      workflow: child
      each: "state.tasks.filter(t => !t.later || state.got.length > 0)"
      as: task
      key: task.id
      input: { /title: task.id }
      output: [ { append: { at: /got, value: "task.id + ' ' + reply.note" } } ]
      on_failed: { then: go_on, apply: { append: { at: /got, value: "task.id + ' ' + failure.code" } } }
  - { id: done, terminal: true }
transitions: [ { from: all, to: done } ]
"#;

async fn children_are_worked_on_side_by_side(kind: Kind) {
    let app = TestApp::new(kind, BROOD);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let (models, mut received) = ManualModels::open();
    let driver = app.driver_with(&engine, models, "w");
    let questions = async {
        // Which of the two comes first is chance.
        let first = received.recv().await.unwrap();
        // The second is asked while the first is out, and is answered before it.
        let second = received.recv().await.unwrap();
        second.answer(r#"{"note":"two"}"#);
        // What waited for one to end begins beside the first.
        let third = received.recv().await.unwrap();
        third.answer("no JSON at all");
        first.answer(r#"{"note":"one"}"#);
    };
    let (rest, ()) = tokio::join!(driver.drive("r1"), questions);
    assert_eq!(rest.unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    let got = app.document("r1", "/got").await;
    let mut got: Vec<String> = serde_json::from_value(got).unwrap();
    assert!(got[0].ends_with(" two"), "each is told as it ends: {got:?}");
    got.sort();
    assert_eq!(got.iter().map(|one| &one[..1]).collect::<String>(), "abc", "each once: {got:?}");
    assert_eq!(got[2], "c child_failed");
    for run in ["r1.1-1", "r1.1-2", "r1.2-1"] {
        assert!(app.state(run).await.end.is_some(), "{run}");
        app.events(run).await;
    }
    let kinds = app.kinds("r1").await;
    let count = |kind: &str| kinds.iter().filter(|one| **one == kind).count();
    assert_eq!((count("child_requested"), count("child_ended")), (3, 3));
}

async fn children_that_nobody_waits_for_are_all_told(kind: Kind) {
    let text = BROOD.replace(
        "{ id: write, agent: writer, contract: note, apply: { set: { at: /note, value: reply.note } } }",
        "{ id: write, ask: { question: What?, apply: { set: /note } } }",
    );
    let text = text.replace(
        "  - id: all\n",
        "  - id: all\n    timeout: { after: 5m, then: { goto: done } }\n",
    );
    let app = TestApp::new(kind, &text);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::WaitingForChild("r1.1-1".to_owned()));
    crate::rig::answer(&engine, "r1.1-2", "w1", "x").await.unwrap();
    driver.drive("r1.1-2").await.unwrap();
    assert_eq!(app.document("r1", "/got").await, json!(["b x"]));
    app.clock.advance(300_000);
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    for run in ["r1.1-1", "r1.2-1"] {
        let (_, reason) = app.state(run).await.end.unwrap();
        assert!(reason.unwrap().contains("cancelled by run r1"), "{run}");
    }
    assert_eq!(app.state("r1.1-2").await.status(), ExecutionStatus::Completed);
}

on_both!(children_are_worked_on_side_by_side, children_that_nobody_waits_for_are_all_told);
