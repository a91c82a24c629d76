//! Cases: one worker at a time holds a run, and a late worker is fenced.

use std::sync::Arc;

use super::sample::{self, NOW, load_stored_run};
use crate::{Lease, RunCommit, RunId, Store, StoreError};

pub async fn a_lease_is_taken_renewed_and_over(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    sample::create_run_at_version(&*store, &run, 1).await;
    let first = store.acquire_lease(&run, "w1", NOW, NOW + 10).await.unwrap().unwrap();
    let taken = Lease { run: run.clone(), worker: "w1".into(), epoch: 1, until: NOW + 10 };
    assert_eq!(first, taken);
    assert_eq!(store.load_head(&run).await.unwrap().unwrap().lease, Some(first.clone()));
    assert_eq!(store.acquire_lease(&run, "w2", NOW + 9, NOW + 20).await.unwrap(), None);
    // Renewing keeps the epoch and never shortens the lease.
    let renewed = store.acquire_lease(&run, "w1", NOW + 9, NOW + 20).await.unwrap().unwrap();
    assert_eq!(renewed, Lease { until: NOW + 20, ..first.clone() });
    let shorter = store.acquire_lease(&run, "w1", NOW + 9, NOW + 12).await.unwrap().unwrap();
    assert_eq!(shorter, renewed);
    assert_eq!(store.acquire_lease(&run, "w2", NOW + 19, NOW + 30).await.unwrap(), None);
    // The lease expires at its end, for other workers and for its holder.
    let second = store.acquire_lease(&run, "w2", NOW + 20, NOW + 30).await.unwrap().unwrap();
    assert_eq!((second.epoch, second.worker.as_str()), (2, "w2"));
    assert_eq!(store.acquire_lease(&run, "w1", NOW + 21, NOW + 40).await.unwrap(), None);
    let third = store.acquire_lease(&run, "w2", NOW + 30, NOW + 40).await.unwrap().unwrap();
    assert_eq!(third.epoch, 3);
}

pub async fn a_released_lease_is_free(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    sample::create_run_at_version(&*store, &run, 1).await;
    let first = store.acquire_lease(&run, "w1", NOW, NOW + 10).await.unwrap().unwrap();
    store.release_lease(&first).await.unwrap();
    assert_eq!(store.load_head(&run).await.unwrap().unwrap().lease, None);
    let second = store.acquire_lease(&run, "w2", NOW, NOW + 10).await.unwrap().unwrap();
    assert_eq!(second.epoch, 2);
    // Releasing twice, or too late, has no effect.
    store.release_lease(&first).await.unwrap();
    assert_eq!(store.load_head(&run).await.unwrap().unwrap().lease, Some(second));
    store.release_lease(&Lease { run: RunId::local("nobody"), ..first }).await.unwrap();
}

pub async fn a_late_worker_is_fenced(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    sample::create_run_at_version(&*store, &run, 1).await;
    let under = |lease: &Lease, expected| RunCommit {
        lease: Some(lease.clone()),
        ..sample::full_step(&run, expected, "late")
    };
    let first = store.acquire_lease(&run, "w1", NOW, NOW + 10).await.unwrap().unwrap();
    let second = store.acquire_lease(&run, "w2", NOW + 10, NOW + 20).await.unwrap().unwrap();
    let before = load_stored_run(&*store, &run).await;
    // The late worker is fenced at every version it may have seen.
    for expected in [0, 1] {
        let late = store.append_commit(under(&first, expected)).await;
        assert!(matches!(late, Err(StoreError::Fenced { epoch: 1, current: 2 })), "{late:?}");
    }
    let forged =
        store.append_commit(under(&Lease { worker: "w1".into(), ..second.clone() }, 1)).await;
    assert!(matches!(forged, Err(StoreError::Fenced { epoch: 2, current: 2 })), "{forged:?}");
    assert_eq!(load_stored_run(&*store, &run).await, before);
    store
        .append_commit(RunCommit { lease: Some(second.clone()), ..sample::step(&run, 1) })
        .await
        .unwrap();
    // Without a lease, the version alone decides: a person's answer needs no worker.
    store.append_commit(sample::step(&run, 2)).await.unwrap();
    store.release_lease(&second).await.unwrap();
    let released = store.append_commit(under(&second, 3)).await;
    assert!(matches!(released, Err(StoreError::Fenced { epoch: 2, current: 2 })), "{released:?}");
}

pub async fn a_commit_renews_its_lease(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    sample::create_run_at_version(&*store, &run, 1).await;
    let lease = store.acquire_lease(&run, "w1", NOW, NOW + 10).await.unwrap().unwrap();
    let later = Lease { until: NOW + 30, ..lease.clone() };
    store
        .append_commit(RunCommit { lease: Some(later.clone()), ..sample::step(&run, 1) })
        .await
        .unwrap();
    assert_eq!(store.load_head(&run).await.unwrap().unwrap().lease, Some(later.clone()));
    // A lease with an earlier expiry does not shorten it.
    store.append_commit(RunCommit { lease: Some(lease), ..sample::step(&run, 2) }).await.unwrap();
    assert_eq!(store.load_head(&run).await.unwrap().unwrap().lease, Some(later));
    assert_eq!(store.acquire_lease(&run, "w2", NOW + 29, NOW + 50).await.unwrap(), None);
}

pub async fn a_lease_needs_a_run_a_worker_and_a_future(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    let missing = store.acquire_lease(&run, "w", NOW, NOW + 1).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
    sample::create_run_at_version(&*store, &run, 1).await;
    for (worker, until) in [("", NOW + 1), ("w", NOW), ("w", NOW - 1)] {
        let answer = store.acquire_lease(&run, worker, NOW, until).await;
        assert!(matches!(answer, Err(StoreError::Malformed { .. })), "{answer:?}");
    }
    let lease = Lease { run: RunId::local("new"), worker: "w".into(), epoch: 0, until: NOW };
    let early = RunCommit { lease: Some(lease.clone()), ..sample::step(&lease.run, 0) };
    let answer = store.create_run(sample::new_run(), early).await;
    assert!(matches!(answer, Err(StoreError::Malformed { .. })), "{answer:?}");
}
