//! Cases: a run on which several workers ended is parked, and can be acquired again once it is
//! unparked.

use std::sync::Arc;

use super::sample::{self, NOW};
use crate::{
    DueRunsRequest, Lease, MAX_WORKER_DEATHS, RunCommit, RunId, Store, StoreError, TenantId,
};

/// Acquires a due run with workers that end and let their leases expire.
async fn crash_workers(
    store: &dyn Store,
    run: &RunId,
    workers: std::ops::Range<i64>,
) -> Vec<Lease> {
    let mut leases = Vec::new();
    for number in workers {
        let now = NOW + number * 10;
        let taking = DueRunsRequest::new(format!("w{number}"), now, now + 10, 8);
        let taken = store.acquire_due_runs(&taking).await.unwrap();
        assert_eq!(taken.len(), 1, "worker {number} gets the run");
        assert_eq!(taken[0].run, *run);
        leases.extend(taken);
    }
    leases
}

async fn create_due_run(store: &dyn Store) -> RunId {
    let run = RunId::local("r");
    sample::create_run_at_version(store, &run, 1).await;
    let commit = RunCommit { wake_at: Some(NOW), ..sample::full_step(&run, 1, "due") };
    store.append_commit(commit).await.unwrap();
    run
}

pub async fn a_run_is_parked_when_three_workers_ended_on_it(store: Arc<dyn Store>) {
    let run = create_due_run(&*store).await;
    crash_workers(&*store, &run, 0..3).await;
    let head = store.load_head(&run).await.unwrap().unwrap();
    assert_eq!(head.deaths, MAX_WORKER_DEATHS - 1, "the third one may still live");
    assert!(!head.is_parked(NOW + 29));
    assert!(head.is_parked(NOW + 30));
    let fourth = DueRunsRequest::new("w4", NOW + 30, NOW + 40, 8);
    assert_eq!(store.acquire_due_runs(&fourth).await.unwrap(), []);
    assert_eq!(store.acquire_lease(&run, "w4", NOW + 30, NOW + 40).await.unwrap(), None);
    // A parked run does not block other due runs.
    let other = RunId::local("s");
    sample::create_run_at_version(&*store, &other, 1).await;
    let commit = RunCommit { wake_at: Some(NOW), ..sample::full_step(&other, 1, "due") };
    store.append_commit(commit).await.unwrap();
    let one = DueRunsRequest::new("w4", NOW + 30, NOW + 1_000, 1);
    assert_eq!(store.acquire_due_runs(&one).await.unwrap()[0].run, other);
    // The parked run is listed, for its own tenant only.
    let parked = store.list_parked_runs(&run.tenant, NOW + 30, 8).await.unwrap();
    assert_eq!(parked, [store.load_head(&run).await.unwrap().unwrap()]);
    assert_eq!(
        store.list_parked_runs(&run.tenant, NOW + 29, 8).await.unwrap(),
        [],
        "the third may live"
    );
    assert_eq!(store.list_parked_runs(&run.tenant, NOW + 30, 0).await.unwrap(), []);
    assert_eq!(store.list_parked_runs(&TenantId::new("other"), NOW + 30, 8).await.unwrap(), []);
    // Unparking the run resets the count.
    assert!(store.unpark_run(&run, NOW + 30).await.unwrap());
    assert!(!store.unpark_run(&run, NOW + 30).await.unwrap(), "it is not parked any more");
    let head = store.load_head(&run).await.unwrap().unwrap();
    assert_eq!((head.deaths, head.lease.clone()), (0, None));
    crash_workers(&*store, &run, 4..7).await;
    assert!(store.load_head(&run).await.unwrap().unwrap().is_parked(NOW + 70));
    let nobody = store.unpark_run(&RunId::local("nobody"), NOW).await;
    assert!(matches!(nobody, Err(StoreError::NotFound { .. })), "{nobody:?}");
}

pub async fn progress_forgets_the_workers_that_ended(store: Arc<dyn Store>) {
    let run = create_due_run(&*store).await;
    let leases = crash_workers(&*store, &run, 0..3).await;
    let lease = leases.last().unwrap().clone();
    let commit = RunCommit {
        lease: Some(lease),
        wake_at: Some(NOW),
        ..sample::full_step(&run, 2, "progress")
    };
    store.append_commit(commit).await.unwrap();
    let head = store.load_head(&run).await.unwrap().unwrap();
    assert_eq!(head.deaths, 0);
    assert!(!head.is_parked(NOW + 90));
    crash_workers(&*store, &run, 5..8).await;
    // An answer from a person also counts as progress.
    let head = store.load_head(&run).await.unwrap().unwrap();
    assert!(head.is_parked(NOW + 90));
    let commit = RunCommit { wake_at: Some(NOW), ..sample::full_step(&run, 3, "answer") };
    store.append_commit(commit).await.unwrap();
    assert!(!store.load_head(&run).await.unwrap().unwrap().is_parked(NOW + 90));
    crash_workers(&*store, &run, 9..12).await;
}

pub async fn a_worker_that_gives_a_run_back_has_not_ended_on_it(store: Arc<dyn Store>) {
    let run = create_due_run(&*store).await;
    for lease in crash_workers(&*store, &run, 0..1).await {
        store.release_lease(&lease).await.unwrap();
    }
    for number in 1..6 {
        for lease in crash_workers(&*store, &run, number..number + 1).await {
            store.release_lease(&lease).await.unwrap();
        }
    }
    assert_eq!(store.load_head(&run).await.unwrap().unwrap().deaths, 0);
    // A worker that was away and acquires its own run again has not ended either.
    let mut last = None;
    for number in 6..12 {
        let now = NOW + number * 10;
        let taken =
            store.acquire_due_runs(&DueRunsRequest::new("same", now, now + 10, 8)).await.unwrap();
        assert_eq!(taken.len(), 1);
        last = taken.into_iter().next();
    }
    assert_eq!(store.load_head(&run).await.unwrap().unwrap().deaths, 0);
    store.release_lease(&last.unwrap()).await.unwrap();
    // Two deaths stay counted after another worker releases the run; suspending the run resets
    // them.
    let leases = crash_workers(&*store, &run, 13..16).await;
    store.release_lease(&leases[2]).await.unwrap();
    assert_eq!(store.load_head(&run).await.unwrap().unwrap().deaths, 2);
    crash_workers(&*store, &run, 16..17).await;
    let now = NOW + 170;
    assert_eq!(
        store.acquire_due_runs(&DueRunsRequest::new("w17", now, now + 10, 8)).await.unwrap(),
        []
    );
    assert!(store.unpark_run(&run, now).await.unwrap());
    let leases = crash_workers(&*store, &run, 18..20).await;
    let rests = store.suspend_run(&leases[1], 2, Some(NOW)).await.unwrap();
    assert!(rests);
    assert_eq!(store.load_head(&run).await.unwrap().unwrap().deaths, 0);
}

pub async fn a_holder_that_is_known_to_have_ended_counts_at_once(store: Arc<dyn Store>) {
    let run = create_due_run(&*store).await;
    for number in 0..3 {
        let taking = DueRunsRequest::new(format!("w{number}"), NOW, NOW + 10, 8);
        let taken = store.acquire_due_runs(&taking).await.unwrap();
        store.expire_lease(&taken[0]).await.unwrap();
        // Expiring twice, or too late, has no effect.
        store.expire_lease(&taken[0]).await.unwrap();
        let head = store.load_head(&run).await.unwrap().unwrap();
        assert_eq!((head.deaths, head.lease), (number + 1, None));
    }
    assert!(store.load_head(&run).await.unwrap().unwrap().is_parked(NOW));
    assert_eq!(
        store.acquire_due_runs(&DueRunsRequest::new("w4", NOW, NOW + 10, 8)).await.unwrap(),
        []
    );
}
