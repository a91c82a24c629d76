//! Workers: they take what is due, within their limits, leave what waits, and stop in good order.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use countersign_run::ExecutionStatus;
use countersign_runtime::clock::Clock;
use countersign_runtime::driver::{Driver, IdleReason, ModelResolver};
use countersign_runtime::engine::Engine;
use countersign_runtime::worker::{
    DriverProvider, Worker, WorkerConfig, WorkerEvent, WorkerExitPolicy, WorkerObserver,
    WorkerStopHandle, WorkerStopSignal,
};
use countersign_store::{
    DueRunsRequest, FaultPlan, FaultyStore, InjectedFault, Store, StoreError, TenantId,
};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;

use crate::family::FAMILY;
use crate::replies::NOTE;
use crate::rig::{EPOCH, Kind, ManualModels, Question, TestApp, answer};

const GOOD: &str = r#"{"note":"hello"}"#;

/// One driver for the one tenant there is.
struct One(Arc<Driver>);

impl DriverProvider for One {
    fn get_driver(&self, _: &TenantId) -> Result<Arc<Driver>, String> {
        Ok(Arc::clone(&self.0))
    }

    fn list_drivers(&self) -> Vec<Arc<Driver>> {
        vec![Arc::clone(&self.0)]
    }
}

/// Writes down what it is told.
#[derive(Default)]
struct Heard(Mutex<Vec<WorkerEvent>>);

impl WorkerObserver for Heard {
    fn on_event(&self, news: WorkerEvent) {
        self.0.lock().unwrap().push(news);
    }
}

impl Heard {
    fn all(&self) -> Vec<WorkerEvent> {
        self.0.lock().unwrap().clone()
    }

    /// Where each run came to rest last.
    fn rests(&self) -> BTreeMap<String, IdleReason> {
        let rests = self.all().into_iter().filter_map(|news| match news {
            WorkerEvent::RunIdle(run, rest) => Some((run.id, rest)),
            _ => None,
        });
        rests.collect()
    }
}

/// A worker over a store, and what it tells.
fn worker(
    app: &TestApp,
    store: &Arc<dyn Store>,
    models: Option<Arc<dyn ModelResolver>>,
    terms: WorkerConfig,
) -> (Worker, Arc<Heard>) {
    let engine = app.engine_over(Arc::clone(store));
    let driver = match models {
        Some(models) => app.driver_with(&engine, models, &terms.name),
        None => app.driver(&engine, &terms.name),
    };
    let driver = driver.with_lease_ttl(terms.lease_ttl).with_store_retry(60_000);
    let (crew, heard) = (Arc::new(One(Arc::new(driver))), Arc::new(Heard::default()));
    let clock = Arc::clone(&app.clock) as Arc<dyn Clock>;
    (Worker::new(Arc::clone(store), clock, crew, Arc::clone(&heard) as _, terms), heard)
}

fn terms(name: &str) -> WorkerConfig {
    WorkerConfig { host: "here".to_owned(), ..WorkerConfig::new(name) }
}

/// Works until nothing is due.
async fn until_idle(app: &TestApp) -> Arc<Heard> {
    let (worker, heard) = worker(app, &app.store, None, terms("w"));
    let (_stopper, stop) = WorkerStopHandle::new();
    worker.run(WorkerExitPolicy::WhenIdle, stop).await.unwrap();
    heard
}

/// A worker at work in a task of its own, whose models are the test.
struct AtWork {
    stopper: WorkerStopHandle,
    heard: Arc<Heard>,
    questions: UnboundedReceiver<Question>,
    task: JoinHandle<Result<(), StoreError>>,
}

fn at_work(app: &TestApp, store: &Arc<dyn Store>, terms: WorkerConfig) -> AtWork {
    let (models, questions) = ManualModels::open();
    let (worker, heard) = worker(app, store, Some(models), terms);
    let (stopper, stop): (WorkerStopHandle, WorkerStopSignal) = WorkerStopHandle::new();
    let task = tokio::spawn(async move { worker.run(WorkerExitPolicy::OnStop, stop).await });
    AtWork { stopper, heard, questions, task }
}

async fn begin(app: &TestApp, engine: &Engine, runs: &[&str]) {
    for run in runs {
        app.start(engine, run).await;
    }
}

/// What anybody could take at a moment.
async fn due(app: &TestApp, now: i64) -> Vec<String> {
    let taken = app
        .store
        .acquire_due_runs(&DueRunsRequest::new("finder", now, now + 1, 100))
        .await
        .unwrap();
    let mut due = Vec::new();
    for lease in taken {
        app.store.release_lease(&lease).await.unwrap();
        due.push(lease.run.id);
    }
    due
}

async fn what_is_due_is_driven_to_its_end(kind: Kind) {
    let script = "--- work/script.yaml\n- { reply: { note: hello } }\n";
    let app = TestApp::new(kind, &format!("{NOTE}{script}"));
    begin(&app, &app.engine(), &["a", "b", "c"]).await;
    let terms = WorkerConfig { capacity: 2, ..terms("w") };
    let (worker, heard) = worker(&app, &app.store, None, terms);
    let (_stopper, stop) = WorkerStopHandle::new();
    worker.run(WorkerExitPolicy::WhenIdle, stop).await.unwrap();
    let ended = IdleReason::Ended(ExecutionStatus::Completed);
    let rests: Vec<_> = heard.rests().into_iter().collect();
    assert_eq!(rests, ["a", "b", "c"].map(|run| (run.to_owned(), ended.clone())));
    assert!(app.store.list_leases(EPOCH, 9).await.unwrap().is_empty());
    assert!(app.store.list_workers(EPOCH).await.unwrap().is_empty(), "it said goodbye");
    assert_eq!(heard.all().first(), Some(&WorkerEvent::Started));
    assert_eq!(heard.all().last(), Some(&WorkerEvent::Stopped(0)));
}

async fn a_run_that_waits_for_its_child_or_a_person_is_not_due(kind: Kind) {
    let app = TestApp::new(kind, FAMILY);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    assert_eq!(due(&app, EPOCH).await, ["r1"]);
    let heard = until_idle(&app).await;
    // The child asks a person, so that nobody had to look at it.
    let rests: Vec<_> = heard.rests().into_iter().collect();
    assert_eq!(rests, [("r1".to_owned(), IdleReason::WaitingForChild("r1.1".to_owned()))]);
    // The phase of the parent has a time-out of five minutes; nothing wakes it before.
    assert!(due(&app, EPOCH + 299_999).await.is_empty());
    assert_eq!(due(&app, EPOCH + 300_000).await, ["r1"]);
    answer(&engine, "r1.1", "w1", "all of it").await.unwrap();
    assert_eq!(due(&app, EPOCH).await, ["r1.1"]);
    until_idle(&app).await;
    assert_eq!(app.state("r1").await.status(), ExecutionStatus::Completed);
    assert!(due(&app, i64::MAX - 1).await.is_empty());
}

async fn a_run_whose_model_is_a_person_is_not_due(kind: Kind) {
    let nobody = NOTE.replace("models: { default: \"script:script.yaml\" }", "");
    let app = TestApp::new(kind, &nobody);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    assert_eq!(until_idle(&app).await.rests()["r1"], IdleReason::NeedsReply);
    assert!(due(&app, i64::MAX - 1).await.is_empty());
    // Neither is one that somebody halted.
    app.start(&engine, "r2").await;
    let by = "anna".to_owned();
    let halted = countersign_run::InputKind::Halted { by, reason: None };
    engine.submit_input("r2", halted, None).await.unwrap();
    assert!(due(&app, i64::MAX - 1).await.is_empty());
}

async fn capacity_and_share_are_kept(kind: Kind) {
    let app = TestApp::new(kind, NOTE);
    begin(&app, &app.engine(), &["a", "b", "c", "d", "e", "f"]).await;
    let mut first = at_work(&app, &app.store, WorkerConfig { capacity: 3, ..terms("first") });
    let mut out = Vec::new();
    for _ in 0..3 {
        out.push(first.questions.recv().await.unwrap());
    }
    assert_eq!(app.store.list_leases(EPOCH, 9).await.unwrap().len(), 3);
    // Another one may take one more, because four of a tenant are enough.
    let mut second =
        at_work(&app, &app.store, WorkerConfig { max_per_tenant: 4, ..terms("second") });
    out.push(second.questions.recv().await.unwrap());
    assert_eq!(app.store.list_workers(EPOCH).await.unwrap().len(), 2);
    let held = app.store.list_leases(EPOCH, 9).await.unwrap();
    let firsts = held.iter().filter(|lease| lease.worker == "first").count();
    assert_eq!((held.len(), firsts), (4, 3));
    for question in out {
        question.answer(GOOD);
    }
    // Hands that are free take what is left, without anybody moving the clock.
    for _ in 0..2 {
        tokio::select! {
            question = first.questions.recv() => question.unwrap().answer(GOOD),
            question = second.questions.recv() => question.unwrap().answer(GOOD),
        }
    }
    for one in [&first, &second] {
        one.stopper.stop();
    }
    first.task.await.unwrap().unwrap();
    second.task.await.unwrap().unwrap();
    for run in ["a", "b", "c", "d", "e", "f"] {
        app.events(run).await;
    }
    assert!(app.store.list_leases(EPOCH, 9).await.unwrap().is_empty());
}

async fn a_hint_wakes_an_idle_worker(kind: Kind) {
    let app = TestApp::new(kind, NOTE);
    let mut one = at_work(&app, &app.store, terms("w"));
    idles(&app, 0).await;
    app.start(&app.engine(), "r1").await;
    // The clock stands still: it is not the poll.
    one.questions.recv().await.unwrap().answer(GOOD);
    one.stopper.stop();
    one.task.await.unwrap().unwrap();
    app.events("r1").await;
}

/// Waits until somebody has begun to wait for a moment more often than this.
async fn idles(app: &TestApp, before: u64) {
    while app.clock.sleep_count() == before {
        tokio::task::yield_now().await;
    }
}

/// How often a worker asks its store in ten minutes in which nothing happens.
async fn calls_while_idle(app: &TestApp) -> u64 {
    let counting = Arc::new(FaultyStore::new(Arc::clone(&app.store), FaultPlan::NoFaults));
    let store: Arc<dyn Store> = Arc::clone(&counting) as _;
    let one = at_work(app, &store, terms("w"));
    idles(app, app.clock.sleep_count()).await;
    let begun = counting.call_count();
    // More than the longest pause between two looks.
    for _ in 0..500 {
        let before = app.clock.sleep_count();
        app.clock.advance(1_200);
        idles(app, before).await;
    }
    let calls = counting.call_count() - begun;
    one.stopper.stop();
    one.task.await.unwrap().unwrap();
    calls
}

async fn idle_workers_ask_as_often_however_many_runs_wait(kind: Kind) {
    let app = TestApp::new(kind, FAMILY);
    let alone = calls_while_idle(&app).await;
    // 500 looks, and an announcement every nine of them.
    assert!((540..=570).contains(&alone), "{alone}");
    let app = TestApp::new(kind, NEVER);
    let engine = app.engine();
    for number in 0..40 {
        app.start(&engine, &format!("r{number}")).await;
    }
    until_idle(&app).await;
    assert_eq!(calls_while_idle(&app).await, alone);
}

/// Asks, and waits for ever.
const NEVER: &str = r"
--- index.yaml
name: t
version: 1.0.0
default_workflow: main
--- workflows/main.yaml
id: main
phases:
  - { id: ask, ask: { question: Which?, apply: { set: /answer } } }
  - { id: done, terminal: true }
transitions: [{ from: ask, to: done }]
";

async fn a_worker_that_is_told_to_stop_lets_its_steps_end(kind: Kind) {
    let app = TestApp::new(kind, NOTE);
    begin(&app, &app.engine(), &["r1", "r2"]).await;
    let mut one = at_work(&app, &app.store, WorkerConfig { capacity: 1, ..terms("w") });
    let question = one.questions.recv().await.unwrap();
    one.stopper.stop();
    // A refused reply asks for another try, which is left to somebody else.
    question.answer("no");
    one.task.await.unwrap().unwrap();
    assert!(one.questions.recv().await.is_none(), "nothing was begun after that");
    let news = one.heard.all();
    assert!(news.contains(&WorkerEvent::Stopping(1)), "{news:?}");
    assert_eq!(one.heard.rests().into_values().collect::<Vec<_>>(), [IdleReason::DriverStopped]);
    assert_eq!(news.last(), Some(&WorkerEvent::Stopped(0)));
    assert_eq!(app.kinds("r1").await.iter().filter(|kind| **kind == "reply_refused").count(), 1);
    assert!(app.store.list_leases(EPOCH, 9).await.unwrap().is_empty(), "leases were handed back");
    assert_eq!(due(&app, EPOCH).await.len(), 2);
}

async fn a_second_word_or_the_end_of_grace_ends_at_once(kind: Kind) {
    for grace in [false, true] {
        let app = TestApp::new(kind, NOTE);
        app.start(&app.engine(), "r1").await;
        let mut one = at_work(&app, &app.store, terms("w"));
        let question = one.questions.recv().await.unwrap();
        one.stopper.stop();
        if grace {
            while !one.heard.all().contains(&WorkerEvent::Stopping(1)) {
                tokio::task::yield_now().await;
            }
            let before = app.clock.sleep_count();
            idles(&app, before.saturating_sub(1)).await;
            app.clock.advance(20_000);
        } else {
            one.stopper.stop();
        }
        question.dropped().await;
        one.task.await.unwrap().unwrap();
        assert_eq!(one.heard.all().last(), Some(&WorkerEvent::Stopped(1)));
        let now = app.clock.now().0;
        assert!(app.store.list_leases(now, 9).await.unwrap().is_empty());
        // The order is out still, and is done again under its id.
        assert_eq!(due(&app, now).await, ["r1"]);
        let model_requested =
            app.kinds("r1").await.into_iter().filter(|kind| *kind == "model_requested");
        assert_eq!(model_requested.count(), 1);
    }
}

async fn a_run_that_was_lost_is_dropped_without_harm(kind: Kind) {
    let app = TestApp::new(kind, NOTE);
    app.start(&app.engine(), "r1").await;
    let mut one = at_work(&app, &app.store, WorkerConfig { capacity: 1, ..terms("w") });
    let question = one.questions.recv().await.unwrap();
    let lease = app.store.list_leases(EPOCH, 1).await.unwrap().remove(0);
    // To the store, its lease ran out: another has the run by now, and has gone on.
    app.store.release_lease(&lease).await.unwrap();
    let mut other = at_work(&app, &app.store, terms("other"));
    other.questions.recv().await.unwrap().answer(GOOD);
    while !other.heard.rests().contains_key("r1") {
        tokio::task::yield_now().await;
    }
    question.answer(r#"{"note":"too late"}"#);
    while !one.heard.all().iter().any(|news| matches!(news, WorkerEvent::LeaseLost(_))) {
        tokio::task::yield_now().await;
    }
    for worker in [one, other] {
        worker.stopper.stop();
        worker.task.await.unwrap().unwrap();
    }
    assert_eq!(app.document("r1", "/note").await, serde_json::json!("hello"));
    app.events("r1").await;
}

async fn a_run_that_is_taken_anew_is_begun_anew(kind: Kind) {
    let app = TestApp::new(kind, NOTE);
    app.start(&app.engine(), "r1").await;
    let mut one = at_work(&app, &app.store, terms("w"));
    let stale = one.questions.recv().await.unwrap();
    let lease = app.store.list_leases(EPOCH, 1).await.unwrap().remove(0);
    // To the store its lease ran out, and it is the first to take the run again.
    app.store.release_lease(&lease).await.unwrap();
    let fresh = one.questions.recv().await.unwrap();
    stale.dropped().await;
    fresh.answer(GOOD);
    while !one.heard.rests().contains_key("r1") {
        tokio::task::yield_now().await;
    }
    one.stopper.stop();
    one.task.await.unwrap().unwrap();
    assert!(one.heard.all().contains(&WorkerEvent::LeaseLost(lease.run)));
    assert!(app.store.list_leases(EPOCH, 9).await.unwrap().is_empty());
    app.events("r1").await;
}

async fn a_store_that_is_away_is_waited_for(kind: Kind) {
    let app = TestApp::new(kind, NOTE);
    app.start(&app.engine(), "r1").await;
    // The announcement goes well; then looking fails five times.
    let script = (2..=6).map(|write| (write, InjectedFault::BeforeWrite)).collect();
    let faulty = Arc::new(FaultyStore::new(Arc::clone(&app.store), FaultPlan::Script(script)));
    let store: Arc<dyn Store> = faulty;
    let mut one = at_work(&app, &store, terms("w"));
    let question = loop {
        tokio::select! {
            biased;
            question = one.questions.recv() => break question.unwrap(),
            () = tokio::task::yield_now() => app.clock.advance(50),
        }
    };
    question.answer(GOOD);
    while !one.heard.rests().contains_key("r1") {
        app.clock.advance(50);
        // Where the disk is slow beside this clock, the lease runs out before the reply is kept, and it is asked again.
        if let Ok(again) = one.questions.try_recv() {
            again.answer(GOOD);
        }
        tokio::task::yield_now().await;
    }
    one.stopper.stop();
    one.task.await.unwrap().unwrap();
    let news = one.heard.all();
    let count = |wanted: fn(&WorkerEvent) -> bool| news.iter().filter(|one| wanted(one)).count();
    assert_eq!(count(|news| matches!(news, WorkerEvent::StoreUnavailable(_))), 1, "{news:?}");
    assert_eq!(count(|news| matches!(news, WorkerEvent::StoreRecovered(_))), 1, "{news:?}");
    assert_eq!(app.document("r1", "/note").await, serde_json::json!("hello"));
    let replies = app.kinds("r1").await.into_iter().filter(|kind| *kind == "reply_accepted");
    assert_eq!(replies.count(), 1);
}

async fn whoever_stays_offers_a_reply_until_it_is_kept(kind: Kind) {
    let app = TestApp::new(kind, NOTE);
    app.start(&app.engine(), "r1").await;
    // The lease is the first write; then keeping the reply fails for longer than a command would wait.
    let script = (2..=12).map(|write| (write, InjectedFault::BeforeWrite)).collect();
    let faulty = Arc::new(FaultyStore::new(Arc::clone(&app.store), FaultPlan::Script(script)));
    let (models, mut questions) = ManualModels::open();
    let driver = app.driver_with(&app.engine_over(faulty), models, "w").with_store_retry(60_000);
    let task = tokio::spawn(async move { driver.drive("r1").await });
    questions.recv().await.unwrap().answer(GOOD);
    let begun = app.clock.now().0;
    while !task.is_finished() {
        app.clock.advance(100);
        tokio::task::yield_now().await;
    }
    assert_eq!(task.await.unwrap().unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    assert!(app.clock.now().0 - begun > 20_000);
    assert!(questions.recv().await.is_none(), "the model was asked once");
}

on_both!(
    what_is_due_is_driven_to_its_end,
    a_run_that_waits_for_its_child_or_a_person_is_not_due,
    a_run_whose_model_is_a_person_is_not_due,
    capacity_and_share_are_kept,
    a_hint_wakes_an_idle_worker,
    idle_workers_ask_as_often_however_many_runs_wait,
    a_worker_that_is_told_to_stop_lets_its_steps_end,
    a_second_word_or_the_end_of_grace_ends_at_once,
    a_run_that_was_lost_is_dropped_without_harm,
    a_run_that_is_taken_anew_is_begun_anew,
    a_store_that_is_away_is_waited_for,
    whoever_stays_offers_a_reply_until_it_is_kept,
);
