//! Who holds a run: one worker at a time, a dead one's runs go on, a late one does no harm.

use std::sync::Arc;

use countersign_run::{ExecutionStatus, InputKind};
use countersign_runtime::driver::{Driver, IdleReason, WorkerHeartbeat};
use countersign_runtime::engine::{Engine, EngineError};
use countersign_store::{FaultPlan, FaultyStore, InjectedFault, StoreError};
use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;

use crate::replies::NOTE;
use crate::rig::{EPOCH, Kind, ManualModels, Question, TestApp};

const GOOD: &str = r#"{"note":"hello"}"#;

/// A worker that has asked its model and waits for the answer.
pub(crate) struct Asking {
    pub(crate) driver: Arc<Driver>,
    pub(crate) engine: Arc<Engine>,
    pub(crate) questions: UnboundedReceiver<Question>,
    pub(crate) task: JoinHandle<Result<IdleReason, EngineError>>,
}

pub(crate) async fn asking(app: &TestApp, worker: &str) -> (Asking, Question) {
    asking_over(app, app.engine(), worker).await
}

pub(crate) async fn asking_over(
    app: &TestApp,
    engine: Arc<Engine>,
    worker: &str,
) -> (Asking, Question) {
    let (models, mut questions) = ManualModels::open();
    let driver = Arc::new(app.driver_with(&engine, models, worker));
    let working = Arc::clone(&driver);
    let task = tokio::spawn(async move { working.drive("r1").await });
    let question = questions.recv().await.unwrap();
    (Asking { driver, engine, questions, task }, question)
}

/// Moves the clock to the worker's next look, and waits until it has looked.
pub(crate) async fn look(app: &TestApp) {
    let before = app.clock.sleep_count();
    app.clock.advance(10_000);
    while app.clock.sleep_count() == before {
        tokio::task::yield_now().await;
    }
}

async fn begun(kind: Kind) -> TestApp {
    let app = TestApp::new(kind, NOTE);
    app.start(&app.engine(), "r1").await;
    app
}

async fn a_run_that_is_worked_on_is_held(kind: Kind) {
    let app = begun(kind).await;
    let (mut first, question) = asking(&app, "first").await;
    let other = app.engine();
    assert_eq!(app.driver(&other, "other").drive("r1").await.unwrap(), IdleReason::LeasedElsewhere);
    tokio::select! {
        _ = first.questions.recv() => panic!("the model was asked twice"),
        rest = first.driver.drive("r1") => assert_eq!(rest.unwrap(), IdleReason::LeasedElsewhere, "one call at a time"),
    }
    question.answer(GOOD);
    assert_eq!(first.task.await.unwrap().unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    let head = app.store.load_head(&other.run_id("r1")).await.unwrap().unwrap();
    assert_eq!(head.lease, None, "it was given back");
}

async fn a_long_call_keeps_the_run(kind: Kind) {
    let app = begun(kind).await;
    let (first, question) = asking(&app, "first").await;
    for _ in 0..9 {
        look(&app).await;
    }
    let other = app.engine();
    assert_eq!(app.driver(&other, "other").drive("r1").await.unwrap(), IdleReason::LeasedElsewhere);
    question.answer(GOOD);
    assert_eq!(first.task.await.unwrap().unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    assert_eq!(app.document("r1", "/note").await, json!("hello"));
}

async fn every_commit_renews_the_lease(kind: Kind) {
    let app = begun(kind).await;
    let (mut first, question) = asking(&app, "first").await;
    app.clock.advance(9_000);
    question.answer("no");
    let question = first.questions.recv().await.unwrap();
    let run = first.engine.run_id("r1");
    let lease = app.store.load_head(&run).await.unwrap().unwrap().lease.unwrap();
    assert_eq!((lease.epoch, lease.until), (1, EPOCH + 39_000));
    question.answer(GOOD);
    assert_eq!(first.task.await.unwrap().unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
}

async fn a_dead_worker_s_run_goes_on_and_a_late_one_is_fenced(kind: Kind) {
    let app = begun(kind).await;
    let (first, question) = asking(&app, "first").await;
    // Its process stands still: nobody renews, and the lease runs out.
    first.task.abort();
    let (second, other) = {
        app.clock.advance(29_999);
        let early = app.engine();
        assert_eq!(
            app.driver(&early, "early").drive("r1").await.unwrap(),
            IdleReason::LeasedElsewhere
        );
        app.clock.advance(1);
        asking(&app, "second").await
    };
    drop(question);
    // A late one with the first lease: what it brings is refused, whatever it is.
    let late = countersign_store::Lease {
        run: first.engine.run_id("r1"),
        worker: "first".to_owned(),
        epoch: 1,
        until: i64::MAX,
    };
    let head = app.store.load_head(&late.run).await.unwrap().unwrap();
    let mut commit = countersign_store::RunCommit::new(
        late.run.clone(),
        1,
        countersign_store::LogEntryRow {
            version: 2,
            first_seq: head.seq + 1,
            last_seq: head.seq + 1,
            time: 0,
            hash: String::new(),
            body: "{}".to_owned(),
        },
        countersign_store::RunHeadUpdate {
            status: "running".to_owned(),
            phase: "write".to_owned(),
            updated_at: 0,
            summary: String::new(),
            ..countersign_store::RunHeadUpdate::default()
        },
    );
    commit.lease = Some(late);
    let refused = app.store.append_commit(commit).await.unwrap_err();
    assert!(matches!(refused, StoreError::Fenced { epoch: 1, current: 2 }), "{refused}");
    other.answer(GOOD);
    assert_eq!(second.task.await.unwrap().unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
}

async fn a_worker_that_wakes_late_stops_without_a_word(kind: Kind) {
    let app = begun(kind).await;
    let (late, unheard) = asking(&app, "late").await;
    // The machine of the first one sleeps: its lease runs out before it looks.
    let lease =
        app.store.load_head(&late.engine.run_id("r1")).await.unwrap().unwrap().lease.unwrap();
    app.store.release_lease(&lease).await.unwrap();
    let (quick, question) = asking(&app, "quick").await;
    question.answer(r#"{"note":"quick"}"#);
    assert_eq!(quick.task.await.unwrap().unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    unheard.answer(r#"{"note":"late"}"#);
    assert_eq!(
        late.task.await.unwrap().unwrap(),
        IdleReason::LeasedElsewhere,
        "it is not its run any more"
    );
    assert_eq!(app.document("r1", "/note").await, json!("quick"));
    assert_eq!(app.kinds("r1").await.iter().filter(|kind| **kind == "reply_accepted").count(), 1);
}

async fn a_lease_that_ran_out_and_that_nobody_took_is_taken_again(kind: Kind) {
    let app = begun(kind).await;
    let (first, question) = asking(&app, "first").await;
    app.clock.advance(50_000);
    look(&app).await;
    question.answer(GOOD);
    assert_eq!(first.task.await.unwrap().unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
}

async fn a_killed_worker_s_run_need_not_wait_where_its_end_can_be_seen(kind: Kind) {
    let app = begun(kind).await;
    let workers = app.folder.path().join("workers");
    let (killed, _unheard) = asking(&app, "killed").await;
    killed.task.abort();
    let engine = app.engine();
    let (models, mut questions) = ManualModels::open();
    let presence = WorkerHeartbeat::announce(&workers, "seer").unwrap();
    let driver = app.driver_with(&engine, models, "nobody").with_heartbeat(presence);
    assert_eq!(
        driver.drive("r1").await.unwrap(),
        IdleReason::LeasedElsewhere,
        "nobody knows that it is dead"
    );
    // What a killed process leaves: a file that nobody has locked.
    std::fs::write(workers.join("killed.lock"), "").unwrap();
    let answering = async { questions.recv().await.unwrap().answer(GOOD) };
    let (rest, ()) = tokio::join!(driver.drive("r1"), answering);
    assert_eq!(rest.unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
}

async fn a_dropped_drive_is_taken_up_by_the_same_worker_at_once(kind: Kind) {
    let app = begun(kind).await;
    let (mut first, question) = asking(&app, "first").await;
    first.task.abort();
    question.dropped().await;
    while !first.task.is_finished() {
        tokio::task::yield_now().await;
    }
    let driver = Arc::clone(&first.driver);
    let task = tokio::spawn(async move { driver.drive("r1").await });
    first.questions.recv().await.unwrap().answer(GOOD);
    assert_eq!(task.await.unwrap().unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
}

async fn a_store_that_is_away_for_a_moment_costs_no_call(kind: Kind) {
    let app = begun(kind).await;
    // Writes of a drive: the lease, then the reply. The reply is lost once and unheard once.
    let script =
        [(2, InjectedFault::BeforeWrite), (3, InjectedFault::AfterWrite)].into_iter().collect();
    let faulty = FaultyStore::new(Arc::clone(&app.store), FaultPlan::Script(script));
    let engine = app.engine_over(Arc::new(faulty));
    let (mut first, question) = asking_over(&app, engine, "first").await;
    question.answer(GOOD);
    while !first.task.is_finished() {
        app.clock.advance(100);
        tokio::task::yield_now().await;
    }
    assert_eq!(first.task.await.unwrap().unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    assert!(first.questions.try_recv().is_err(), "the model was asked once");
    assert_eq!(app.kinds("r1").await.iter().filter(|kind| **kind == "reply_accepted").count(), 1);
}

async fn a_store_that_stays_away_is_told_and_nothing_is_lost(kind: Kind) {
    let app = begun(kind).await;
    let gone = FaultPlan::Crash { write: 2, fault: InjectedFault::BeforeWrite };
    let faulty = FaultyStore::new(Arc::clone(&app.store), gone);
    let engine = app.engine_over(Arc::new(faulty));
    let (first, question) = asking_over(&app, engine, "first").await;
    question.answer(GOOD);
    while !first.task.is_finished() {
        app.clock.advance(100);
        tokio::task::yield_now().await;
    }
    let error = first.task.await.unwrap().unwrap_err();
    assert!(matches!(error, EngineError::Store(StoreError::Unavailable { .. })), "{error}");
    app.clock.advance(30_000);
    let (second, question) = asking(&app, "second").await;
    question.answer(GOOD);
    assert_eq!(second.task.await.unwrap().unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
}

async fn a_run_that_is_not_there_is_said_so(kind: Kind) {
    let app = TestApp::new(kind, NOTE);
    let engine = app.engine();
    let missing = app.driver(&engine, "w").drive("r9").await.unwrap_err();
    assert_eq!(missing.to_string(), "no run `r9`");
    let missing = engine.submit_input("r9", InputKind::Ticked, None).await.unwrap_err();
    assert_eq!(missing.to_string(), "no run `r9`");
}

on_both!(
    a_run_that_is_worked_on_is_held,
    a_long_call_keeps_the_run,
    every_commit_renews_the_lease,
    a_dead_worker_s_run_goes_on_and_a_late_one_is_fenced,
    a_worker_that_wakes_late_stops_without_a_word,
    a_lease_that_ran_out_and_that_nobody_took_is_taken_again,
    a_killed_worker_s_run_need_not_wait_where_its_end_can_be_seen,
    a_dropped_drive_is_taken_up_by_the_same_worker_at_once,
    a_store_that_is_away_for_a_moment_costs_no_call,
    a_store_that_stays_away_is_told_and_nothing_is_lost,
    a_run_that_is_not_there_is_said_so,
);
