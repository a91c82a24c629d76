//! Waits and moments: one answer is taken, the same key is one input, and time goes by.

use countersign_run::{ExecutionStatus, InputKind, InputRejection, Timestamp};
use countersign_runtime::driver::IdleReason;
use countersign_runtime::engine::EngineError;
use countersign_store::DueRunsRequest;
use serde_json::json;

use crate::rig::{EPOCH, Kind, TestApp, answer};

const ASK: &str = r"
--- index.yaml
name: t
version: 1.0.0
default_workflow: main
--- workflows/main.yaml
id: main
phases:
  - { id: ask, ask: { question: Which?, deadline: 1h, default: nothing, apply: { set: /answer } } }
  - { id: check }
  - { id: approve }
  - { id: done, terminal: true }
transitions:
  - { from: ask, to: check }
  - { from: check, to: approve, gate: { type: file_exists, path: ready.txt, retry: { interval: 10s, max_attempts: 3 } } }
  - { from: approve, to: done, gate: { type: manual, who: anna } }
";

async fn a_run_goes_from_wait_to_moment_to_person(kind: Kind) {
    let app = TestApp::new(kind, ASK);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::WaitingForInput);
    answer(&engine, "r1", "w1", "red").await.unwrap();
    assert_eq!(
        driver.drive("r1").await.unwrap(),
        IdleReason::WaitingUntil(Timestamp(EPOCH + 10_000))
    );
    app.clock.advance(10_000);
    assert_eq!(
        driver.drive("r1").await.unwrap(),
        IdleReason::WaitingUntil(Timestamp(EPOCH + 20_000))
    );
    std::fs::write(app.work().join("ready.txt"), "").unwrap();
    assert_eq!(
        driver.drive("r1").await.unwrap(),
        IdleReason::WaitingUntil(Timestamp(EPOCH + 20_000))
    );
    app.clock.advance(10_000);
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::WaitingForInput);
    let wait = app.state("r1").await.waits.into_values().next().unwrap();
    let decided = |by: &str| wait.decide(true, by, None);
    let refused = engine.submit_input("r1", decided("bob"), None).await.unwrap_err();
    assert!(
        matches!(refused, EngineError::Rejected(InputRejection::NotAssignee { .. })),
        "{refused}"
    );
    engine.submit_input("r1", decided("anna"), None).await.unwrap();
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    assert_eq!(app.document("r1", "/answer").await, json!("red"));
    app.events("r1").await;
}

async fn a_deadline_that_passes_takes_the_default(kind: Kind) {
    let app = TestApp::new(kind, ASK);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    app.clock.advance(3_600_000);
    let now = EPOCH + 3_600_000;
    let taken =
        app.store.acquire_due_runs(&DueRunsRequest::new("finder", now, now + 1, 10)).await.unwrap();
    assert_eq!(taken[0].run, engine.run_id("r1"), "a worker finds it");
    app.store.release_lease(&taken[0]).await.unwrap();
    app.driver(&engine, "w").drive("r1").await.unwrap();
    assert_eq!(app.document("r1", "/answer").await, json!("nothing"));
}

async fn the_same_key_twice_is_one_input(kind: Kind) {
    let app = TestApp::new(kind, ASK);
    let (engine, other) = (app.engine(), app.engine());
    let key = Some("k0".to_owned());
    let first =
        engine.start_named_run("r1", &app.protocol, app.begin(), key.clone()).await.unwrap();
    let again = other.start_named_run("r1", &app.protocol, app.begin(), key).await.unwrap();
    assert_eq!(again.state, first.state);
    assert!(again.events.is_empty(), "nothing happened");

    let answer_input = |text: &str| InputKind::Answered {
        wait: "w1".to_owned(),
        value: json!(text),
        by: "anna".to_owned(),
    };
    let key = Some("k1".to_owned());
    let taken = engine.submit_input("r1", answer_input("red"), key.clone()).await.unwrap();
    assert_eq!(taken.state.version, 2);
    for engine in [&engine, &other, &app.engine()] {
        let again = engine.submit_input("r1", answer_input("red"), key.clone()).await.unwrap();
        assert_eq!((again.state.version, again.events.len()), (2, 0));
        let second = engine.submit_input("r1", answer_input("blue"), None).await.unwrap_err();
        assert!(matches!(second, EngineError::Rejected(InputRejection::AlreadyClosed { .. })));
    }
    assert_eq!(app.document("r1", "/answer").await, json!("red"));
    let answered = app.kinds("r1").await.into_iter().filter(|kind| *kind == "wait_closed");
    assert_eq!(answered.count(), 1);
}

async fn what_another_process_did_is_known_when_it_matters(kind: Kind) {
    let app = TestApp::new(kind, ASK);
    let (engine, other) = (app.engine(), app.engine());
    app.start(&engine, "r1").await;
    other.get_run("r1").await.unwrap();
    answer(&engine, "r1", "w1", "red").await.unwrap();
    std::fs::write(app.work().join("ready.txt"), "").unwrap();
    app.clock.advance(10_000);
    app.driver(&engine, "w").drive("r1").await.unwrap();
    // For the other one the run still stands at its question, and this wait does not exist.
    let approval = app.state("r1").await.waits["w2"].decide(true, "anna", None);
    let outcome = other.submit_input("r1", approval, None).await.unwrap();
    assert_eq!(outcome.state.status(), ExecutionStatus::Completed);
}

async fn of_two_who_answer_at_once_one_is_taken(kind: Kind) {
    let app = TestApp::new(kind, ASK);
    app.start(&app.engine(), "r1").await;
    let engines: Vec<_> = (0..8).map(|_| app.engine()).collect();
    let mut tasks = tokio::task::JoinSet::new();
    for (number, engine) in engines.into_iter().enumerate() {
        tasks.spawn(async move { answer(&engine, "r1", "w1", &format!("{number}")).await });
    }
    let answers = tasks.join_all().await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    for second in answers.into_iter().filter_map(Result::err) {
        assert!(
            matches!(second, EngineError::Rejected(InputRejection::AlreadyClosed { .. })),
            "{second}"
        );
    }
}

on_both!(
    a_run_goes_from_wait_to_moment_to_person,
    a_deadline_that_passes_takes_the_default,
    the_same_key_twice_is_one_input,
    what_another_process_did_is_known_when_it_matters,
    of_two_who_answer_at_once_one_is_taken,
);
