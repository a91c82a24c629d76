//! Runs that ended and lose their words: not before they are done with, and never what others need.

use countersign_run::{ExecutionStatus, InputKind, Timestamp};
use countersign_runtime::engine::{EngineError, ForkOptions};
use countersign_runtime::integrity::{ChainVerification, verify_stored_chain, verify_stored_run};
use countersign_runtime::prune::{PruneCriteria, plan_prune, prune_runs};
use serde_json::json;

use crate::family::FAMILY;
use crate::rig::{Kind, TestApp, answer};

const NOTHING: fn(u64) = |_| ();

async fn a_child_that_is_waited_for_stays(kind: Kind) {
    let app = TestApp::new(kind, FAMILY);
    let engine = app.engine();
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    driver.drive("r1").await.unwrap();
    driver.drive("r1.1").await.unwrap();
    answer(&engine, "r1.1", "w1", "all of it").await.unwrap();
    // It has ended, and its parent has not heard of it.
    assert_eq!(app.state("r1.1").await.status(), ExecutionStatus::Completed);
    let early = plan_prune(&engine, PruneCriteria::default(), NOTHING).await.unwrap();
    assert_eq!(
        (early.total_runs, early.runs.len(), &early.still_needed[..]),
        (2, 0, &["r1.1".to_owned()][..])
    );
    driver.drive("r1.1").await.unwrap();
    assert_eq!(app.state("r1").await.status(), ExecutionStatus::Completed);

    let planned = plan_prune(&engine, PruneCriteria::default(), NOTHING).await.unwrap();
    let going: Vec<&str> = planned.runs.iter().map(|doomed| &*doomed.run).collect();
    assert_eq!(going.len(), 2, "{going:?}");
    let done = prune_runs(&engine, &planned, Timestamp(7), |_| ()).await.unwrap();
    assert_eq!((done.runs, done.skipped.len(), done.removed.snapshots), (2, 0, 0));
    for run in ["r1", "r1.1"] {
        // Whether this engine knew it or not.
        for engine in [&engine, &app.engine()] {
            let gone = |error: &EngineError| {
                matches!(error, EngineError::RunPruned { pruned_at: Timestamp(7), .. })
            };
            assert!(engine.get_run(run).await.is_err_and(|error| gone(&error)), "{run}");
            assert!(engine.read_log(run).await.is_err_and(|error| gone(&error)), "{run}");
            assert!(verify_stored_run(engine, run).await.is_err_and(|error| gone(&error)), "{run}");
            let late = InputKind::Cancelled { by: "anna".to_owned(), reason: None };
            let late = engine.submit_input(run, late, None).await;
            assert!(late.is_err_and(|error| gone(&error)), "{run}");
            let ChainVerification { pruned, .. } =
                verify_stored_chain(engine, run).await.unwrap().unwrap();
            assert!(pruned);
        }
    }
}

async fn what_was_forked_from_can_be_forked_again(kind: Kind) {
    let app = TestApp::new(kind, FAMILY);
    let engine = app.engine();
    let child = countersign_run::RunStart {
        workflow: "child".to_owned(),
        document: Some(json!({"title": "x"})),
        ..app.begin()
    };
    engine.start_named_run("r1", &app.protocol, child, None).await.unwrap();
    let otherwise = ForkOptions { by: "anna".to_owned(), ..ForkOptions::default() };
    let (fork, at) = engine.fork_run("r1", otherwise.clone(), None).await.unwrap();
    answer(&engine, "r1", "w1", "all of it").await.unwrap();
    let before = engine.load_version("r1", Some(at)).await.unwrap();

    let planned = plan_prune(&engine, PruneCriteria::default(), NOTHING).await.unwrap();
    let [doomed] = &planned.runs[..] else { panic!("{planned:?}") };
    assert_eq!(
        (&*doomed.run, doomed.forked_versions.iter().copied().collect::<Vec<_>>()),
        ("r1", vec![at])
    );
    let done = prune_runs(&engine, &planned, Timestamp(7), |_| ()).await.unwrap();
    assert_eq!((done.runs, done.kept_snapshots), (1, 1));

    let engine = app.engine();
    let after = engine.load_version("r1", Some(at)).await.unwrap();
    assert_eq!((&after.state, &after.hash), (&before.state, &before.hash));
    assert!(matches!(engine.load_version("r1", None).await, Err(EngineError::RunPruned { .. })));
    let here = ForkOptions { version: Some(at), ..otherwise.clone() };
    let (again, _) = engine.fork_run("r1", here, None).await.unwrap();
    let now = ForkOptions { version: None, ..otherwise };
    assert!(matches!(engine.fork_run("r1", now, None).await, Err(EngineError::RunPruned { .. })));
    for run in [fork, again] {
        answer(&engine, &run, "w1", "another").await.unwrap();
        verify_stored_run(&engine, &run).await.unwrap().unwrap();
    }
    // A plan that is held a second time finds it done.
    let twice = prune_runs(&engine, &planned, Timestamp(8), |_| ()).await.unwrap();
    assert_eq!((twice.runs, twice.skipped.len()), (0, 1));
    assert!(twice.skipped[0].1.contains("was pruned at"), "{:?}", twice.skipped);
}

async fn the_latest_and_the_young_stay(kind: Kind) {
    let app = TestApp::new(kind, FAMILY);
    let engine = app.engine();
    for run in ["a", "b", "c", "open"] {
        let child = countersign_run::RunStart {
            workflow: "child".to_owned(),
            document: Some(json!({"title": "x"})),
            ..app.begin()
        };
        engine.start_named_run(run, &app.protocol, child, None).await.unwrap();
        if run != "open" {
            answer(&engine, run, "w1", "yes").await.unwrap();
        }
        app.clock.advance(1_000);
    }
    let ended_at = app.state("b").await.updated_at;
    let going = async |before: Option<Timestamp>, keep: usize| {
        let planned =
            plan_prune(&engine, PruneCriteria { ended_before: before, keep_newest: keep }, NOTHING)
                .await
                .unwrap();
        planned.runs.into_iter().map(|doomed| doomed.run).collect::<Vec<_>>()
    };
    assert_eq!(going(None, 0).await, ["a", "b", "c"], "the oldest first");
    assert_eq!(going(None, 2).await, ["a"]);
    assert_eq!(going(None, 3).await, [] as [&str; 0]);
    assert_eq!(going(Some(ended_at), 0).await, ["a"]);
    assert_eq!(going(Some(Timestamp(ended_at.0 + 1)), 0).await, ["a", "b"]);
    assert_eq!(going(Some(Timestamp(ended_at.0 + 1)), 2).await, ["a"]);
}

on_both!(
    a_child_that_is_waited_for_stays,
    what_was_forked_from_can_be_forked_again,
    the_latest_and_the_young_stay,
);
