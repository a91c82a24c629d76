//! What is recorded is bounded and its time goes forward: no loop of launches, no run that a slow clock ends.

use std::os::unix::fs::PermissionsExt as _;

use countersign_run::{InputKind, RunEvent};
use countersign_runtime::driver::IdleReason;
use serde_json::json;

use crate::rig::{EPOCH, Kind, TestApp, answer};

const HOOKED: &str = r"
--- index.yaml
name: t
version: 1.0.0
default_workflow: main
hooks: { deep: { program: deep } }
policy: { programs: { deep: { command: [./deep.sh] } } }
--- workflows/main.yaml
id: main
phases: [ { id: work, on_exit: deep }, { id: done, terminal: true } ]
transitions: [ { from: work, to: done } ]
--- work/deep.sh
#!/bin/sh
cat > /dev/null
echo launched >> launches.txt
cat answer.json
";

async fn a_hook_whose_patch_is_too_deep_is_launched_once(kind: Kind) {
    for depth in [100, 110, 126] {
        let app = TestApp::new(kind, HOOKED);
        let script = app.work().join("deep.sh");
        std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
        // The list of operations and the operation are two levels themselves.
        let value = (0..depth - 2).fold(json!(1), |inside, _| json!([inside]));
        let ops = json!([{ "op": "add", "path": "/a", "value": value }]);
        let text = json!({ "result": "patch", "ops": ops }).to_string();
        std::fs::write(app.work().join("answer.json"), text).unwrap();
        let engine = app.engine();
        app.start(&engine, "r1").await;
        let rest = app.driver(&engine, "w").drive("r1").await.unwrap();
        assert_eq!(app.file("launches.txt"), "launched\n", "{depth}");
        let events = app.events("r1").await;
        if depth <= 100 {
            assert!(matches!(rest, IdleReason::Ended(_)), "{rest:?}");
            continue;
        }
        assert_eq!(rest, IdleReason::WaitingForInput);
        let reported = events.iter().any(
            |event| matches!(event, RunEvent::HookFinished { answer, .. } if answer.contains("levels deep")),
        );
        assert!(reported, "{events:?}");
    }
}

/// A document that does not fit where its time runs backwards, like that of the shipped `intake`.
const TIMED: &str = r"
--- index.yaml
name: t
version: 1.0.0
default_workflow: main
document: { contract: timed, engine: { updated_at: /updated_at, created_at: /created_at } }
--- contracts/timed.yaml
id: timed
version: 1.0.0
schema: { type: object }
rules:
  - { id: forward, then: reply.updated_at >= reply.created_at, at: /updated_at, says: time goes forward }
--- workflows/main.yaml
id: main
phases:
  - { id: ask, ask: { question: Which?, deadline: 1h, apply: { set: /answer } } }
  - { id: put, do: { write: { path: out.md, content: state.answer } } }
  - { id: done, terminal: true }
transitions: [ { from: ask, to: put }, { from: put, to: done } ]
";

async fn a_clock_that_is_set_back_does_not_turn_a_run_back(kind: Kind) {
    let app = TestApp::new(kind, TIMED);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    app.clock.advance(-2_000);
    let outcome = answer(&engine, "r1", "w1", "this").await.unwrap();
    assert_eq!(outcome.state.updated_at.0, EPOCH, "the last input's time");
    assert_eq!(outcome.state.end, None, "the run goes on");
    // What is ordered is due by the clock, not by the run's time.
    let head = engine.store().load_head(&engine.run_id("r1")).await.unwrap().unwrap();
    assert_eq!(head.wake_at, Some(EPOCH - 2_000));
    let rest = app.driver(&engine, "w").drive("r1").await.unwrap();
    assert_eq!(rest, IdleReason::Ended(countersign_run::ExecutionStatus::Completed));
    assert_eq!(app.file("out.md"), "this");
    let events = app.events("r1").await;
    let times: Vec<i64> = events.iter().filter_map(time).collect();
    assert!(times.is_sorted(), "{times:?}");
}

fn time(event: &RunEvent) -> Option<i64> {
    match event {
        RunEvent::InputReceived { input } => Some(input.time.0),
        _ => None,
    }
}

async fn a_deadline_passes_once_whichever_way_the_clock_jumps(kind: Kind) {
    let app = TestApp::new(kind, TIMED);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::WaitingForInput);
    // Back: nothing is due before the clock has come to the deadline.
    app.clock.advance(-86_400_000);
    assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::WaitingForInput);
    let late = engine.submit_input("r1", InputKind::Ticked, None).await;
    assert!(late.is_err(), "nothing is due");
    // Forward, past the deadline: it passes, and the run's time is the clock's.
    app.clock.advance(86_400_000 + 7_200_000);
    driver.drive("r1").await.unwrap();
    let state = app.state("r1").await;
    assert_eq!(state.updated_at.0, EPOCH + 7_200_000);
    let expired = |event: &RunEvent| matches!(event, RunEvent::WaitClosed { .. });
    assert_eq!(app.events("r1").await.iter().filter(|event| expired(event)).count(), 1);
}

on_both!(
    a_hook_whose_patch_is_too_deep_is_launched_once,
    a_clock_that_is_set_back_does_not_turn_a_run_back,
    a_deadline_passes_once_whichever_way_the_clock_jumps,
);
