//! Cases: reads return exactly the bytes that were written, at every version.

use std::sync::Arc;

use super::sample;
use crate::{Blob, RunCommit, RunId, Store, TenantId};

/// Text that is easily altered: combining marks, four-byte characters, quotes, line ends, unusual
/// spaces.
const TRICKY_TEXT: &str =
    "e\u{301} é 𝔘 👩‍👩‍👧 \"'; DROP TABLE events; --\r\n\t\u{feff}\u{2028}\u{ffff}\u{10ffff}\\u0000";

pub async fn entries_come_back_byte_for_byte(store: Arc<dyn Store>) {
    let run = RunId::new(TenantId::new("Büro 7"), format!("läufe/{TRICKY_TEXT}"));
    let mut commit = sample::full_step(&run, 0, TRICKY_TEXT);
    commit.entry.body = TRICKY_TEXT.into();
    commit.entry.hash = TRICKY_TEXT.into();
    commit.entry.time = i64::MIN;
    commit.actions[0].body = TRICKY_TEXT.into();
    commit.actions[0].kind = TRICKY_TEXT.into();
    commit.actions[1].body = String::new();
    commit.head.summary = TRICKY_TEXT.into();
    store.create_run(sample::new_run(), commit.clone()).await.unwrap();
    let told = sample::load_stored_run(&*store, &run).await;
    assert_eq!(told.log, [commit.entry]);
    assert_eq!(told.actions, commit.actions);
    assert_eq!(told.waits, commit.waits_opened);
    let head = told.head.unwrap();
    assert_eq!(
        (head.run, head.hash, head.summary),
        (run, TRICKY_TEXT.to_owned(), TRICKY_TEXT.to_owned())
    );
}

pub async fn pages_of_the_log_join(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    sample::create_run_at_version(&*store, &run, 10).await;
    let mut joined = Vec::new();
    let mut after = 0;
    loop {
        let page = store.read_log(&run, after, 3).await.unwrap();
        assert!(page.len() <= 3);
        let Some(last) = page.last() else { break };
        after = last.version;
        joined.extend(page);
    }
    assert_eq!(joined, sample::entries(10));
    assert!(store.read_log(&run, u64::MAX, 3).await.unwrap().is_empty());
    assert!(store.read_log(&run, 0, 0).await.unwrap().is_empty());
    assert!(store.read_log(&RunId::local("nobody"), 0, 3).await.unwrap().is_empty());
}

pub async fn every_version_loads_as_its_prefix(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    sample::create_run_at_version(&*store, &run, 12).await;
    let log = store.read_log(&run, 0, usize::MAX).await.unwrap();
    for version in 1..=12_u64 {
        let loaded = store.load_run(&run, Some(version)).await.unwrap().unwrap();
        assert_eq!(loaded.version, version);
        assert_eq!(loaded.head.version, 12);
        assert_eq!(loaded.snapshot, None);
        assert_eq!(loaded.entries, log[..version as usize]);
    }
    assert_eq!(
        store.load_run(&run, None).await.unwrap(),
        store.load_run(&run, Some(12)).await.unwrap()
    );
    for absent in [0, 13, u64::MAX] {
        assert_eq!(store.load_run(&run, Some(absent)).await.unwrap(), None);
    }
}

pub async fn the_newest_snapshot_that_fits_is_chosen(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    store.create_run(sample::new_run(), sample::step(&run, 0)).await.unwrap();
    for expected in 1..10 {
        let due = expected == 3 || expected == 6;
        let step = if due { sample::step_with_snapshot } else { sample::step };
        store.append_commit(step(&run, expected)).await.unwrap();
    }
    // Versions 4 and 7 have snapshots.
    for (version, chosen) in
        [(1, 0), (3, 0), (4, 4), (5, 4), (6, 4), (7, 7), (8, 7), (10, 7)] as [(u64, u64); 8]
    {
        let loaded = store.load_run(&run, Some(version)).await.unwrap().unwrap();
        assert_eq!(loaded.snapshot.map_or(0, |snapshot| snapshot.version), chosen, "at {version}");
        let versions: Vec<u64> = loaded.entries.iter().map(|entry| entry.version).collect();
        assert_eq!(versions, (chosen + 1..=version).collect::<Vec<_>>(), "at {version}");
    }
}

pub async fn large_bodies_come_back(store: Arc<dyn Store>) {
    let run = RunId::local("r");
    let large: String = "größer ".chars().cycle().take(1 << 20).collect();
    let mut commit = sample::full_step(&run, 0, "a");
    commit.entry.body.clone_from(&large);
    commit.snapshot.as_mut().unwrap().body.clone_from(&large);
    commit.actions[0].body.clone_from(&large);
    commit.waits_opened[0].body.clone_from(&large);
    commit.blobs[0].bytes = large.clone().into_bytes();
    store.create_run(sample::new_run(), commit.clone()).await.unwrap();
    let told = sample::load_stored_run(&*store, &run).await;
    assert!(told.log == [commit.entry], "the entry");
    assert!(told.loaded.unwrap().snapshot == commit.snapshot, "snapshot");
    assert!(told.actions == commit.actions, "actions");
    assert!(told.waits == commit.waits_opened, "waits");
    let bytes = store.load_blob(&run.tenant, "sha256:a").await.unwrap();
    assert!(bytes == Some(large.into_bytes()), "blob");
}

pub async fn blobs_and_protocols_are_kept_once(store: Arc<dyn Store>) {
    let tenant = TenantId::default();
    assert_eq!(store.load_blob(&tenant, "sha256:a").await.unwrap(), None);
    for _ in 0..2 {
        store.put_blob(&tenant, sample::blob("a")).await.unwrap();
        store.put_protocol(&tenant, "sha256:p", "id: größe\n").await.unwrap();
    }
    let other = Blob { bytes: b"other".into(), ..sample::blob("a") };
    store.put_blob(&tenant, other.clone()).await.unwrap();
    store.put_protocol(&tenant, "sha256:p", "other").await.unwrap();
    let run = RunId::local("r");
    let commit = RunCommit { blobs: vec![other, sample::blob("b")], ..sample::step(&run, 0) };
    store.create_run(sample::new_run(), commit).await.unwrap();
    // The first bytes under a digest stay.
    for name in ["a", "b"] {
        let blob = sample::blob(name);
        assert_eq!(store.load_blob(&tenant, &blob.digest).await.unwrap(), Some(blob.bytes));
    }
    assert_eq!(
        store.load_protocol(&tenant, "sha256:p").await.unwrap().as_deref(),
        Some("id: größe\n")
    );
    assert_eq!(store.load_protocol(&tenant, "sha256:q").await.unwrap(), None);
    let empty = Blob { digest: "sha256:empty".into(), bytes: Vec::new() };
    store.put_blob(&tenant, empty).await.unwrap();
    assert_eq!(store.load_blob(&tenant, "sha256:empty").await.unwrap(), Some(Vec::new()));
}
