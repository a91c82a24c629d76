//! Cases: a run that has ended loses its bodies and keeps its hashes.

use std::sync::Arc;

use super::sample::{NOW, entry, grow, new_run, step, step_with_snapshot};
use crate::{
    Blob, Commit, EntryRow, Moment, Pruned, Pruning, RunId, Seal, SnapshotRow, Store, StoreError,
    TenantId,
};

fn seal() -> Seal {
    Seal { at: NOW + 100, digest: "seal".to_owned() }
}

fn pruning(run: &RunId, version: u64, since: Moment) -> Pruning {
    Pruning { run: run.clone(), version, seal: seal(), kept: Vec::new(), blobs: Vec::new(), since }
}

fn blob(digest: &str) -> Blob {
    Blob { digest: digest.to_owned(), bytes: digest.as_bytes().repeat(10) }
}

/// A step whose entry names bytes that come with it.
fn naming(run: &RunId, expected_version: u64, digest: &str) -> Commit {
    let mut commit = step(run, expected_version);
    commit.entry.body = format!(r#"{{"exchange":"{digest}"}}"#);
    Commit { blobs: vec![blob(digest)], ..commit }
}

fn emptied(last: u64) -> Vec<EntryRow> {
    (1..=last).map(|version| EntryRow { body: String::new(), ..entry(version) }).collect()
}

pub async fn a_pruned_run_keeps_its_hashes_and_its_seal(store: Arc<dyn Store>) {
    let (run, other) = (RunId::local("r"), RunId::local("other"));
    for run in [&run, &other] {
        grow(&*store, run, 2).await;
        store.append(step_with_snapshot(run, 2)).await.unwrap();
        store.append(Commit { key: Some("k".into()), ..step_with_snapshot(run, 3) }).await.unwrap();
    }
    let before = store.head(&run).await.unwrap().unwrap();
    assert_eq!(before.pruned, None);
    let kept = vec![
        SnapshotRow { version: 2, seq: 4, body: "two".to_owned() },
        SnapshotRow { version: 4, seq: 8, body: r#"{"at":4}"#.to_owned() },
    ];
    let since = store.moment().await.unwrap();
    let asked = Pruning { kept: kept.clone(), ..pruning(&run, 4, since) };
    let pruned = store.prune(&asked).await.unwrap();
    let bodies: usize = (1..=4).map(|version| entry(version).body.len()).sum();
    let bytes = (bodies + r#"{"at":3}"#.len()) as u64;
    assert_eq!(pruned, Pruned { versions: 4, snapshots: 1, blobs: 0, bytes });
    let after = store.head(&run).await.unwrap().unwrap();
    assert_eq!(after, crate::Head { pruned: Some(seal()), ..before });
    let all = crate::RunFilter::newest(TenantId::default(), 10);
    let listed = store.runs(&all).await.unwrap();
    assert!(listed.iter().any(|head| head.pruned == Some(seal())));
    assert_eq!(store.log(&run, 0, 10).await.unwrap(), emptied(4));
    assert_eq!(store.keyed(&run, "k").await.unwrap(), Some(4));
    // Whoever began at a version that is kept still finds it.
    for state in &kept {
        let loaded = store.load(&run, Some(state.version)).await.unwrap().unwrap();
        assert_eq!((loaded.snapshot, loaded.entries), (Some(state.clone()), Vec::new()));
    }
    let between = store.load(&run, Some(3)).await.unwrap().unwrap();
    assert_eq!(
        (between.snapshot, between.entries),
        (Some(kept[0].clone()), vec![emptied(3)[2].clone()])
    );
    // Twice is once, and others are as they were.
    assert_eq!(store.prune(&asked).await.unwrap(), Pruned::default());
    assert_eq!(store.log(&other, 0, 1).await.unwrap(), [entry(1)]);
    assert_eq!(store.head(&other).await.unwrap().unwrap().pruned, None);
    assert_eq!(store.load(&other, Some(3)).await.unwrap().unwrap().snapshot.unwrap().version, 3);
}

pub async fn what_is_elsewhere_or_absurd_is_not_pruned(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    grow(&*store, &run, 3).await;
    let since = store.moment().await.unwrap();
    let late = store.prune(&pruning(&run, 2, since)).await;
    assert!(matches!(late, Err(StoreError::Conflict { expected: 2, found: 3 })), "{late:?}");
    let nobody = store.prune(&pruning(&RunId::local("s"), 3, since)).await;
    assert!(matches!(nobody, Err(StoreError::NotFound { .. })), "{nobody:?}");
    let beyond = SnapshotRow { version: 4, seq: 8, body: "four".to_owned() };
    let unsealed = Seal { at: NOW, digest: String::new() };
    for absurd in [
        Pruning { kept: vec![beyond], ..pruning(&run, 3, since) },
        Pruning { seal: unsealed, ..pruning(&run, 3, since) },
    ] {
        let refused = store.prune(&absurd).await;
        assert!(matches!(refused, Err(StoreError::Malformed { .. })), "{refused:?}");
    }
    assert_eq!(store.log(&run, 0, 10).await.unwrap(), super::sample::entries(3));
    assert_eq!(store.head(&run).await.unwrap().unwrap().pruned, None);
}

pub async fn bytes_go_unless_somebody_has_named_them_since(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    let digests = ["digest-gone", "digest-named-since", "digest-kept"];
    store.create(new_run(), naming(&run, 0, digests[0])).await.unwrap();
    store.append(naming(&run, 1, digests[1])).await.unwrap();
    store.append(naming(&run, 2, digests[2])).await.unwrap();
    let foreign = RunId::new(TenantId::new("foreign"), "r");
    store.create(new_run(), naming(&foreign, 0, digests[0])).await.unwrap();
    let since = store.moment().await.unwrap();
    // The bytes are there already, and so they are not kept again.
    let later = RunId::local("later");
    store.create(new_run(), naming(&later, 0, digests[1])).await.unwrap();
    let blobs = vec![digests[0].to_owned(), digests[1].to_owned(), "never".to_owned()];
    let pruned = store.prune(&Pruning { blobs, ..pruning(&run, 3, since) }).await.unwrap();
    assert_eq!((pruned.versions, pruned.blobs), (3, 1));
    let tenant = &run.tenant;
    assert_eq!(store.blob(tenant, digests[0]).await.unwrap(), None);
    assert!(store.blob(tenant, digests[1]).await.unwrap().is_some(), "named since");
    assert!(store.blob(tenant, digests[2]).await.unwrap().is_some(), "not asked for");
    assert!(store.blob(&foreign.tenant, digests[0]).await.unwrap().is_some(), "another's");
    let theirs = store.log(&foreign, 0, 10).await.unwrap();
    assert!(theirs[0].body.contains(digests[0]), "{theirs:?}");
}
