//! Cases: pruning removes the bodies of a run that has ended and keeps its hashes.

use std::sync::Arc;

use super::sample::{NOW, create_run_at_version, entry, new_run, step, step_with_snapshot};
use crate::{
    Blob, LogEntryRow, PruneRequest, PruneSeal, PruneStats, RunCommit, RunId, SnapshotRow, Store,
    StoreError, StoreWatermark, TenantId,
};

fn seal() -> PruneSeal {
    PruneSeal { pruned_at: NOW + 100, digest: "seal".to_owned() }
}

fn prune_request(run: &RunId, version: u64, since: StoreWatermark) -> PruneRequest {
    PruneRequest {
        run: run.clone(),
        version,
        seal: seal(),
        kept_snapshots: Vec::new(),
        blobs: Vec::new(),
        since,
    }
}

fn blob(digest: &str) -> Blob {
    Blob { digest: digest.to_owned(), bytes: digest.as_bytes().repeat(10) }
}

/// A step whose entry refers to a blob in the same commit.
fn step_with_blob(run: &RunId, expected_version: u64, digest: &str) -> RunCommit {
    let mut commit = step(run, expected_version);
    commit.entry.body = format!(r#"{{"exchange":"{digest}"}}"#);
    RunCommit { blobs: vec![blob(digest)], ..commit }
}

fn pruned_entries(last: u64) -> Vec<LogEntryRow> {
    (1..=last).map(|version| LogEntryRow { body: String::new(), ..entry(version) }).collect()
}

pub async fn a_pruned_run_keeps_its_hashes_and_its_seal(store: Arc<dyn Store>) {
    let (run, other) = (RunId::local("r"), RunId::local("other"));
    for run in [&run, &other] {
        create_run_at_version(&*store, run, 2).await;
        store.append_commit(step_with_snapshot(run, 2)).await.unwrap();
        store
            .append_commit(RunCommit {
                idempotency_key: Some("k".into()),
                ..step_with_snapshot(run, 3)
            })
            .await
            .unwrap();
    }
    let before = store.load_head(&run).await.unwrap().unwrap();
    assert_eq!(before.pruned, None);
    let kept = vec![
        SnapshotRow { version: 2, seq: 4, body: "two".to_owned() },
        SnapshotRow { version: 4, seq: 8, body: r#"{"at":4}"#.to_owned() },
    ];
    let since = store.read_watermark().await.unwrap();
    let asked = PruneRequest { kept_snapshots: kept.clone(), ..prune_request(&run, 4, since) };
    let pruned = store.prune_run(&asked).await.unwrap();
    let bodies: usize = (1..=4).map(|version| entry(version).body.len()).sum();
    let bytes = (bodies + r#"{"at":3}"#.len()) as u64;
    assert_eq!(pruned, PruneStats { versions: 4, snapshots: 1, blobs: 0, bytes });
    let after = store.load_head(&run).await.unwrap().unwrap();
    assert_eq!(after, crate::RunHead { pruned: Some(seal()), ..before });
    let all = crate::RunFilter::newest(TenantId::default(), 10);
    let listed = store.list_runs(&all).await.unwrap();
    assert!(listed.iter().any(|head| head.pruned == Some(seal())));
    assert_eq!(store.read_log(&run, 0, 10).await.unwrap(), pruned_entries(4));
    assert_eq!(store.find_key_version(&run, "k").await.unwrap(), Some(4));
    // A run that started from a kept version still finds it.
    for state in &kept {
        let loaded = store.load_run(&run, Some(state.version)).await.unwrap().unwrap();
        assert_eq!((loaded.snapshot, loaded.entries), (Some(state.clone()), Vec::new()));
    }
    let between = store.load_run(&run, Some(3)).await.unwrap().unwrap();
    assert_eq!(
        (between.snapshot, between.entries),
        (Some(kept[0].clone()), vec![pruned_entries(3)[2].clone()])
    );
    // Pruning twice has no further effect, and other runs are unchanged.
    assert_eq!(store.prune_run(&asked).await.unwrap(), PruneStats::default());
    assert_eq!(store.read_log(&other, 0, 1).await.unwrap(), [entry(1)]);
    assert_eq!(store.load_head(&other).await.unwrap().unwrap().pruned, None);
    assert_eq!(
        store.load_run(&other, Some(3)).await.unwrap().unwrap().snapshot.unwrap().version,
        3
    );
}

pub async fn what_is_elsewhere_or_absurd_is_not_pruned(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    create_run_at_version(&*store, &run, 3).await;
    let since = store.read_watermark().await.unwrap();
    let late = store.prune_run(&prune_request(&run, 2, since)).await;
    assert!(matches!(late, Err(StoreError::Conflict { expected: 2, found: 3 })), "{late:?}");
    let nobody = store.prune_run(&prune_request(&RunId::local("s"), 3, since)).await;
    assert!(matches!(nobody, Err(StoreError::NotFound { .. })), "{nobody:?}");
    let beyond = SnapshotRow { version: 4, seq: 8, body: "four".to_owned() };
    let unsealed = PruneSeal { pruned_at: NOW, digest: String::new() };
    for absurd in [
        PruneRequest { kept_snapshots: vec![beyond], ..prune_request(&run, 3, since) },
        PruneRequest { seal: unsealed, ..prune_request(&run, 3, since) },
    ] {
        let refused = store.prune_run(&absurd).await;
        assert!(matches!(refused, Err(StoreError::Malformed { .. })), "{refused:?}");
    }
    assert_eq!(store.read_log(&run, 0, 10).await.unwrap(), super::sample::entries(3));
    assert_eq!(store.load_head(&run).await.unwrap().unwrap().pruned, None);
}

pub async fn bytes_go_unless_somebody_has_named_them_since(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    let digests = ["digest-gone", "digest-named-since", "digest-kept"];
    store.create_run(new_run(), step_with_blob(&run, 0, digests[0])).await.unwrap();
    store.append_commit(step_with_blob(&run, 1, digests[1])).await.unwrap();
    store.append_commit(step_with_blob(&run, 2, digests[2])).await.unwrap();
    let foreign = RunId::new(TenantId::new("foreign"), "r");
    store.create_run(new_run(), step_with_blob(&foreign, 0, digests[0])).await.unwrap();
    let since = store.read_watermark().await.unwrap();
    // The blob exists already, so it is not stored again.
    let later = RunId::local("later");
    store.create_run(new_run(), step_with_blob(&later, 0, digests[1])).await.unwrap();
    let blobs = vec![digests[0].to_owned(), digests[1].to_owned(), "never".to_owned()];
    let pruned =
        store.prune_run(&PruneRequest { blobs, ..prune_request(&run, 3, since) }).await.unwrap();
    assert_eq!((pruned.versions, pruned.blobs), (3, 1));
    let tenant = &run.tenant;
    assert_eq!(store.load_blob(tenant, digests[0]).await.unwrap(), None);
    assert!(store.load_blob(tenant, digests[1]).await.unwrap().is_some(), "named since");
    assert!(store.load_blob(tenant, digests[2]).await.unwrap().is_some(), "not asked for");
    assert!(store.load_blob(&foreign.tenant, digests[0]).await.unwrap().is_some(), "another's");
    let theirs = store.read_log(&foreign, 0, 10).await.unwrap();
    assert!(theirs[0].body.contains(digests[0]), "{theirs:?}");
}
