//! What is special to `SQLite`: the file outlives the process, is shared, fills up, gets damaged.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_store::suite::sample::{self, NOW, load_stored_run};
use countersign_store::{
    Blob, ContentStore as _, DueRunsRequest, LeaseStore as _, RunCommit, RunFilter, RunId,
    RunStore as _, SqliteSettings, SqliteStore, StoreError, TenantId,
};
use rusqlite::Connection;
use tempfile::TempDir;

const FIRST_SCHEMA: &str = include_str!("../src/sqlite/migrations/0001_runs.sql");

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("runs.db");
    (folder, file)
}

#[tokio::test]
async fn what_was_kept_is_there_when_the_file_is_opened_again() {
    let (_folder, file) = place();
    let run = RunId::local("r");
    let store = SqliteStore::open(&file).unwrap();
    store.create_run(sample::new_run(), sample::full_step(&run, 0, "a")).await.unwrap();
    let lease = store.acquire_lease(&run, "w", NOW, NOW + 10).await.unwrap().unwrap();
    store.put_protocol(&run.tenant, "sha256:p", "text").await.unwrap();
    let before = load_stored_run(&store, &run).await;
    drop(store);

    let store = SqliteStore::open(&file).unwrap();
    assert_eq!(load_stored_run(&store, &run).await, before);
    assert_eq!(store.find_key_version(&run, "a-key").await.unwrap(), Some(1));
    assert_eq!(
        store.load_protocol(&run.tenant, "sha256:p").await.unwrap().as_deref(),
        Some("text")
    );
    assert_eq!(store.acquire_lease(&run, "other", NOW + 9, NOW + 20).await.unwrap(), None);
    store.append_commit(RunCommit { lease: Some(lease), ..sample::step(&run, 1) }).await.unwrap();
}

/// The files as they lie on the disk while the store is open are what a sudden death leaves.
#[tokio::test]
async fn what_was_acknowledged_is_on_the_disk_without_a_close() {
    let (folder, file) = place();
    let run = RunId::local("r");
    let store = SqliteStore::open(&file).unwrap();
    store.create_run(sample::new_run(), sample::full_step(&run, 0, "a")).await.unwrap();
    for expected in 1..20 {
        store.append_commit(sample::step(&run, expected)).await.unwrap();
    }
    let left = folder.path().join("left.db");
    fs::copy(&file, &left).unwrap();
    fs::copy(folder.path().join("runs.db-wal"), folder.path().join("left.db-wal")).unwrap();
    let found = SqliteStore::open(&left).unwrap();
    assert_eq!(load_stored_run(&found, &run).await, load_stored_run(&store, &run).await);
}

#[tokio::test]
async fn a_dropped_future_may_have_been_kept_but_never_in_part() {
    let (_folder, file) = place();
    let store = SqliteStore::open(&file).unwrap();
    let run = RunId::local("r");
    sample::create_run_at_version(&store, &run, 1).await;
    let mut asked = store.append_commit(sample::full_step(&run, 1, "a"));
    tokio::select! {
        biased;
        _ = &mut asked => {}
        () = std::future::ready(()) => {}
    }
    drop(asked);
    // Queued behind it, so it is decided now.
    store.put_blob(&run.tenant, sample::blob("later")).await.unwrap();
    let told = load_stored_run(&store, &run).await;
    assert_eq!(told.head.unwrap().version, 2);
    assert_eq!((told.log.len(), told.actions.len(), told.waits.len()), (2, 2, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_handles_share_a_file() {
    let (_folder, file) = place();
    let (one, two) = (SqliteStore::open(&file).unwrap(), SqliteStore::open(&file).unwrap());
    let run = RunId::local("r");
    sample::create_run_at_version(&one, &run, 1).await;
    assert_eq!(two.load_head(&run).await.unwrap().unwrap().version, 1);
    let writers = [Arc::new(one), Arc::new(two)].map(|store| {
        let run = run.clone();
        tokio::spawn(async move {
            let mut won = 0;
            let mut seen = 1;
            while seen < 60 {
                match store.append_commit(sample::step(&run, seen)).await {
                    Ok(()) => won += 1,
                    Err(StoreError::Conflict { .. }) => {}
                    Err(other) => panic!("{other}"),
                }
                seen = store.load_head(&run).await.unwrap().unwrap().version;
            }
            (store, won)
        })
    });
    let mut all = 0;
    for writer in writers {
        let (store, won) = writer.await.unwrap();
        all += won;
        assert_eq!(store.read_log(&run, 0, usize::MAX).await.unwrap().len(), 60);
    }
    assert_eq!(all, 59);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn opened_at_once_by_many_the_schema_is_made_once() {
    let (_folder, file) = place();
    let opened = (0..8).map(|number| {
        let file = file.clone();
        tokio::task::spawn_blocking(move || (number, SqliteStore::open(file).unwrap()))
    });
    for opened in opened.collect::<Vec<_>>() {
        let (number, store) = opened.await.unwrap();
        sample::create_run_at_version(&store, &RunId::local(format!("r{number}")), 1).await;
    }
    let store = SqliteStore::open(&file).unwrap();
    let runs = store.list_runs(&RunFilter::newest(TenantId::default(), 100)).await.unwrap();
    assert_eq!(runs.len(), 8);
}

/// A reader sees whole commits and never waits for a writer that is in the middle of one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn reads_go_on_while_another_process_writes() {
    let (_folder, file) = place();
    let store = SqliteStore::open(&file).unwrap();
    let run = RunId::local("r");
    sample::create_run_at_version(&store, &run, 1).await;
    let other = Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; UPDATE runs SET version = 99").unwrap();
    assert_eq!(store.load_run(&run, None).await.unwrap().unwrap().version, 1);
    other.execute_batch("ROLLBACK").unwrap();

    let store = Arc::new(store);
    let writer = tokio::spawn({
        let (store, run) = (Arc::clone(&store), run.clone());
        async move {
            for expected in 1..100 {
                store.append_commit(sample::step(&run, expected)).await.unwrap();
            }
        }
    });
    let mut seen = 0;
    while seen < 100 {
        let loaded = store.load_run(&run, None).await.unwrap().unwrap();
        assert!(loaded.version >= seen);
        seen = loaded.version;
        assert_eq!(loaded.entries.len() as u64, seen);
    }
    writer.await.unwrap();
}

#[tokio::test]
async fn a_file_that_stays_locked_is_told_as_busy() {
    let (_folder, file) = place();
    let settings =
        SqliteSettings { busy_timeout: Duration::from_millis(20), ..SqliteSettings::default() };
    let store = SqliteStore::open_with(&file, settings).unwrap();
    let run = RunId::local("r");
    let other = Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let answer = store.create_run(sample::new_run(), sample::step(&run, 0)).await;
    assert!(matches!(answer, Err(StoreError::Busy { .. })), "{answer:?}");
    other.execute_batch("ROLLBACK").unwrap();
    store.create_run(sample::new_run(), sample::step(&run, 0)).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_refuses_and_keeps_what_was_acknowledged() {
    let (_folder, file) = place();
    let settings = SqliteSettings { max_pages: Some(80), ..SqliteSettings::default() };
    let store = SqliteStore::open_with(&file, settings).unwrap();
    let run = RunId::local("r");
    store.create_run(sample::new_run(), sample::step(&run, 0)).await.unwrap();
    let mut version = 1;
    let refused = loop {
        let blobs = vec![Blob { digest: format!("sha256:{version}"), bytes: vec![7; 20_000] }];
        match store
            .append_commit(RunCommit {
                blobs,
                ..sample::full_step(&run, version, &format!("m{version}"))
            })
            .await
        {
            Ok(()) => version += 1,
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, StoreError::DiskFull), "{refused:?}");
    assert!(version > 3);
    // Nothing of the refused one is there, reads go on, and so do writes once there is room.
    let before = load_stored_run(&store, &run).await;
    assert_eq!(before.head.as_ref().unwrap().version, version);
    assert_eq!(store.find_key_version(&run, &format!("m{version}-key")).await.unwrap(), None);
    drop(store);
    let store = SqliteStore::open(&file).unwrap();
    assert_eq!(load_stored_run(&store, &run).await, before);
    store.append_commit(sample::step(&run, version)).await.unwrap();
}

#[tokio::test]
async fn a_file_made_by_schema_1_is_read() {
    let (_folder, file) = place();
    let db = Connection::open(&file).unwrap();
    let text = format!(
        "BEGIN;
        CREATE TABLE migrations (
            number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT;
        {FIRST_SCHEMA}
        INSERT INTO migrations VALUES (1, 'runs',
            '{CHECKSUM_OF_FIRST_SCHEMA}');
        INSERT INTO runs VALUES (7, 'default', 'old', 'sha256:aa', 'intake', 1, 1, 1, 'h1', 9, 'running',
            'ask', 2, 'an old run', '1.0.0', NULL, NULL, 'Old', '', NULL, 0, 0, 0, 'w', 3, 40, 50, 1,
            'old/1/0 call_model 2' || char(10) || '{{}}' || char(10));
        INSERT INTO log VALUES (9, 0, 7, 1, 1, 1, 2, 'h1', '{{}}');
        INSERT INTO keys VALUES ('default', 'old', 'k', 1);
        COMMIT;"
    );
    db.execute_batch(&text).unwrap();
    drop(db);
    let store = SqliteStore::open(&file).unwrap();
    let run = RunId::local("old");
    let told = load_stored_run(&store, &run).await;
    let head = told.head.unwrap();
    assert_eq!((head.version, head.summary.as_str(), head.wake_at), (1, "an old run", Some(2)));
    assert_eq!(head.lease.map(|lease| lease.epoch), Some(3));
    assert_eq!(told.log.len(), 1);
    assert_eq!(told.actions[0].id, "old/1/0");
    assert_eq!(store.find_key_version(&run, "k").await.unwrap(), Some(1));
    // It had something to do: it is due since its last step.
    let taken = store.acquire_due_runs(&DueRunsRequest::new("v", 45, 46, 10)).await.unwrap();
    assert_eq!((&taken[0].run, taken[0].epoch), (&run, 4));
}

const CHECKSUM_OF_FIRST_SCHEMA: &str =
    "814b9114a857d26f6ea37f4c15c8a623e0ffa21682849de8ec71e9dbf48e4588";

#[test]
fn a_file_of_a_newer_program_is_refused_and_left_as_it_is() {
    let (_folder, file) = place();
    drop(SqliteStore::open(&file).unwrap());
    let db = Connection::open(&file).unwrap();
    db.execute("INSERT INTO migrations VALUES (4, 'later', 'x')", []).unwrap();
    drop(db);
    let before = fs::read(&file).unwrap();
    let refused = SqliteStore::open(&file).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the database has schema 4; this program supports schemas up to 3"
    );
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn what_is_no_database_of_ours_is_told_apart() {
    let (folder, file) = place();
    fs::write(&file, "Lorem ipsum dolor sit amet. ".repeat(1000)).unwrap();
    let error = SqliteStore::open(&file).unwrap_err();
    assert_eq!(error.to_string(), "the database is damaged: file is not a database");

    let theirs = folder.path().join("theirs.db");
    Connection::open(&theirs).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let error = SqliteStore::open(&theirs).unwrap_err();
    assert!(matches!(error, StoreError::ForeignDatabase), "{error:?}");

    let nowhere = folder.path().join("no/such/folder/runs.db");
    let error = SqliteStore::open(&nowhere).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, format!("cannot open `{}`", nowhere.display()));
}

#[tokio::test]
async fn a_damaged_page_is_an_error_and_not_a_wrong_answer() {
    let (_folder, file) = place();
    let run = RunId::local("r");
    let store = SqliteStore::open(&file).unwrap();
    sample::create_run_at_version(&store, &run, 200).await;
    drop(store);
    // The header stays whole; everything behind the first page is overwritten.
    let size = fs::metadata(&file).unwrap().len();
    let mut damaged = OpenOptions::new().write(true).open(&file).unwrap();
    damaged.seek(SeekFrom::Start(4096)).unwrap();
    damaged.write_all(&vec![0xA5; size as usize - 4096]).unwrap();
    drop(damaged);
    let error = match SqliteStore::open(&file) {
        Err(error) => error,
        Ok(store) => store.read_log(&run, 0, 10).await.unwrap_err(),
    };
    assert_eq!(error.to_string(), "the database is damaged: database disk image is malformed");
}

/// How long the quickest of several takings took, each of the same sixteen runs.
async fn quickest_taking(store: &SqliteStore, from: i64) -> Duration {
    let mut quickest = Duration::MAX;
    for round in 0..20 {
        let now = from + 100 * round;
        let taking =
            DueRunsRequest { per_tenant: 20, ..DueRunsRequest::new("w", now, now + 50, 16) };
        let begun = Instant::now();
        let taken = store.acquire_due_runs(&taking).await.unwrap();
        quickest = quickest.min(begun.elapsed());
        assert_eq!(taken.len(), 16);
    }
    quickest
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_waiting_runs_cost_a_worker_nothing() {
    const WAITING: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000)
        INSERT INTO runs (tenant, id, protocol, workflow, created_at, version, seq, hash, tail, status,
            phase, updated_at, summary, lease_epoch, lease_until, wake_at, actions, protocol_version,
            title, asks, input_tokens, output_tokens, cost)
        SELECT 'tenant-' || (i % 7), 'waiting-' || i, 'p', 'w', i, 1, 1, 'h', 0, 'waiting', 'ask', i, '', 3,
            0, iif(i % 2, NULL, 9000000000000), 'child child 2' || char(10) || '{}' || char(10), '', '',
            '', 0, 0, 0 FROM n";
    let (_folder, file) = place();
    let store = SqliteStore::open(&file).unwrap();
    for number in 0..16 {
        let tenant = TenantId::new(format!("tenant-{}", number % 7));
        let commit = sample::step(&RunId::new(tenant, format!("due-{number}")), 0);
        store
            .create_run(sample::new_run(), RunCommit { wake_at: Some(NOW), ..commit })
            .await
            .unwrap();
    }
    let alone = quickest_taking(&store, NOW).await;
    Connection::open(&file).unwrap().execute_batch(WAITING).unwrap();
    let among = quickest_taking(&store, NOW + 10_000).await;
    let idle = Instant::now();
    assert!(
        store
            .acquire_due_runs(&DueRunsRequest::new("w", NOW - 1, NOW, 16))
            .await
            .unwrap()
            .is_empty()
    );
    let idle = idle.elapsed();
    assert!(among < 3 * alone + Duration::from_millis(2), "{alone:?} alone, {among:?} among them");
    assert!(idle < Duration::from_millis(50), "{idle:?}");
}
