//! The store that fails on purpose fails where it was told to, and nowhere else.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use countersign_store::RunStore as _;
use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_store::suite::sample;
use countersign_store::{
    FaultPlan, FaultyStore, InMemoryStore, InjectedFault, RunCommit, RunId, Store, StoreError,
};

fn around(inner: &Arc<InMemoryStore>, plan: FaultPlan) -> FaultyStore {
    FaultyStore::new(Arc::clone(inner) as Arc<dyn Store>, plan)
}

async fn version(store: &dyn Store) -> u64 {
    store.load_head(&RunId::local("r")).await.unwrap().map_or(0, |head| head.version)
}

#[tokio::test]
async fn before_keeps_nothing_and_after_keeps_all() {
    let inner = Arc::new(InMemoryStore::new());
    let script = BTreeMap::from([(2, InjectedFault::BeforeWrite), (3, InjectedFault::AfterWrite)]);
    let store = around(&inner, FaultPlan::Script(script));
    let run = RunId::local("r");
    sample::create_run_at_version(&store, &run, 1).await;
    let before = store.append_commit(sample::step(&run, 1)).await;
    assert!(matches!(before, Err(StoreError::Unavailable { .. })));
    assert_eq!(version(&store).await, 1);
    let after = store.append_commit(sample::step(&run, 1)).await;
    assert!(matches!(after, Err(StoreError::Unavailable { .. })));
    assert_eq!(version(&store).await, 2);
    store.append_commit(sample::step(&run, 2)).await.unwrap();
    assert_eq!(store.write_count(), 4);
}

#[tokio::test]
async fn a_refusal_is_told_even_where_the_answer_was_to_be_lost() {
    let inner = Arc::new(InMemoryStore::new());
    let store = around(&inner, FaultPlan::Script(BTreeMap::from([(2, InjectedFault::AfterWrite)])));
    let run = RunId::local("r");
    sample::create_run_at_version(&store, &run, 1).await;
    let refused = store.append_commit(sample::step(&run, 7)).await;
    assert!(matches!(refused, Err(StoreError::Conflict { .. })));
}

#[tokio::test]
async fn unheard_keeps_all_and_never_ends() {
    let inner = Arc::new(InMemoryStore::new());
    let store = around(&inner, FaultPlan::Script(BTreeMap::from([(1, InjectedFault::LostReply)])));
    let run = RunId::local("r");
    let mut asked = store.create_run(sample::new_run(), sample::step(&run, 0));
    let ended = tokio::select! {
        biased;
        _ = &mut asked => true,
        () = std::future::ready(()) => false,
    };
    assert!(!ended);
    assert_eq!(version(&*inner).await, 1);
}

/// Whoever is stopped at any commit, on either side of it, and begins again with keys, does each step
/// exactly once.
#[tokio::test]
async fn a_crash_at_every_write_can_be_gone_on_from() {
    async fn work(store: &dyn Store) -> Result<(), StoreError> {
        let run = RunId::local("r");
        for expected in 0..5 {
            let idempotency_key = Some(format!("input-{expected}"));
            let commit = RunCommit { idempotency_key, ..sample::step(&run, expected) };
            let kept = match expected {
                0 => store.create_run(sample::new_run(), commit).await,
                _ => store.append_commit(commit).await,
            };
            match kept {
                Ok(()) | Err(StoreError::DuplicateKey { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }
    let inner = Arc::new(InMemoryStore::new());
    let well = around(&inner, FaultPlan::NoFaults);
    work(&well).await.unwrap();
    let expected = sample::load_stored_run(&*inner, &RunId::local("r")).await;
    for write in 1..=well.write_count() {
        for fault in [InjectedFault::BeforeWrite, InjectedFault::AfterWrite] {
            let inner = Arc::new(InMemoryStore::new());
            let store = around(&inner, FaultPlan::Crash { write, fault });
            work(&store).await.unwrap_err();
            let dead = store.load_head(&RunId::local("r")).await;
            assert!(matches!(dead, Err(StoreError::Unavailable { .. })));
            let kept = if fault == InjectedFault::AfterWrite { write } else { write - 1 };
            assert_eq!(version(&*inner).await, kept);
            work(&around(&inner, FaultPlan::NoFaults)).await.unwrap();
            assert_eq!(sample::load_stored_run(&*inner, &RunId::local("r")).await, expected);
        }
    }
}

#[tokio::test]
async fn a_seed_fails_the_same_writes_again() {
    async fn fates(seed: u64) -> Vec<(bool, u64)> {
        let inner = Arc::new(InMemoryStore::new());
        let store = around(&inner, FaultPlan::Seeded { seed, per_mille: 300 });
        let run = RunId::local("r");
        sample::create_run_at_version(&*inner, &run, 1).await;
        let mut fates = Vec::new();
        for _ in 0..200 {
            let expected = version(&*inner).await;
            let kept = store.append_commit(sample::step(&run, expected)).await.is_ok();
            fates.push((kept, version(&*inner).await - expected));
        }
        fates
    }
    let first = fates(1).await;
    assert_eq!(first, fates(1).await);
    assert_ne!(first, fates(2).await);
    let count = |fate| first.iter().filter(|found| **found == fate).count();
    let (kept, before, after) = (count((true, 1)), count((false, 0)), count((false, 1)));
    assert_eq!(kept + before + after, 200);
    assert!((110..170).contains(&kept) && before > 10 && after > 10, "{kept} {before} {after}");
}
