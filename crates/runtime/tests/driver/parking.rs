//! A run on which workers end is parked with a sentence, whoever asks, and goes on when somebody resumes it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use countersign_run::{ExecutionStatus, InputKind, InputRejection, Timestamp};
use countersign_runtime::clock::Clock;
use countersign_runtime::driver::IdleReason;
use countersign_runtime::engine::EngineError;
use countersign_runtime::worker::{
    DriverProvider, Worker, WorkerConfig, WorkerEvent, WorkerExitPolicy, WorkerObserver,
    WorkerStopHandle,
};
use countersign_store::{DueRunsRequest, TenantId};

use crate::rig::{EPOCH, Kind, TestApp};

const DEED: &str = r#"
--- index.yaml
name: t
version: 1.0.0
default_workflow: main
--- workflows/main.yaml
id: main
phases: [ { id: put, do: { write: { path: out.md, content: "'done'" } } }, { id: done, terminal: true } ]
transitions: [ { from: put, to: done } ]
"#;

fn resumed() -> InputKind {
    InputKind::Resumed { by: "anna".to_owned(), grants: BTreeMap::new() }
}

async fn a_run_on_which_three_workers_ended_is_parked_until_it_is_resumed(kind: Kind) {
    let app = TestApp::new(kind, DEED);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let nothing = engine.submit_input("r1", resumed(), None).await.unwrap_err();
    let nothing_to_resume = |error: &EngineError| {
        matches!(error, EngineError::Rejected(InputRejection::NothingToResume { .. }))
    };
    assert!(nothing_to_resume(&nothing), "{nothing}");
    for number in 0..3 {
        let now = EPOCH + number * 10;
        let taking = DueRunsRequest::new(format!("w{number}"), now, now + 10, 1);
        assert_eq!(app.store.acquire_due_runs(&taking).await.unwrap().len(), 1);
    }
    app.clock.advance(30);
    let driver = app.driver(&engine, "fourth");
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::Parked);
    // A person who looks changes nothing by it, and one who resumes it does.
    let outcome = engine.submit_input("r1", resumed(), None).await.unwrap();
    assert_eq!(outcome.state.version, 1, "nothing but the parking was resumed");
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::Ended(ExecutionStatus::Completed));
    app.events("r1").await;
}

/// A clock that moves by what is waited for, and is set back by an hour once.
struct SetBack {
    now: AtomicI64,
    waited: Mutex<Vec<i64>>,
    stopper: WorkerStopHandle,
}

impl Clock for SetBack {
    fn now(&self) -> Timestamp {
        Timestamp(self.now.load(Ordering::SeqCst))
    }

    fn sleep_until(
        &self,
        moment: Timestamp,
    ) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let left = moment.millis_since(self.now()).cast_signed();
        Box::pin(async move {
            tokio::task::yield_now().await;
            let mut waited = self.waited.lock().unwrap();
            waited.push(left);
            let back = if waited.len() == 5 { 3_600_000 } else { 0 };
            self.now.fetch_add(left - back, Ordering::SeqCst);
            if waited.len() == 20 {
                self.stopper.stop();
            }
        })
    }
}

struct Nobody;

impl DriverProvider for Nobody {
    fn get_driver(&self, _: &TenantId) -> Result<Arc<countersign_runtime::driver::Driver>, String> {
        Err("nobody works here".to_owned())
    }

    fn list_drivers(&self) -> Vec<Arc<countersign_runtime::driver::Driver>> {
        Vec::new()
    }
}

impl WorkerObserver for Nobody {
    fn on_event(&self, _: WorkerEvent) {}
}

async fn a_worker_whose_clock_is_set_back_looks_and_announces_itself_all_the_same(kind: Kind) {
    let app = TestApp::new(kind, DEED);
    let (stopper, stop) = WorkerStopHandle::new();
    let (now, waited) = (AtomicI64::new(EPOCH), Mutex::default());
    let clock = Arc::new(SetBack { now, waited, stopper });
    let terms = WorkerConfig::new("w");
    let longest = 60_000;
    let worker = Worker::new(
        Arc::clone(&app.store),
        Arc::clone(&clock) as _,
        Arc::new(Nobody),
        Arc::new(Nobody),
        terms,
    );
    worker.run(WorkerExitPolicy::OnStop, stop).await.unwrap();
    let waited = clock.waited.lock().unwrap().clone();
    assert!(waited.iter().all(|wait| *wait <= longest), "{waited:?}");
}

on_both!(
    a_run_on_which_three_workers_ended_is_parked_until_it_is_resumed,
    a_worker_whose_clock_is_set_back_looks_and_announces_itself_all_the_same,
);
