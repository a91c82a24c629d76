//! Memory that is off, away, or told to forget: the run goes on all the same.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_memory::packet::meta::PacketPurpose;
use countersign_memory::store::{EraseTarget, Memory, RetrievalLimits, SqliteMemory};
use countersign_memory::{MemoryScope, PacketRequest};
use countersign_run::{ExecutionStatus, RunEvent, RunState};
use countersign_runtime::clock::Clock;
use countersign_runtime::driver::IdleReason;
use countersign_runtime::engine::ForkOptions;
use countersign_runtime::memory_recorder::catch_up;
use countersign_runtime::run_observer::RunObserver;
use countersign_store::SqliteSettings;
use serde_json::json;

use super::fixtures::{Cage, LAMPS, Parrot, events, memory, of, reminded, start, tenant, watched};
use super::stories::FAMILY;
use crate::rig::{Kind, TestApp, answer};

#[derive(Default)]
struct Ear(Mutex<Vec<String>>);

impl RunObserver for Ear {
    fn on_commit(&self, _: &RunState, _: &[RunEvent]) {}

    fn on_model_text(&self, _: &RunState, _: &str, _: &str) {}

    fn on_warning(&self, run: &str, message: &str) {
        self.0.lock().unwrap().push(format!("{run}: {message}"));
    }
}

fn with(section: &str) -> String {
    LAMPS.replacen("models:", &format!("memory: {section}\nmodels:"), 1)
}

async fn a_protocol_may_turn_it_off(kind: Kind) {
    let app = TestApp::new(kind, &with("{ off: true }"));
    let (memory, parrot) = (memory(kind, &app), Parrot::saying(&[]));
    let own = reminded(&app, &memory, &parrot);
    start(&app, &own.engine, "r1", "main", "anna").await;
    answer(&own.engine, "r1", "w1", "cobalt").await.unwrap();
    assert_eq!(
        own.driver.drive("r1").await.unwrap(),
        IdleReason::Ended(ExecutionStatus::Completed)
    );
    assert!(!parrot.last().contains("## Memory"));
    assert!(memory.export(&of("anna")).await.unwrap().is_empty());
}

async fn what_was_started_without_memory_is_never_remembered(kind: Kind) {
    let app = TestApp::new(kind, LAMPS);
    let (memory, parrot) = (memory(kind, &app), Parrot::saying(&[]));
    let without = app.engine_without();
    start(&app, &without, "r1", "main", "anna").await;
    answer(&without, "r1", "w1", "cobalt").await.unwrap();
    // Processes with a memory go on with it, fork it, and catch up.
    let own = reminded(&app, &memory, &parrot);
    assert_eq!(
        own.driver.drive("r1").await.unwrap(),
        IdleReason::Ended(ExecutionStatus::Completed)
    );
    assert!(!parrot.last().contains("## Memory"), "{}", parrot.last());
    let otherwise =
        ForkOptions { version: Some(2), by: "anna".to_owned(), ..ForkOptions::default() };
    let (fork, _) = own.engine.fork_run("r1", otherwise, None).await.unwrap();
    own.driver.drive(&fork).await.unwrap();
    let next = reminded(&app, &memory, &parrot);
    start(&app, &next.engine, "r2", "again", "anna").await;
    next.driver.drive("r2").await.unwrap();
    catch_up(&next.engine, "r1").await.unwrap();
    assert!(!parrot.last().contains("cobalt"), "{}", parrot.last());
    let all = events(&*memory, "anna").await;
    assert!(!all.is_empty() && all.iter().all(|event| event.scope.run() == "r2"), "{all:#?}");
}

async fn a_child_is_remembered_where_its_parent_is(kind: Kind) {
    let app = TestApp::new(kind, FAMILY);
    let (memory, parrot) = (memory(kind, &app), Parrot::saying(&[]));
    let (without, own) = (app.engine_without(), reminded(&app, &memory, &parrot));
    start(&app, &without, "r1", "main", "anna").await;
    own.driver.drive("r1").await.unwrap();
    own.driver.drive("r1.1").await.unwrap();
    answer(&own.engine, "r1.1", "w1", "sold").await.unwrap();
    own.driver.drive("r1.1").await.unwrap();
    assert!(memory.export(&of("anna")).await.unwrap().is_empty());
    // A worker without a memory starts the child of a run with one.
    start(&app, &own.engine, "r2", "main", "anna").await;
    let models = Arc::new(Cage(Arc::clone(&parrot)));
    app.driver_with(&without, models, "v").drive("r2").await.unwrap();
    answer(&own.engine, "r2.1", "w1", "kept").await.unwrap();
    own.driver.drive("r2.1").await.unwrap();
    let all = events(&*memory, "anna").await;
    assert!(all.iter().any(|event| event.text.ends_with("— kept")), "{all:#?}");
}

#[tokio::test]
async fn a_memory_that_is_away_is_told_and_holds_nothing_up() {
    let app = TestApp::new(Kind::Sqlite, LAMPS);
    let path = app.folder.path().join("memory.db");
    let settings =
        SqliteSettings { busy_timeout: Duration::from_millis(20), ..SqliteSettings::default() };
    let memory: Arc<dyn Memory> = Arc::new(SqliteMemory::open_with(&path, settings).unwrap());
    // Another process writes, and does not come to an end.
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (ear, parrot) = (Arc::new(Ear::default()), Parrot::saying(&[]));
    let own = watched(&app, &memory, &parrot, ear.clone());
    start(&app, &own.engine, "r1", "main", "anna").await;
    answer(&own.engine, "r1", "w1", "cobalt").await.unwrap();
    assert_eq!(
        own.driver.drive("r1").await.unwrap(),
        IdleReason::Ended(ExecutionStatus::Completed)
    );
    assert!(!parrot.last().contains("## Memory"));
    let reported = ear.0.lock().unwrap().clone();
    assert!(
        reported
            .iter()
            .any(|line| line.contains("memory is unavailable; the prompt is sent without it"))
    );
    assert!(
        reported.iter().all(|line| line.starts_with("r1: ") && !line.contains('\n')),
        "{reported:?}"
    );

    other.execute_batch("ROLLBACK").unwrap();
    start(&app, &own.engine, "r2", "again", "anna").await;
    own.driver.drive("r2").await.unwrap();
    let missed = events(&*memory, "anna").await;
    assert!(missed.iter().any(|event| event.scope.run() == "r2"), "{missed:#?}");
    // The next process catches up with what this one could not keep.
    let next = reminded(&app, &memory, &parrot);
    start(&app, &next.engine, "r3", "again", "anna").await;
    next.driver.drive("r3").await.unwrap();
    assert!(parrot.last().contains("— cobalt"), "{}", parrot.last());
}

async fn what_is_no_policy_is_told(kind: Kind) {
    let text = format!("{}--- memory/wide.yaml\nid: wide\n", with("{ policy: memory/wide.yaml }"));
    let app = TestApp::new(kind, &text);
    let (ear, parrot) = (Arc::new(Ear::default()), Parrot::saying(&[]));
    let own = watched(&app, &memory(kind, &app), &parrot, ear.clone());
    start(&app, &own.engine, "r1", "again", "anna").await;
    assert_eq!(
        own.driver.drive("r1").await.unwrap(),
        IdleReason::Ended(ExecutionStatus::Completed)
    );
    let reported = ear.0.lock().unwrap().clone();
    assert!(reported[0].contains("`memory/wide.yaml` is not a valid policy"), "{reported:?}");
}

async fn what_was_forgotten_stays_so(kind: Kind) {
    let app = TestApp::new(kind, LAMPS);
    let (memory, parrot) = (memory(kind, &app), Parrot::saying(&[]));
    let own = reminded(&app, &memory, &parrot);
    start(&app, &own.engine, "r1", "main", "anna").await;
    answer(&own.engine, "r1", "w1", "cobalt").await.unwrap();
    own.driver.drive("r1").await.unwrap();
    memory.forget(EraseTarget::Subject(of("anna")), app.clock.now()).await.unwrap();
    let next = reminded(&app, &memory, &parrot);
    start(&app, &next.engine, "r2", "again", "anna").await;
    assert_eq!(
        next.driver.drive("r2").await.unwrap(),
        IdleReason::Ended(ExecutionStatus::Completed)
    );
    assert!(!parrot.last().contains("cobalt"), "the log is read again, and nothing comes back");
    assert!(events(&*memory, "anna").await.iter().all(|event| event.scope.run() == "r2"));
}

async fn the_working_state_follows_the_document(kind: Kind) {
    let section = "{ tokens: 600, working: { goal: \"'a lamp of ' + state.colour\", slots: \"{ colour: state.colour }\" } }";
    let app = TestApp::new(kind, &with(section));
    let (memory, parrot) = (memory(kind, &app), Parrot::saying(&[]));
    let own = reminded(&app, &memory, &parrot);
    start(&app, &own.engine, "r1", "main", "anna").await;
    own.driver.drive("r1").await.unwrap();
    let working = || async {
        let scope = MemoryScope::new(tenant(), "anna", "lamps", "r1", "r1").unwrap();
        let request = PacketRequest {
            scope,
            purpose: PacketPurpose::Planner,
            task_type: None,
            cues: None,
            message: None,
            vector: None,
            budget: None,
            as_of: app.clock.now(),
        };
        memory
            .retrieve_candidates(&request, RetrievalLimits::default())
            .await
            .unwrap()
            .working_memory
            .unwrap()
    };
    let before = working().await;
    assert_eq!(before.open_loops[0].question, "Which colour should the lamp have?");
    answer(&own.engine, "r1", "w1", "cobalt").await.unwrap();
    own.driver.drive("r1").await.unwrap();
    let after = working().await;
    assert_eq!(after.state.goal.as_deref(), Some("a lamp of cobalt"));
    assert_eq!(after.state.slots.unwrap()["colour"], json!("cobalt"));
    assert!(after.open_loops.is_empty());
    assert!(after.state.state_version > before.state.state_version);
    assert!(parrot.last().contains("a lamp of cobalt"), "{}", parrot.last());
    own.driver.drive("r1").await.unwrap();
    assert_eq!(working().await.state.state_version, after.state.state_version, "nothing changed");
}

on_both!(
    a_protocol_may_turn_it_off,
    what_was_started_without_memory_is_never_remembered,
    a_child_is_remembered_where_its_parent_is,
    what_is_no_policy_is_told,
    what_was_forgotten_stays_so,
    the_working_state_follows_the_document,
);
