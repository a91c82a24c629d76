//! While a model's call is out: people halt, cancel and answer, and time goes by.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use countersign_run::{ExecutionStatus, InputKind, RunEvent, RunState};
use countersign_runtime::driver::{Driver, IdleReason};
use countersign_runtime::engine::Engine;
use countersign_runtime::run_observer::RunObserver;
use serde_json::json;

use crate::holds::{asking, asking_over, look};
use crate::replies::NOTE;
use crate::rig::{Kind, TestApp, answer};

const GOOD: &str = r#"{"note":"hello"}"#;

fn halted() -> InputKind {
    InputKind::Halted { by: "anna".to_owned(), reason: Some("lunch".to_owned()) }
}

/// A note, then a question, then a note again.
fn long() -> String {
    NOTE.replace(
        "  - { id: done, terminal: true }\ntransitions: [{ from: write, to: done }]",
        "  - { id: ask, ask: { question: Which?, apply: { set: /answer } } }\n  - { id: again, agent: writer, contract: note, apply: { set: { at: /again, value: reply.note } } }\n  - { id: done, terminal: true }\ntransitions: [{ from: write, to: ask }, { from: ask, to: again }, { from: again, to: done }]",
    )
}

async fn a_halt_keeps_the_reply_and_stops_what_would_follow(kind: Kind) {
    let app = TestApp::new(kind, &long().replace("from: write, to: ask", "from: write, to: again"));
    app.start(&app.engine(), "r1").await;
    let (mut first, question) = asking(&app, "first").await;
    let person = app.engine();
    person.submit_input("r1", halted(), None).await.unwrap();
    question.answer(GOOD);
    assert_eq!(first.task.await.unwrap().unwrap(), IdleReason::Halted);
    assert!(first.questions.try_recv().is_err(), "nothing more was asked");
    assert_eq!(first.driver.drive("r1").await.unwrap(), IdleReason::Halted);
    let resumed = InputKind::Resumed { by: "anna".to_owned(), grants: BTreeMap::new() };
    person.submit_input("r1", resumed, None).await.unwrap();
    let task = tokio::spawn(async move { first.driver.drive("r1").await });
    first.questions.recv().await.unwrap().answer(r#"{"note":"more"}"#);
    assert_eq!(task.await.unwrap().unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    assert_eq!(app.document("r1", "/note").await, json!("hello"), "the reply was kept");
    app.events("r1").await;
}

async fn a_call_that_nobody_wants_any_more_is_ended(kind: Kind) {
    let app = TestApp::new(kind, NOTE);
    app.start(&app.engine(), "r1").await;
    let (first, question) = asking(&app, "first").await;
    let cancelled = InputKind::Cancelled { by: "anna".to_owned(), reason: None };
    app.engine().submit_input("r1", cancelled, None).await.unwrap();
    app.clock.advance(10_000);
    question.dropped().await;
    assert_eq!(first.task.await.unwrap().unwrap(), IdleReason::Ended(ExecutionStatus::Failed));
    app.events("r1").await;
}

async fn a_reply_that_comes_after_the_end_changes_nothing(kind: Kind) {
    let app = TestApp::new(kind, NOTE);
    app.start(&app.engine(), "r1").await;
    let (first, question) = asking(&app, "first").await;
    let cancelled = InputKind::Cancelled { by: "anna".to_owned(), reason: None };
    app.engine().submit_input("r1", cancelled, None).await.unwrap();
    question.answer(GOOD);
    assert_eq!(first.task.await.unwrap().unwrap(), IdleReason::Ended(ExecutionStatus::Failed));
    assert_eq!(app.document("r1", "/note").await, json!(null));
    app.events("r1").await;
}

async fn a_phase_s_time_runs_out_while_its_model_is_asked(kind: Kind) {
    let text =
        NOTE.replace("writes: [/note],", "writes: [/note], timeout: { after: 25s, then: fail },");
    let app = TestApp::new(kind, &text);
    app.start(&app.engine(), "r1").await;
    let (first, question) = asking(&app, "first").await;
    look(&app).await;
    look(&app).await;
    app.clock.advance(5_000);
    question.dropped().await;
    assert_eq!(first.task.await.unwrap().unwrap(), IdleReason::Ended(ExecutionStatus::Failed));
    let reason = app.state("r1").await.end.unwrap().1.unwrap();
    assert!(reason.contains("25s"), "{reason}");
}

/// Somebody who answers the very moment a question is kept, while the worker still holds the run.
struct Quick {
    person: Arc<Engine>,
    worker: Driver,
    found: Mutex<Option<IdleReason>>,
}

impl RunObserver for Quick {
    fn on_commit(&self, _: &RunState, events: &[RunEvent]) {
        if events.iter().any(|event| matches!(event, RunEvent::WaitOpened { .. })) {
            at_once(answer(&self.person, "r1", "w1", "red")).unwrap();
            *self.found.lock().unwrap() = Some(at_once(self.worker.drive("r1")).unwrap());
        }
    }

    fn on_model_text(&self, _: &RunState, _: &str, _: &str) {}
}

/// The store in memory never waits, so neither does what only asks it.
fn at_once<T>(work: impl Future<Output = T>) -> T {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("it waits"),
    }
}

#[tokio::test]
async fn an_answer_that_found_the_run_held_is_not_left_lying() {
    let app = TestApp::new(Kind::Memory, &long());
    app.start(&app.engine(), "r1").await;
    let person = app.engine();
    let worker = app.driver(&person, "own");
    let quick = Arc::new(Quick { person, worker, found: Mutex::default() });
    let (mut first, question) =
        asking_over(&app, app.engine_observed(quick.clone()), "first").await;
    question.answer(GOOD);
    tokio::select! {
        rest = &mut first.task => panic!("it rests, and the answer lies there: {rest:?}"),
        question = first.questions.recv() => question.unwrap().answer(GOOD),
    }
    assert_eq!(first.task.await.unwrap().unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    assert_eq!(
        quick.found.lock().unwrap().clone(),
        Some(IdleReason::LeasedElsewhere),
        "it left it to the holder"
    );
    assert_eq!(app.document("r1", "/answer").await, json!("red"));
}

on_both!(
    a_halt_keeps_the_reply_and_stops_what_would_follow,
    a_call_that_nobody_wants_any_more_is_ended,
    a_reply_that_comes_after_the_end_changes_nothing,
    a_phase_s_time_runs_out_while_its_model_is_asked,
);
