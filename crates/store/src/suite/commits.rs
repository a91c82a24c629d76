//! Cases: a store keeps a commit whole or not at all, and only once.

use std::sync::Arc;

use super::sample::{self, NOW, StoredRun, load_stored_run};
use crate::{DueRunsRequest, LoadedRun, RunCommit, RunHead, RunId, Store, StoreError};

pub async fn a_commit_is_kept_whole(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    let first = sample::full_step(&run, 0, "a");
    store.create_run(sample::new_run(), first.clone()).await.unwrap();
    let second = RunCommit {
        finished_actions: vec!["a-1".into()],
        waits_closed: vec!["a-wait".into()],
        ..sample::full_step(&run, 1, "b")
    };
    store.append_commit(second.clone()).await.unwrap();

    let head = RunHead {
        run: run.clone(),
        protocol: "sha256:aa".into(),
        workflow: "intake".into(),
        created_at: NOW,
        version: 2,
        seq: 4,
        hash: "hash-2".into(),
        status: "running".into(),
        phase: "phase-2".into(),
        updated_at: NOW + 2,
        summary: "step 2".into(),
        protocol_version: String::new(),
        started_by: None,
        parent: None,
        title: String::new(),
        asks: String::new(),
        ended_at: None,
        input_tokens: 0,
        output_tokens: 0,
        cost: 0,
        wake_at: Some(NOW + 50),
        lease: None,
        deaths: 0,
        pruned: None,
    };
    let expected = StoredRun {
        head: Some(head.clone()),
        loaded: Some(LoadedRun {
            head,
            version: 2,
            snapshot: second.snapshot,
            entries: Vec::new(),
        }),
        log: vec![first.entry, second.entry],
        actions: vec![sample::action("a-2"), sample::action("b-1"), sample::action("b-2")],
        waits: second.waits_opened,
    };
    assert_eq!(load_stored_run(&*store, &run).await, expected);
    for (mark, version) in [("a", 1), ("b", 2)] {
        let key = format!("{mark}-key");
        assert_eq!(store.find_key_version(&run, &key).await.unwrap(), Some(version));
        let blob = sample::blob(mark);
        assert_eq!(store.load_blob(&run.tenant, &blob.digest).await.unwrap(), Some(blob.bytes));
    }
}

pub async fn a_run_begins_once(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    sample::create_run_at_version(&*store, &run, 3).await;
    let before = load_stored_run(&*store, &run).await;
    let again = store.create_run(sample::new_run(), sample::full_step(&run, 0, "again")).await;
    assert!(matches!(again, Err(StoreError::Conflict { expected: 0, found: 3 })), "{again:?}");
    assert_eq!(load_stored_run(&*store, &run).await, before);
    assert_eq!(store.load_blob(&run.tenant, "sha256:again").await.unwrap(), None);
}

pub async fn a_conflict_leaves_nothing(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    sample::create_run_at_version(&*store, &run, 2).await;
    let before = load_stored_run(&*store, &run).await;
    for expected in [1, 3] {
        let late = store.append_commit(sample::full_step(&run, expected, "late")).await;
        let conflict = matches!(&late, Err(StoreError::Conflict { expected: told, found: 2 }) if *told == expected);
        assert!(conflict, "{late:?}");
        assert_eq!(load_stored_run(&*store, &run).await, before);
        assert_eq!(store.find_key_version(&run, "late-key").await.unwrap(), None);
        assert_eq!(store.load_blob(&run.tenant, "sha256:late").await.unwrap(), None);
        let taking = DueRunsRequest::new("w", NOW + 1000, NOW + 1001, 10);
        assert!(store.acquire_due_runs(&taking).await.unwrap().is_empty());
    }
    store.append_commit(sample::step(&run, 2)).await.unwrap();
}

pub async fn a_missing_run_is_told(store: Arc<dyn Store>) {
    let run = RunId::local("nobody");
    let answer = store.append_commit(sample::full_step(&run, 1, "a")).await;
    assert!(matches!(&answer, Err(StoreError::NotFound { run: told }) if *told == run));
    let nothing =
        StoredRun { head: None, loaded: None, log: vec![], actions: vec![], waits: vec![] };
    assert_eq!(load_stored_run(&*store, &run).await, nothing);
    assert_eq!(store.find_key_version(&run, "a-key").await.unwrap(), None);
    assert_eq!(store.load_blob(&run.tenant, "sha256:a").await.unwrap(), None);
}

pub async fn a_key_is_taken_once(store: Arc<dyn Store>) {
    let (run, other) = (RunId::local("r"), RunId::local("other"));
    sample::create_run_at_version(&*store, &run, 1).await;
    sample::create_run_at_version(&*store, &other, 1).await;
    let keyed = |run: &RunId, expected| RunCommit {
        idempotency_key: Some("Schlüssel".into()),
        ..sample::step(run, expected)
    };
    store.append_commit(keyed(&run, 1)).await.unwrap();
    let before = load_stored_run(&*store, &run).await;
    // Repeated unchanged, and decided again: both callers learn which version accepted the key.
    for expected in [1, 2] {
        let again = store.append_commit(keyed(&run, expected)).await;
        assert!(matches!(again, Err(StoreError::DuplicateKey { version: 2 })), "{again:?}");
    }
    assert_eq!(load_stored_run(&*store, &run).await, before);
    // Keys belong to one run.
    store.append_commit(keyed(&other, 1)).await.unwrap();
    assert_eq!(store.list_keys(&run).await.unwrap(), [("Schlüssel".to_owned(), 2)]);
    assert_eq!(store.list_keys(&RunId::local("nobody")).await.unwrap(), []);
}

pub async fn the_key_of_a_creation_is_taken_once(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    let first = RunCommit { idempotency_key: Some("k".into()), ..sample::step(&run, 0) };
    store.create_run(sample::new_run(), first.clone()).await.unwrap();
    store.append_commit(sample::step(&run, 1)).await.unwrap();
    let again = store.create_run(sample::new_run(), first).await;
    assert!(matches!(again, Err(StoreError::DuplicateKey { version: 1 })), "{again:?}");
}
