//! Runs that start each other: each child once, each told, none forgotten.

use std::sync::Arc;

use countersign_run::{ExecutionStatus, InputKind, ParentRun, RunStart};
use countersign_runtime::driver::IdleReason;
use countersign_store::ChildRunFilter;
use serde_json::json;

use crate::rig::{Kind, TestApp, answer};

pub(crate) const FAMILY: &str = r#"
--- index.yaml
name: t
version: 1.0.0
default_workflow: main
--- workflows/child.yaml
id: child
phases:
  - { id: ask, ask: { question: "What of {{ state.title }}?", apply: { set: /result } } }
  - { id: done, terminal: true }
transitions: [{ from: ask, to: done }]
--- workflows/main.yaml
id: main
phases:
  - id: call
    invoke: { workflow: child, input: { /title: "run.id" }, output: { /result: reply.result } }
    timeout: { after: 5m, then: { goto: lost } }
  - { id: done, terminal: true }
  - { id: lost, terminal: true }
transitions:
  - { from: call, to: done }
  - { from: call, to: lost, gate: "false", priority: 1 }
"#;

async fn a_child_answers_its_parent(kind: Kind) {
    let app = TestApp::new(kind, FAMILY);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::WaitingForChild("r1.1".to_owned()));
    assert_eq!(
        driver.drive("r1").await.unwrap(),
        IdleReason::WaitingForChild("r1.1".to_owned()),
        "once is enough"
    );
    assert_eq!(driver.drive("r1.1").await.unwrap(), IdleReason::WaitingForInput);
    // The parent finds its open child, whose title is what the parent gave it.
    let (tenant, parents) = (engine.tenant().clone(), vec!["r1".to_owned()]);
    let filter = ChildRunFilter { tenant, parents, open_only: true, limit: 9 };
    let [child] = &app.store.list_child_runs(&filter).await.unwrap()[..] else { panic!() };
    assert_eq!((&*child.title, &*child.status, child.ended_at), ("r1", "waiting", None));
    assert_eq!(child.parent.as_deref(), Some("r1"));
    let terms = app.store.load_search_terms(&child.run).await.unwrap();
    assert!(terms.contains(&"r1".to_owned()) && !terms.contains(&"all".to_owned()), "{terms:?}");
    answer(&engine, "r1.1", "w1", "all of it").await.unwrap();
    // What a person answered is found too.
    let terms = app.store.load_search_terms(&child.run).await.unwrap();
    assert!(terms.contains(&"all".to_owned()), "{terms:?}");
    // Whoever works on the child works on whom it tells.
    assert_eq!(driver.drive("r1.1").await.unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    assert_eq!(app.state("r1").await.status(), ExecutionStatus::Completed);
    assert_eq!(app.document("r1", "/result").await, json!("all of it"));
    let ended = app.kinds("r1").await.into_iter().filter(|kind| *kind == "child_ended");
    assert_eq!(ended.count(), 1);
    assert!(app.store.list_child_runs(&filter).await.unwrap().is_empty());
    app.events("r1.1").await;
}

async fn a_child_that_nobody_waits_for_is_cancelled(kind: Kind) {
    let app = TestApp::new(kind, FAMILY);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    driver.drive("r1").await.unwrap();
    app.clock.advance(300_000);
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    assert_eq!(app.state("r1").await.phase, "lost");
    let child = app.state("r1.1").await;
    let (_, reason) = child.end.clone().unwrap();
    assert_eq!(child.status(), ExecutionStatus::Failed);
    assert!(reason.unwrap().contains("cancelled by run r1"));
    assert!(child.pending.is_empty(), "it has told its parent, who did not listen");
}

async fn a_child_that_was_not_started_yet_is_not_started_any_more(kind: Kind) {
    let app = TestApp::new(kind, FAMILY);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let cancelled = InputKind::Cancelled { by: "anna".to_owned(), reason: None };
    engine.submit_input("r1", cancelled, None).await.unwrap();
    let driver = app.driver(&engine, "w");
    // The child is told before it is there, which is the end of it.
    let rest = driver.drive("r1").await;
    assert!(rest.is_err() || rest.unwrap() == IdleReason::Ended(ExecutionStatus::Failed));
    assert!(app.store.load_head(&engine.run_id("r1.1")).await.unwrap().is_none());
}

async fn a_child_that_began_too_late_ends_before_it_does_anything(kind: Kind) {
    let app = TestApp::new(kind, FAMILY);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let cancelled = InputKind::Cancelled { by: "anna".to_owned(), reason: None };
    engine.submit_input("r1", cancelled, None).await.unwrap();
    // A worker that saw the order before, and was slow.
    let parent = ParentRun { run: "r1".to_owned(), action: "1.1".to_owned(), depth: 1 };
    let start = RunStart {
        workflow: "child".to_owned(),
        parent: Some(parent),
        document: Some(json!({"title": "x"})),
        ..app.begin()
    };
    app.engine().start_named_run("r1.1", &app.protocol, start, None).await.unwrap();
    let driver = app.driver(&engine, "w");
    assert_eq!(driver.drive("r1.1").await.unwrap(), IdleReason::Ended(ExecutionStatus::Failed));
    let (_, reason) = app.state("r1.1").await.end.unwrap();
    assert!(reason.unwrap().contains("cancelled by run r1"));
}

async fn a_stranger_under_the_child_s_name_is_left_alone(kind: Kind) {
    let app = TestApp::new(kind, FAMILY);
    let engine = app.engine();
    let stranger = RunStart {
        workflow: "child".to_owned(),
        document: Some(json!({"title": "x"})),
        ..app.begin()
    };
    engine.start_named_run("r1.1", &app.protocol, stranger, None).await.unwrap();
    app.start(&engine, "r1").await;
    assert_eq!(app.driver(&engine, "w").drive("r1").await.unwrap(), IdleReason::WaitingForInput);
    let state = app.state("r1").await;
    let question = &state.waits.values().next().unwrap().question;
    assert!(question.contains("run `r1.1` already exists"), "{question}");
    assert_eq!(app.state("r1.1").await.status(), ExecutionStatus::Waiting);
}

async fn two_workers_start_a_child_once(kind: Kind) {
    let app = TestApp::new(kind, FAMILY);
    app.start(&app.engine(), "r1").await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..4 {
        let engine = app.engine();
        let driver = Arc::new(app.driver(&engine, &format!("w{number}")));
        tasks.spawn(async move { driver.drive("r1").await.unwrap() });
    }
    let rests = tasks.join_all().await;
    assert!(rests.contains(&IdleReason::WaitingForChild("r1.1".to_owned())), "{rests:?}");
    assert_eq!(app.kinds("r1.1").await.iter().filter(|kind| **kind == "started").count(), 1);
}

on_both!(
    a_child_answers_its_parent,
    a_child_that_nobody_waits_for_is_cancelled,
    a_child_that_was_not_started_yet_is_not_started_any_more,
    a_child_that_began_too_late_ends_before_it_does_anything,
    a_stranger_under_the_child_s_name_is_left_alone,
    two_workers_start_a_child_once,
);
