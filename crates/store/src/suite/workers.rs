//! Cases: what is due, who gets it, and who is there to do it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::sample::{self, NOW};
use crate::{Commit, Lease, RunId, Store, StoreError, Taking, TenantId, Worker};

/// How long a lease lasts here.
const TERM: i64 = 10;

fn of(tenant: &str, id: impl Into<String>) -> RunId {
    RunId::new(TenantId::new(tenant), id)
}

/// A run that is due at a moment, or never.
async fn begin(store: &dyn Store, run: &RunId, wake_at: Option<i64>) {
    let commit = Commit { wake_at, ..sample::step(run, 0) };
    store.create(sample::new_run(), commit).await.unwrap();
}

fn taking(worker: &str, now: i64, limit: usize) -> Taking {
    Taking::new(worker, now, now + TERM, limit)
}

async fn take(store: &dyn Store, worker: &str, now: i64, limit: usize) -> Vec<Lease> {
    store.take(&taking(worker, now, limit)).await.unwrap()
}

fn names(leases: &[Lease]) -> Vec<String> {
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
        begin(&*store, &RunId::local(id), wake_at).await;
    }
    let others = store.lease(&RunId::local("held"), "other", NOW - 5, NOW + 5).await.unwrap();
    assert!(take(&*store, "w", NOW, 0).await.is_empty());
    let first = take(&*store, "w", NOW, 1).await;
    let expected =
        Lease { run: RunId::local("b-woken"), worker: "w".into(), epoch: 1, until: NOW + TERM };
    assert_eq!(first, std::slice::from_ref(&expected));
    let head = store.head(&expected.run).await.unwrap().unwrap();
    assert_eq!((head.lease, head.wake_at), (Some(expected), Some(NOW - 1)));
    assert_eq!(names(&take(&*store, "w", NOW, 9).await), ["local/a-woken", "local/c-woken"]);
    // What the worker has it does not get again, and nobody else does.
    assert!(take(&*store, "w", NOW, 9).await.is_empty());
    assert!(take(&*store, "v", NOW + 4, 9).await.is_empty());
    assert_eq!(names(&take(&*store, "v", NOW + 5, 9).await), ["local/held"]);
    // Who held it has lost it.
    let late = Commit { lease: others, ..sample::step(&RunId::local("held"), 1) };
    let late = store.append(late).await;
    assert!(matches!(late, Err(StoreError::Fenced { epoch: 1, current: 2 })), "{late:?}");
}

pub async fn a_dead_workers_runs_are_taken_when_its_leases_are_over(store: Arc<dyn Store>) {
    for id in ["a", "b", "c"] {
        begin(&*store, &RunId::local(id), Some(NOW)).await;
    }
    assert_eq!(take(&*store, "dead", NOW, 9).await.len(), 3);
    // The last thing it did was a step, which renewed one of the leases.
    let run = RunId::local("b");
    let lease = Lease { run: run.clone(), worker: "dead".into(), epoch: 1, until: NOW + 15 };
    let step = Commit { lease: Some(lease), wake_at: Some(NOW + 1), ..sample::step(&run, 1) };
    store.append(step).await.unwrap();
    assert!(take(&*store, "w", NOW + TERM - 1, 9).await.is_empty());
    assert_eq!(names(&take(&*store, "w", NOW + TERM, 9).await), ["local/a", "local/c"]);
    let rest = take(&*store, "w", NOW + 15, 9).await;
    assert_eq!((names(&rest), rest[0].epoch), (vec!["local/b".to_owned()], 2));
}

pub async fn a_run_that_only_waits_is_never_due(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    // It waits for a person and for another run, and has an order out for that.
    let commit = Commit {
        actions: vec![sample::action("child")],
        waits_opened: vec![sample::wait(&run, "question", None)],
        ..sample::step(&run, 0)
    };
    store.create(sample::new_run(), commit).await.unwrap();
    assert!(take(&*store, "w", i64::MAX - TERM, 9).await.is_empty());
    // Until somebody gives it something to do.
    store.append(Commit { wake_at: Some(NOW), ..sample::step(&run, 1) }).await.unwrap();
    assert_eq!(names(&take(&*store, "w", NOW + 2, 9).await), ["local/r"]);
}

pub async fn what_rests_is_due_when_it_says(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    begin(&*store, &run, Some(NOW)).await;
    let first = take(&*store, "w", NOW, 9).await.remove(0);
    assert!(store.rest(&first, 1, Some(NOW + 30)).await.unwrap());
    let head = store.head(&run).await.unwrap().unwrap();
    assert_eq!((head.lease, head.wake_at), (None, Some(NOW + 30)));
    assert!(take(&*store, "w", NOW + 29, 9).await.is_empty());
    let second = take(&*store, "w", NOW + 30, 9).await.remove(0);
    assert_eq!(second.epoch, 2);
    // Given back by who has lost it: nothing happens.
    assert!(!store.rest(&first, 1, None).await.unwrap());
    assert_eq!(store.held(NOW + 30, 9).await.unwrap(), std::slice::from_ref(&second));
    assert!(store.rest(&second, 1, None).await.unwrap());
    assert!(take(&*store, "w", i64::MAX - TERM, 9).await.is_empty());
    let nobody = Lease { run: RunId::local("nobody"), ..second };
    assert!(!store.rest(&nobody, 1, None).await.unwrap());
}

pub async fn what_came_meanwhile_is_not_put_to_rest(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    begin(&*store, &run, Some(NOW)).await;
    let lease = take(&*store, "w", NOW, 9).await.remove(0);
    // A person answered while the worker was about to leave.
    store.append(Commit { wake_at: Some(NOW + 1), ..sample::step(&run, 1) }).await.unwrap();
    assert!(!store.rest(&lease, 1, None).await.unwrap());
    let again = take(&*store, "w", NOW + 2, 9).await;
    assert_eq!((names(&again), again[0].epoch), (vec!["local/r".to_owned()], 2));
}

pub async fn a_run_keeps_its_place_while_it_goes_on(store: Arc<dyn Store>) {
    let (old, new) = (RunId::local("z-old"), RunId::local("a-new"));
    begin(&*store, &old, Some(NOW)).await;
    begin(&*store, &new, Some(NOW + 1)).await;
    // Version 2 comes at NOW + 2.
    store.append(Commit { wake_at: Some(NOW + 2), ..sample::step(&old, 1) }).await.unwrap();
    assert_eq!(store.head(&old).await.unwrap().unwrap().wake_at, Some(NOW));
    assert_eq!(names(&take(&*store, "w", NOW + 2, 1).await), ["local/z-old"]);
    // One that goes to sleep and wakes again is due since then.
    store.append(Commit { wake_at: Some(NOW + 9), ..sample::step(&old, 2) }).await.unwrap();
    assert_eq!(store.head(&old).await.unwrap().unwrap().wake_at, Some(NOW + 9));
    store.append(Commit { wake_at: Some(NOW + 4), ..sample::step(&old, 3) }).await.unwrap();
    assert_eq!(store.head(&old).await.unwrap().unwrap().wake_at, Some(NOW + 4));
}

pub async fn tenants_are_served_in_turn(store: Arc<dyn Store>) {
    for number in 0..300 {
        begin(&*store, &of("big", format!("{number:03}")), Some(NOW - 1000 + number)).await;
    }
    begin(&*store, &of("aside", "1"), Some(NOW)).await;
    begin(&*store, &of("small", "1"), Some(NOW)).await;
    begin(&*store, &of("small", "2"), Some(NOW)).await;
    begin(&*store, &of("waits", "1"), None).await;
    begin(&*store, &of("waits", "2"), Some(NOW + 1)).await;
    let first = names(&take(&*store, "w", NOW, 6).await);
    assert_eq!(first, ["aside/1", "big/000", "small/1", "big/001", "small/2", "big/002"]);
    // Nobody else has anything: the rest goes to the one who has.
    assert_eq!(names(&take(&*store, "w", NOW, 2).await), ["big/003", "big/004"]);
    begin(&*store, &of("aside", "2"), Some(NOW)).await;
    begin(&*store, &of("small", "3"), Some(NOW)).await;
    // The turn goes on after the one that was served last, also where runs are taken one by one.
    let mut single = Vec::new();
    for _ in 0..4 {
        let one = take(&*store, "w", NOW, 1).await;
        store.rest(&one[0], 1, None).await.unwrap();
        single.extend(names(&one));
    }
    assert_eq!(single, ["small/3", "aside/2", "big/005", "big/006"]);
    assert_eq!(take(&*store, "w", NOW, 1000).await.len(), 293);
}

pub async fn a_tenant_has_no_more_than_its_share(store: Arc<dyn Store>) {
    for tenant in ["a", "b"] {
        for number in 0..5 {
            begin(&*store, &of(tenant, format!("{number}")), Some(NOW)).await;
        }
    }
    let share = |worker: &str, now, limit| Taking { per_tenant: 2, ..taking(worker, now, limit) };
    let first = store.take(&share("w", NOW, 3)).await.unwrap();
    assert_eq!(names(&first), ["a/0", "b/0", "a/1"]);
    // What anybody holds counts.
    assert_eq!(names(&store.take(&share("v", NOW, 9)).await.unwrap()), ["b/1"]);
    assert!(store.take(&share("u", NOW, 9)).await.unwrap().is_empty());
    store.rest(&first[0], 1, None).await.unwrap();
    assert_eq!(names(&store.take(&share("u", NOW, 9)).await.unwrap()), ["a/2"]);
    // A lease that is over does not.
    let later = names(&store.take(&share("u", NOW + TERM, 9)).await.unwrap());
    assert_eq!(later, ["b/0", "a/1", "b/1", "a/2"]);
    let ours = Taking { tenants: vec![TenantId::new("b")], ..taking("t", NOW + TERM, 9) };
    assert_eq!(names(&store.take(&ours).await.unwrap()), ["b/2", "b/3", "b/4"]);
    let none = Taking { per_tenant: 0, ..taking("u", NOW + 3 * TERM, 9) };
    assert!(store.take(&none).await.unwrap().is_empty());
}

pub async fn what_is_held_is_told(store: Arc<dyn Store>) {
    for (tenant, id) in [("b", "1"), ("a", "2"), ("a", "1"), ("c", "1")] {
        begin(&*store, &of(tenant, id), Some(NOW)).await;
    }
    let lease = store.lease(&of("b", "1"), "other", NOW, NOW + 5).await.unwrap().unwrap();
    let taken = take(&*store, "w", NOW, 2).await;
    assert_eq!(names(&store.held(NOW, 9).await.unwrap()), ["a/1", "b/1", "c/1"]);
    assert_eq!(names(&store.held(NOW, 2).await.unwrap()), ["a/1", "b/1"]);
    assert_eq!(store.held(NOW, 9).await.unwrap()[1], lease);
    assert_eq!(store.held(NOW + 5, 9).await.unwrap(), taken);
    store.release(&taken[0]).await.unwrap();
    assert_eq!(store.held(NOW + 5, 9).await.unwrap(), taken[1..]);
    assert!(store.held(NOW + TERM, 9).await.unwrap().is_empty());
}

pub async fn workers_come_and_go(store: Arc<dyn Store>) {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let worker = |name: &str| Worker {
        name: name.into(),
        host: "machine".into(),
        pid: 7,
        version: "0.1.0".into(),
        capacity: 16,
        started_at: NOW - 100,
    };
    assert!(store.workers(NOW).await.unwrap().is_empty());
    for name in ["w2", "w1", "w3"] {
        store.announce(&worker(name), NOW, NOW + 30).await.unwrap();
    }
    for id in ["a", "b", "c"] {
        begin(&*store, &RunId::local(id), Some(NOW)).await;
    }
    take(&*store, "w1", NOW, 2).await;
    take(&*store, "stranger", NOW, 2).await;
    store.announce(&Worker { capacity: 4, ..worker("w1") }, NOW + 9, NOW + 39).await.unwrap();
    store.retire("w3").await.unwrap();
    store.retire("nobody").await.unwrap();
    let rows = store.workers(NOW + 9).await.unwrap();
    let told: Vec<_> = rows
        .iter()
        .map(|row| (row.worker.name.as_str(), row.worker.capacity, row.seen_at, row.holds))
        .collect();
    assert_eq!(told, [("w1", 4, NOW + 9, 2), ("w2", 16, NOW, 0)]);
    assert_eq!(rows[1].worker, worker("w2"));
    // One that was lost is seen to be, for a day; its leases are over by themselves.
    let rows = store.workers(NOW + 35).await.unwrap();
    let lost: Vec<_> = rows.iter().map(|row| (row.until <= NOW + 35, row.holds)).collect();
    assert_eq!(lost, [(false, 0), (true, 0)]);
    store.announce(&worker("w4"), NOW + 30 + DAY, NOW + 60 + DAY).await.unwrap();
    let rows = store.workers(NOW + 30 + DAY).await.unwrap();
    let left: Vec<_> = rows.iter().map(|row| row.worker.name.as_str()).collect();
    assert_eq!(left, ["w1", "w4"]);
    for (wrong, until) in [(worker(""), NOW + 1), (worker("w\0"), NOW + 1), (worker("w"), NOW)] {
        let answer = store.announce(&wrong, NOW, until).await;
        assert!(matches!(answer, Err(StoreError::Malformed { .. })), "{answer:?}");
    }
    let nobody = store.take(&taking("", NOW, 1)).await;
    assert!(matches!(nobody, Err(StoreError::Malformed { .. })), "{nobody:?}");
}

pub async fn who_listens_hears_of_what_is_due(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    let mut wakes = store.wakes();
    begin(&*store, &run, Some(NOW)).await;
    wakes.next().await;
    let lease = take(&*store, "w", NOW, 1).await.remove(0);
    // Given back in the middle of the work.
    store.release(&lease).await.unwrap();
    wakes.next().await;
    let mut late = store.wakes();
    let lease = take(&*store, "w", NOW, 1).await.remove(0);
    store.append(Commit { wake_at: Some(NOW + 2), ..sample::step(&run, 1) }).await.unwrap();
    late.next().await;
    wakes.next().await;
    assert!(!store.rest(&lease, 1, None).await.unwrap());
    wakes.next().await;
}

pub async fn no_run_is_taken_by_two(store: Arc<dyn Store>) {
    const RUNS: usize = 60;
    for number in 0..RUNS {
        begin(&*store, &of(["a", "b", "c"][number % 3], format!("{number:02}")), Some(NOW)).await;
    }
    let takers = (0..8).map(|number| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let mut taken = Vec::new();
            loop {
                let more = take(&*store, &format!("w{number}"), NOW, 3).await;
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
