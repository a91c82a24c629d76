//! Cases: which runs are due, which worker acquires them, and which workers are alive.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::sample::{self, NOW};
use crate::{DueRunsRequest, Lease, RunCommit, RunId, Store, StoreError, TenantId, WorkerInfo};

/// Duration of a lease in these cases, in milliseconds.
const LEASE_TERM_MS: i64 = 10;

fn run_of(tenant: &str, id: impl Into<String>) -> RunId {
    RunId::new(TenantId::new(tenant), id)
}

/// Creates a run that is due at a time, or never.
async fn create_due_run(store: &dyn Store, run: &RunId, wake_at: Option<i64>) {
    let commit = RunCommit { wake_at, ..sample::step(run, 0) };
    store.create_run(sample::new_run(), commit).await.unwrap();
}

fn due_runs_request(worker: &str, now: i64, limit: usize) -> DueRunsRequest {
    DueRunsRequest::new(worker, now, now + LEASE_TERM_MS, limit)
}

async fn acquire_runs(store: &dyn Store, worker: &str, now: i64, limit: usize) -> Vec<Lease> {
    store.acquire_due_runs(&due_runs_request(worker, now, limit)).await.unwrap()
}

fn run_names(leases: &[Lease]) -> Vec<String> {
    leases.iter().map(|lease| lease.run.to_string()).collect()
}

pub async fn due_is_what_must_wake_and_nobody_holds(store: Arc<dyn Store>) {
    for (id, wake_at) in [
        ("asleep", None),
        ("later", Some(NOW + 50)),
        ("b-woken", Some(NOW - 1)),
        ("a-woken", Some(NOW)),
        ("c-woken", Some(NOW)),
        ("held", Some(NOW - 2)),
    ] {
        create_due_run(&*store, &RunId::local(id), wake_at).await;
    }
    let others =
        store.acquire_lease(&RunId::local("held"), "other", NOW - 5, NOW + 5).await.unwrap();
    assert!(acquire_runs(&*store, "w", NOW, 0).await.is_empty());
    let first = acquire_runs(&*store, "w", NOW, 1).await;
    let expected = Lease {
        run: RunId::local("b-woken"),
        worker: "w".into(),
        epoch: 1,
        until: NOW + LEASE_TERM_MS,
    };
    assert_eq!(first, std::slice::from_ref(&expected));
    let head = store.load_head(&expected.run).await.unwrap().unwrap();
    assert_eq!((head.lease, head.wake_at), (Some(expected), Some(NOW - 1)));
    assert_eq!(
        run_names(&acquire_runs(&*store, "w", NOW, 9).await),
        ["default/a-woken", "default/c-woken"]
    );
    // A held run is acquired neither again by its holder nor by another worker.
    assert!(acquire_runs(&*store, "w", NOW, 9).await.is_empty());
    assert!(acquire_runs(&*store, "v", NOW + 4, 9).await.is_empty());
    assert_eq!(run_names(&acquire_runs(&*store, "v", NOW + 5, 9).await), ["default/held"]);
    // The former holder has lost the run.
    let late = RunCommit { lease: others, ..sample::step(&RunId::local("held"), 1) };
    let late = store.append_commit(late).await;
    assert!(matches!(late, Err(StoreError::Fenced { epoch: 1, current: 2 })), "{late:?}");
}

pub async fn a_dead_workers_runs_are_taken_when_its_leases_are_over(store: Arc<dyn Store>) {
    for id in ["a", "b", "c"] {
        create_due_run(&*store, &RunId::local(id), Some(NOW)).await;
    }
    assert_eq!(acquire_runs(&*store, "dead", NOW, 9).await.len(), 3);
    // The worker's last action was a step, which renewed one of the leases.
    let run = RunId::local("b");
    let lease = Lease { run: run.clone(), worker: "dead".into(), epoch: 1, until: NOW + 15 };
    let step = RunCommit { lease: Some(lease), wake_at: Some(NOW + 1), ..sample::step(&run, 1) };
    store.append_commit(step).await.unwrap();
    assert!(acquire_runs(&*store, "w", NOW + LEASE_TERM_MS - 1, 9).await.is_empty());
    assert_eq!(
        run_names(&acquire_runs(&*store, "w", NOW + LEASE_TERM_MS, 9).await),
        ["default/a", "default/c"]
    );
    let rest = acquire_runs(&*store, "w", NOW + 15, 9).await;
    assert_eq!((run_names(&rest), rest[0].epoch), (vec!["default/b".to_owned()], 2));
}

pub async fn a_run_that_only_waits_is_never_due(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    // The run waits for a person and for a child run, for which it has a pending action.
    let commit = RunCommit {
        actions: vec![sample::action("child")],
        waits_opened: vec![sample::wait(&run, "question", None)],
        ..sample::step(&run, 0)
    };
    store.create_run(sample::new_run(), commit).await.unwrap();
    assert!(acquire_runs(&*store, "w", i64::MAX - LEASE_TERM_MS, 9).await.is_empty());
    // An input makes the run due.
    store.append_commit(RunCommit { wake_at: Some(NOW), ..sample::step(&run, 1) }).await.unwrap();
    assert_eq!(run_names(&acquire_runs(&*store, "w", NOW + 2, 9).await), ["default/r"]);
}

pub async fn what_rests_is_due_when_it_says(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    create_due_run(&*store, &run, Some(NOW)).await;
    let first = acquire_runs(&*store, "w", NOW, 9).await.remove(0);
    assert!(store.suspend_run(&first, 1, Some(NOW + 30)).await.unwrap());
    let head = store.load_head(&run).await.unwrap().unwrap();
    assert_eq!((head.lease, head.wake_at), (None, Some(NOW + 30)));
    assert!(acquire_runs(&*store, "w", NOW + 29, 9).await.is_empty());
    let second = acquire_runs(&*store, "w", NOW + 30, 9).await.remove(0);
    assert_eq!(second.epoch, 2);
    // A worker that lost the lease suspends the run: no effect.
    assert!(!store.suspend_run(&first, 1, None).await.unwrap());
    assert_eq!(store.list_leases(NOW + 30, 9).await.unwrap(), std::slice::from_ref(&second));
    assert!(store.suspend_run(&second, 1, None).await.unwrap());
    assert!(acquire_runs(&*store, "w", i64::MAX - LEASE_TERM_MS, 9).await.is_empty());
    let nobody = Lease { run: RunId::local("nobody"), ..second };
    assert!(!store.suspend_run(&nobody, 1, None).await.unwrap());
}

pub async fn what_came_meanwhile_is_not_put_to_rest(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    create_due_run(&*store, &run, Some(NOW)).await;
    let lease = acquire_runs(&*store, "w", NOW, 9).await.remove(0);
    // A person answered just before the worker suspended the run.
    store
        .append_commit(RunCommit { wake_at: Some(NOW + 1), ..sample::step(&run, 1) })
        .await
        .unwrap();
    assert!(!store.suspend_run(&lease, 1, None).await.unwrap());
    let again = acquire_runs(&*store, "w", NOW + 2, 9).await;
    assert_eq!((run_names(&again), again[0].epoch), (vec!["default/r".to_owned()], 2));
}

pub async fn a_run_keeps_its_place_while_it_goes_on(store: Arc<dyn Store>) {
    let (old, new) = (RunId::local("z-old"), RunId::local("a-new"));
    create_due_run(&*store, &old, Some(NOW)).await;
    create_due_run(&*store, &new, Some(NOW + 1)).await;
    // Version 2 is created at NOW + 2.
    store
        .append_commit(RunCommit { wake_at: Some(NOW + 2), ..sample::step(&old, 1) })
        .await
        .unwrap();
    assert_eq!(store.load_head(&old).await.unwrap().unwrap().wake_at, Some(NOW));
    assert_eq!(run_names(&acquire_runs(&*store, "w", NOW + 2, 1).await), ["default/z-old"]);
    // A run that sleeps and wakes again is due since its new wake time.
    store
        .append_commit(RunCommit { wake_at: Some(NOW + 9), ..sample::step(&old, 2) })
        .await
        .unwrap();
    assert_eq!(store.load_head(&old).await.unwrap().unwrap().wake_at, Some(NOW + 9));
    store
        .append_commit(RunCommit { wake_at: Some(NOW + 4), ..sample::step(&old, 3) })
        .await
        .unwrap();
    assert_eq!(store.load_head(&old).await.unwrap().unwrap().wake_at, Some(NOW + 4));
}

pub async fn tenants_are_served_in_turn(store: Arc<dyn Store>) {
    for number in 0..300 {
        create_due_run(&*store, &run_of("big", format!("{number:03}")), Some(NOW - 1000 + number))
            .await;
    }
    create_due_run(&*store, &run_of("aside", "1"), Some(NOW)).await;
    create_due_run(&*store, &run_of("small", "1"), Some(NOW)).await;
    create_due_run(&*store, &run_of("small", "2"), Some(NOW)).await;
    create_due_run(&*store, &run_of("waits", "1"), None).await;
    create_due_run(&*store, &run_of("waits", "2"), Some(NOW + 1)).await;
    let first = run_names(&acquire_runs(&*store, "w", NOW, 6).await);
    assert_eq!(first, ["aside/1", "big/000", "small/1", "big/001", "small/2", "big/002"]);
    // No other tenant has due runs: the remaining capacity goes to the one that has.
    assert_eq!(run_names(&acquire_runs(&*store, "w", NOW, 2).await), ["big/003", "big/004"]);
    create_due_run(&*store, &run_of("aside", "2"), Some(NOW)).await;
    create_due_run(&*store, &run_of("small", "3"), Some(NOW)).await;
    // The turn continues after the tenant that was served last, also when runs are acquired one by
    // one.
    let mut single = Vec::new();
    for _ in 0..4 {
        let one = acquire_runs(&*store, "w", NOW, 1).await;
        store.suspend_run(&one[0], 1, None).await.unwrap();
        single.extend(run_names(&one));
    }
    assert_eq!(single, ["small/3", "aside/2", "big/005", "big/006"]);
    assert_eq!(acquire_runs(&*store, "w", NOW, 1000).await.len(), 293);
}

pub async fn a_tenant_has_no_more_than_its_share(store: Arc<dyn Store>) {
    for tenant in ["a", "b"] {
        for number in 0..5 {
            create_due_run(&*store, &run_of(tenant, format!("{number}")), Some(NOW)).await;
        }
    }
    let share = |worker: &str, now, limit| DueRunsRequest {
        per_tenant: 2,
        ..due_runs_request(worker, now, limit)
    };
    let first = store.acquire_due_runs(&share("w", NOW, 3)).await.unwrap();
    assert_eq!(run_names(&first), ["a/0", "b/0", "a/1"]);
    // The limit counts the runs that any worker holds.
    assert_eq!(run_names(&store.acquire_due_runs(&share("v", NOW, 9)).await.unwrap()), ["b/1"]);
    assert!(store.acquire_due_runs(&share("u", NOW, 9)).await.unwrap().is_empty());
    store.suspend_run(&first[0], 1, None).await.unwrap();
    assert_eq!(run_names(&store.acquire_due_runs(&share("u", NOW, 9)).await.unwrap()), ["a/2"]);
    // An expired lease does not count.
    let later =
        run_names(&store.acquire_due_runs(&share("u", NOW + LEASE_TERM_MS, 9)).await.unwrap());
    assert_eq!(later, ["b/0", "a/1", "b/1", "a/2"]);
    let ours = DueRunsRequest {
        tenants: vec![TenantId::new("b")],
        ..due_runs_request("t", NOW + LEASE_TERM_MS, 9)
    };
    assert_eq!(run_names(&store.acquire_due_runs(&ours).await.unwrap()), ["b/2", "b/3", "b/4"]);
    let none =
        DueRunsRequest { per_tenant: 0, ..due_runs_request("u", NOW + 3 * LEASE_TERM_MS, 9) };
    assert!(store.acquire_due_runs(&none).await.unwrap().is_empty());
}

pub async fn what_is_held_is_told(store: Arc<dyn Store>) {
    for (tenant, id) in [("b", "1"), ("a", "2"), ("a", "1"), ("c", "1")] {
        create_due_run(&*store, &run_of(tenant, id), Some(NOW)).await;
    }
    let lease =
        store.acquire_lease(&run_of("b", "1"), "other", NOW, NOW + 5).await.unwrap().unwrap();
    let taken = acquire_runs(&*store, "w", NOW, 2).await;
    assert_eq!(run_names(&store.list_leases(NOW, 9).await.unwrap()), ["a/1", "b/1", "c/1"]);
    assert_eq!(run_names(&store.list_leases(NOW, 2).await.unwrap()), ["a/1", "b/1"]);
    assert_eq!(store.list_leases(NOW, 9).await.unwrap()[1], lease);
    assert_eq!(store.list_leases(NOW + 5, 9).await.unwrap(), taken);
    store.release_lease(&taken[0]).await.unwrap();
    assert_eq!(store.list_leases(NOW + 5, 9).await.unwrap(), taken[1..]);
    assert!(store.list_leases(NOW + LEASE_TERM_MS, 9).await.unwrap().is_empty());
}

pub async fn workers_come_and_go(store: Arc<dyn Store>) {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let worker = |name: &str| WorkerInfo {
        name: name.into(),
        host: "machine".into(),
        pid: 7,
        version: "0.1.0".into(),
        capacity: 16,
        started_at: NOW - 100,
    };
    assert!(store.list_workers(NOW).await.unwrap().is_empty());
    for name in ["w2", "w1", "w3"] {
        store.record_heartbeat(&worker(name), NOW, NOW + 30).await.unwrap();
    }
    for id in ["a", "b", "c"] {
        create_due_run(&*store, &RunId::local(id), Some(NOW)).await;
    }
    acquire_runs(&*store, "w1", NOW, 2).await;
    acquire_runs(&*store, "stranger", NOW, 2).await;
    store
        .record_heartbeat(&WorkerInfo { capacity: 4, ..worker("w1") }, NOW + 9, NOW + 39)
        .await
        .unwrap();
    store.remove_worker("w3").await.unwrap();
    store.remove_worker("nobody").await.unwrap();
    let rows = store.list_workers(NOW + 9).await.unwrap();
    let told: Vec<_> = rows
        .iter()
        .map(|row| (row.info.name.as_str(), row.info.capacity, row.seen_at, row.lease_count))
        .collect();
    assert_eq!(told, [("w1", 4, NOW + 9, 2), ("w2", 16, NOW, 0)]);
    assert_eq!(rows[1].info, worker("w2"));
    // A lost worker stays listed for a day; its leases expire by themselves.
    let rows = store.list_workers(NOW + 35).await.unwrap();
    let lost: Vec<_> =
        rows.iter().map(|row| (row.expires_at <= NOW + 35, row.lease_count)).collect();
    assert_eq!(lost, [(false, 0), (true, 0)]);
    store.record_heartbeat(&worker("w4"), NOW + 30 + DAY, NOW + 60 + DAY).await.unwrap();
    let rows = store.list_workers(NOW + 30 + DAY).await.unwrap();
    let left: Vec<_> = rows.iter().map(|row| row.info.name.as_str()).collect();
    assert_eq!(left, ["w1", "w4"]);
    for (wrong, until) in [(worker(""), NOW + 1), (worker("w\0"), NOW + 1), (worker("w"), NOW)] {
        let answer = store.record_heartbeat(&wrong, NOW, until).await;
        assert!(matches!(answer, Err(StoreError::Malformed { .. })), "{answer:?}");
    }
    let nobody = store.acquire_due_runs(&due_runs_request("", NOW, 1)).await;
    assert!(matches!(nobody, Err(StoreError::Malformed { .. })), "{nobody:?}");
}

pub async fn who_listens_hears_of_what_is_due(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    let mut wakes = store.subscribe_wakes();
    create_due_run(&*store, &run, Some(NOW)).await;
    wakes.wait_for_wake().await;
    let lease = acquire_runs(&*store, "w", NOW, 1).await.remove(0);
    // The lease is released in the middle of the work.
    store.release_lease(&lease).await.unwrap();
    wakes.wait_for_wake().await;
    let mut late = store.subscribe_wakes();
    let lease = acquire_runs(&*store, "w", NOW, 1).await.remove(0);
    store
        .append_commit(RunCommit { wake_at: Some(NOW + 2), ..sample::step(&run, 1) })
        .await
        .unwrap();
    late.wait_for_wake().await;
    wakes.wait_for_wake().await;
    assert!(!store.suspend_run(&lease, 1, None).await.unwrap());
    wakes.wait_for_wake().await;
}

pub async fn no_run_is_taken_by_two(store: Arc<dyn Store>) {
    const RUNS: usize = 60;
    for number in 0..RUNS {
        create_due_run(
            &*store,
            &run_of(["a", "b", "c"][number % 3], format!("{number:02}")),
            Some(NOW),
        )
        .await;
    }
    let takers = (0..8).map(|number| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let mut taken = Vec::new();
            loop {
                let more = acquire_runs(&*store, &format!("w{number}"), NOW, 3).await;
                if more.is_empty() {
                    return taken;
                }
                taken.extend(more);
            }
        })
    });
    let mut times: BTreeMap<RunId, usize> = BTreeMap::new();
    for taker in takers.collect::<Vec<_>>() {
        for lease in taker.await.unwrap() {
            assert_eq!(lease.epoch, 1);
            *times.entry(lease.run).or_default() += 1;
        }
    }
    assert_eq!((times.len(), times.values().max()), (RUNS, Some(&1)));
}
