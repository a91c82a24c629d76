//! Runs that ended and lose their words: not before they are done with, and never what others need.

use countersign_core::run::{Incoming, Status, Time};
use countersign_runtime::engine::{EngineError, Otherwise};
use countersign_runtime::proof::{Chained, chained, prove};
use countersign_runtime::prune::{Old, plan, prune};
use serde_json::json;

use crate::family::FAMILY;
use crate::rig::{House, Kind, answer};

const NOTHING: fn(u64) = |_| ();

async fn a_child_that_is_waited_for_stays(kind: Kind) {
    let house = House::new(kind, FAMILY);
    let engine = house.engine();
    house.start(&engine, "r1").await;
    let driver = house.driver(&engine, "w");
    driver.drive("r1").await.unwrap();
    driver.drive("r1.1").await.unwrap();
    answer(&engine, "r1.1", "w1", "all of it").await.unwrap();
    // It has ended, and its parent has not heard of it.
    assert_eq!(house.state("r1.1").await.status(), Status::Completed);
    let early = plan(&engine, Old::default(), NOTHING).await.unwrap();
    assert_eq!((early.all, early.runs.len(), &early.awaited[..]), (2, 0, &["r1.1".to_owned()][..]));
    driver.drive("r1.1").await.unwrap();
    assert_eq!(house.state("r1").await.status(), Status::Completed);

    let planned = plan(&engine, Old::default(), NOTHING).await.unwrap();
    let going: Vec<&str> = planned.runs.iter().map(|doomed| &*doomed.run).collect();
    assert_eq!(going.len(), 2, "{going:?}");
    let done = prune(&engine, &planned, Time(7), |_| ()).await.unwrap();
    assert_eq!((done.runs, done.left.len(), done.pruned.snapshots), (2, 0, 0));
    for run in ["r1", "r1.1"] {
        // Whether this engine knew it or not.
        for engine in [&engine, &house.engine()] {
            let gone =
                |error: &EngineError| matches!(error, EngineError::Pruned { at: Time(7), .. });
            assert!(engine.look(run).await.is_err_and(|error| gone(&error)), "{run}");
            assert!(engine.log(run).await.is_err_and(|error| gone(&error)), "{run}");
            assert!(prove(engine, run).await.is_err_and(|error| gone(&error)), "{run}");
            let late = Incoming::Cancelled { by: "anna".to_owned(), reason: None };
            let late = engine.give(run, late, None).await;
            assert!(late.is_err_and(|error| gone(&error)), "{run}");
            let Chained { pruned, .. } = chained(engine, run).await.unwrap().unwrap();
            assert!(pruned);
        }
    }
}

async fn what_was_forked_from_can_be_forked_again(kind: Kind) {
    let house = House::new(kind, FAMILY);
    let engine = house.engine();
    let child = countersign_core::run::Start {
        workflow: "child".to_owned(),
        document: Some(json!({"title": "x"})),
        ..house.begin()
    };
    engine.start("r1", &house.protocol, child, None).await.unwrap();
    let otherwise = Otherwise { by: "anna".to_owned(), ..Otherwise::default() };
    let (fork, at) = engine.fork("r1", otherwise.clone(), None).await.unwrap();
    answer(&engine, "r1", "w1", "all of it").await.unwrap();
    let before = engine.at("r1", Some(at)).await.unwrap();

    let planned = plan(&engine, Old::default(), NOTHING).await.unwrap();
    let [doomed] = &planned.runs[..] else { panic!("{planned:?}") };
    assert_eq!((&*doomed.run, doomed.forked.iter().copied().collect::<Vec<_>>()), ("r1", vec![at]));
    let done = prune(&engine, &planned, Time(7), |_| ()).await.unwrap();
    assert_eq!((done.runs, done.kept), (1, 1));

    let engine = house.engine();
    let after = engine.at("r1", Some(at)).await.unwrap();
    assert_eq!((&after.state, &after.hash), (&before.state, &before.hash));
    assert!(matches!(engine.at("r1", None).await, Err(EngineError::Pruned { .. })));
    let here = Otherwise { at: Some(at), ..otherwise.clone() };
    let (again, _) = engine.fork("r1", here, None).await.unwrap();
    let now = Otherwise { at: None, ..otherwise };
    assert!(matches!(engine.fork("r1", now, None).await, Err(EngineError::Pruned { .. })));
    for run in [fork, again] {
        answer(&engine, &run, "w1", "another").await.unwrap();
        prove(&engine, &run).await.unwrap().unwrap();
    }
    // A plan that is held a second time finds it done.
    let twice = prune(&engine, &planned, Time(8), |_| ()).await.unwrap();
    assert_eq!((twice.runs, twice.left.len()), (0, 1));
    assert!(twice.left[0].1.contains("was pruned at"), "{:?}", twice.left);
}

async fn the_latest_and_the_young_stay(kind: Kind) {
    let house = House::new(kind, FAMILY);
    let engine = house.engine();
    for run in ["a", "b", "c", "open"] {
        let child = countersign_core::run::Start {
            workflow: "child".to_owned(),
            document: Some(json!({"title": "x"})),
            ..house.begin()
        };
        engine.start(run, &house.protocol, child, None).await.unwrap();
        if run != "open" {
            answer(&engine, run, "w1", "yes").await.unwrap();
        }
        house.clock.advance(1_000);
    }
    let ended_at = house.state("b").await.updated_at;
    let going = async |before: Option<Time>, keep: usize| {
        let planned = plan(&engine, Old { before, keep }, NOTHING).await.unwrap();
        planned.runs.into_iter().map(|doomed| doomed.run).collect::<Vec<_>>()
    };
    assert_eq!(going(None, 0).await, ["a", "b", "c"], "the oldest first");
    assert_eq!(going(None, 2).await, ["a"]);
    assert_eq!(going(None, 3).await, [] as [&str; 0]);
    assert_eq!(going(Some(ended_at), 0).await, ["a"]);
    assert_eq!(going(Some(Time(ended_at.0 + 1)), 0).await, ["a", "b"]);
    assert_eq!(going(Some(Time(ended_at.0 + 1)), 2).await, ["a"]);
}

on_both!(
    a_child_that_is_waited_for_stays,
    what_was_forked_from_can_be_forked_again,
    the_latest_and_the_young_stay,
);
