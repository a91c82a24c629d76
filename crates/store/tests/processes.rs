//! Real processes on one file. Each test is both sides: started again with a file in its environment,
//! it is the other process.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use countersign_store::RunStore as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use countersign_store::suite::sample::{self, load_stored_run};
use countersign_store::{RunId, SqliteStore, Store, StoreError};

const FILE: &str = "COUNTERSIGN_STORE_TEST_FILE";

/// The file to work on, in the process that was started by a test.
fn given() -> Option<PathBuf> {
    std::env::var_os(FILE).map(PathBuf::from)
}

/// Starts this test once more, as the other process.
fn start(test: &str, file: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(FILE, file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Steps until a version is reached; counts the steps that were ours.
async fn race(store: &dyn Store, run: &RunId, last: u64) -> u64 {
    let mut won = 0;
    let mut seen = 1;
    while seen < last {
        match store.append_commit(sample::step(run, seen)).await {
            Ok(()) => won += 1,
            Err(StoreError::Conflict { .. }) => {}
            Err(other) => panic!("{other}"),
        }
        seen = store.load_head(run).await.unwrap().unwrap().version;
    }
    won
}

#[tokio::test]
async fn two_processes_share_a_file() {
    const LAST: u64 = 150;
    let run = RunId::local("r");
    if let Some(file) = given() {
        let won = race(&SqliteStore::open(file).unwrap(), &run, LAST).await;
        println!("\nwon {won}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("runs.db");
    let store = SqliteStore::open(&file).unwrap();
    sample::create_run_at_version(&store, &run, 1).await;
    let other = start("two_processes_share_a_file", &file);
    let ours = race(&store, &run, LAST).await;
    let output = other.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let theirs = text.lines().find_map(|line| line.strip_prefix("won ")).unwrap();
    assert_eq!(ours + theirs.parse::<u64>().unwrap(), LAST - 1);
    let log = store.read_log(&run, 0, usize::MAX).await.unwrap();
    assert_eq!(log, sample::entries(LAST));
}

#[tokio::test]
async fn a_killed_process_loses_nothing_it_acknowledged() {
    let run = RunId::local("r");
    if let Some(file) = given() {
        let store = SqliteStore::open(file).unwrap();
        println!();
        for expected in 0.. {
            let commit = sample::full_step(&run, expected, &format!("m{expected}"));
            if expected == 0 {
                store.create_run(sample::new_run(), commit).await.unwrap();
            } else {
                store.append_commit(commit).await.unwrap();
            }
            println!("kept {}", expected + 1);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("runs.db");
    let mut other = start("a_killed_process_loses_nothing_it_acknowledged", &file);
    let mut kept = 0;
    for line in BufReader::new(other.stdout.take().unwrap()).lines() {
        if let Some(version) = line.unwrap().strip_prefix("kept ") {
            kept = version.parse::<u64>().unwrap();
        }
        if kept == 100 {
            break;
        }
    }
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(kept, 100);

    let store = SqliteStore::open(&file).unwrap();
    let found = load_stored_run(&store, &run).await;
    let version = found.head.unwrap().version;
    assert!(version >= kept, "acknowledged {kept}, found {version}");
    assert_eq!(found.log.len() as u64, version);
    assert_eq!(found.actions.len() as u64, 2 * version);
    assert_eq!(found.waits.len() as u64, version);
    assert_eq!(found.loaded.unwrap().snapshot.map(|found| found.version), Some(version));
    for step in 0..version {
        assert_eq!(
            store.find_key_version(&run, &format!("m{step}-key")).await.unwrap(),
            Some(step + 1)
        );
    }
    store.append_commit(sample::step(&run, version)).await.unwrap();
}
