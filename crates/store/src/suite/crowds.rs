//! Cases: many writers at the same time.

use std::sync::Arc;

use super::sample::{self, NOW};
use crate::{RunId, Store, StoreError};

pub async fn one_writer_wins_each_version(store: Arc<dyn Store>) {
    const WRITERS: u64 = 8;
    const LAST: u64 = 25;
    let run = RunId::local("r");
    sample::create_run_at_version(&*store, &run, 1).await;
    let writers = (0..WRITERS).map(|_| {
        let (store, run) = (Arc::clone(&store), run.clone());
        tokio::spawn(async move {
            let mut won = Vec::new();
            let mut seen = 1;
            while seen < LAST {
                match store.append_commit(sample::step(&run, seen)).await {
                    Ok(()) => won.push(seen + 1),
                    Err(StoreError::Conflict { found, .. }) => assert!(found > seen),
                    Err(other) => panic!("{other}"),
                }
                seen = store.load_head(&run).await.unwrap().unwrap().version;
            }
            won
        })
    });
    let mut won = Vec::new();
    for writer in writers.collect::<Vec<_>>() {
        won.extend(writer.await.unwrap());
    }
    won.sort_unstable();
    assert_eq!(won, (2..=LAST).collect::<Vec<_>>());
    let log = store.read_log(&run, 0, usize::MAX).await.unwrap();
    assert_eq!(log, sample::entries(LAST));
}

pub async fn many_runs_go_on_at_once(store: Arc<dyn Store>) {
    const RUNS: u64 = 32;
    const LAST: u64 = 12;
    let writers = (0..RUNS).map(|number| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let run = RunId::local(format!("run-{number}"));
            sample::create_run_at_version(&*store, &run, LAST).await;
            store.load_run(&run, None).await.unwrap().unwrap()
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        let loaded = writer.await.unwrap();
        assert_eq!((loaded.version, loaded.entries.len() as u64), (LAST, LAST));
    }
}

pub async fn one_worker_wins_a_lease(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    sample::create_run_at_version(&*store, &run, 1).await;
    for round in 1..=10_u64 {
        let now = NOW + 100 * round as i64;
        let workers = (0..8).map(|number| {
            let (store, run) = (Arc::clone(&store), run.clone());
            tokio::spawn(async move {
                store.acquire_lease(&run, &format!("w{number}"), now, now + 50).await.unwrap()
            })
        });
        let mut given = Vec::new();
        for worker in workers.collect::<Vec<_>>() {
            given.extend(worker.await.unwrap());
        }
        assert_eq!(given.len(), 1, "{given:?}");
        assert_eq!(given[0].epoch, round);
    }
}
