//! Hints between programs.

use std::time::Duration;

use countersign_store::suite::sample;
use countersign_store::{LeaseStore as _, RunCommit, RunId, RunStore as _};

use crate::site::{Site, caller, store};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_makes_due_the_other_hears_of() {
    let Some(site) = Site::fresh("what_one_makes_due_the_other_hears_of").await else { return };
    let (one, other) = (store(&site.url(), caller()), store(&site.url(), caller()));
    sample::create_run_at_version(&one, &RunId::local("first"), 1).await;
    let mut wakes = other.subscribe_wakes();
    // It hears from the moment that it says so itself.
    wakes.wait_for_wake().await;
    let created = |id: &str, wake_at| RunCommit { wake_at, ..sample::step(&RunId::local(id), 0) };
    one.create_run(sample::new_run(), created("later", Some(i64::MAX))).await.unwrap();
    one.create_run(sample::new_run(), created("now", Some(1))).await.unwrap();
    tokio::time::timeout(Duration::from_secs(20), wakes.wait_for_wake()).await.unwrap();

    // A connection that was cut is made again, and what was missed is looked for.
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    let gone = site.admin().await.query(cut, &[]).await.unwrap();
    assert_eq!(gone.len(), 1);
    tokio::time::timeout(Duration::from_secs(20), wakes.wait_for_wake()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_of_who_holds_the_run_tells_nobody() {
    let Some(site) = Site::fresh("a_step_of_who_holds_the_run_tells_nobody").await else { return };
    let store = store(&site.url(), caller());
    let run = RunId::local("r");
    sample::create_run_at_version(&store, &run, 1).await;
    let lease = store.acquire_lease(&run, "w", 1, 100).await.unwrap();
    let mut wakes = store.subscribe_wakes();
    wakes.wait_for_wake().await;
    let step = RunCommit { lease, wake_at: Some(1), ..sample::step(&run, 1) };
    store.append_commit(step).await.unwrap();
    assert!(tokio::time::timeout(Duration::from_millis(300), wakes.wait_for_wake()).await.is_err());
    store.append_commit(RunCommit { wake_at: Some(1), ..sample::step(&run, 2) }).await.unwrap();
    tokio::time::timeout(Duration::from_secs(20), wakes.wait_for_wake()).await.unwrap();
}
