//! Commits of many runs at once: each is judged alone, and heads are updated in place.

use countersign_store::RunStore as _;
use std::sync::Arc;

use countersign_store::suite::sample;
use countersign_store::{PostgresSettings, RunCommit, RunId, Store, StoreError, TenantId};

use crate::site::{Site, caller, store};

/// One writer, so that what comes while it writes shares the next call.
fn crowded(site: &Site) -> Arc<dyn Store> {
    Arc::new(store(&site.url(), PostgresSettings { writers: 1, ..caller() }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_refused_commit_does_not_hurt_the_others() {
    let Some(site) = Site::fresh("a_refused_commit_does_not_hurt_the_others").await else { return };
    let store = crowded(&site);
    let run = |number: usize| {
        RunId::new(TenantId::new(format!("tenant-{}", number % 3)), format!("run-{number:02}"))
    };
    for number in 0..40 {
        let first =
            RunCommit { actions: vec![sample::action("x")], ..sample::step(&run(number), 0) };
        store.create_run(sample::new_run(), first).await.unwrap();
    }
    let writes = (0..40).map(|number| {
        let (store, run) = (Arc::clone(&store), run(number));
        tokio::spawn(async move {
            let commit = match number % 8 {
                0 => sample::step(&run, 7),
                1 => RunCommit { actions: vec![sample::action("x")], ..sample::step(&run, 1) },
                2 => sample::step(&RunId::local("nobody"), 1),
                _ => sample::full_step(&run, 1, "a"),
            };
            (number, store.append_commit(commit).await)
        })
    });
    for write in writes.collect::<Vec<_>>() {
        let (number, answer) = write.await.unwrap();
        let as_expected = match (number % 8, &answer) {
            (0, Err(StoreError::Conflict { expected: 7, found: 1 })) => true,
            (1, Err(StoreError::Malformed { reason })) => reason == "action `x` is already pending",
            (2, Err(StoreError::NotFound { .. })) => true,
            (3.., Ok(())) => true,
            _ => false,
        };
        assert!(as_expected, "{number}: {answer:?}");
        let version = store.load_head(&run(number)).await.unwrap().unwrap().version;
        assert_eq!(version, if number % 8 < 3 { 1 } else { 2 }, "{number}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn commits_that_wait_share_a_transaction() {
    let Some(site) = Site::fresh("commits_that_wait_share_a_transaction").await else { return };
    let store = crowded(&site);
    let runs: Vec<RunId> = (0..64).map(|number| RunId::local(format!("run-{number}"))).collect();
    let steps = runs.iter().map(|run| {
        let (store, run) = (Arc::clone(&store), run.clone());
        tokio::spawn(async move { sample::create_run_at_version(&*store, &run, 10).await })
    });
    for step in steps.collect::<Vec<_>>() {
        step.await.unwrap();
    }
    // Rows that one transaction wrote carry its number.
    let count = "SELECT count(*), count(DISTINCT xmin::text) FROM countersign.log";
    let row = site.admin().await.query_one(count, &[]).await.unwrap();
    let (rows, transactions): (i64, i64) = (row.get(0), row.get(1));
    assert_eq!(rows, 640);
    assert!(transactions < rows / 2, "{transactions} transactions for {rows} commits");
}

#[tokio::test]
async fn a_step_changes_a_head_in_place() {
    let Some(site) = Site::fresh("a_step_changes_a_head_in_place").await else { return };
    let run = RunId::local("r");
    {
        let store = store(&site.url(), caller());
        let first = RunCommit { actions: vec![sample::action("1")], ..sample::step(&run, 0) };
        store.create_run(sample::new_run(), first).await.unwrap();
        // The session made its plans when the table was all but empty; they must do for more.
        for number in 0..50 {
            sample::create_run_at_version(&store, &RunId::local(format!("other-{number}")), 1)
                .await;
        }
        for version in 1..200_u64 {
            let actions = vec![sample::action(&format!("{}", version + 1))];
            let finished_actions = vec![version.to_string()];
            let wake_at = Some(1);
            let step =
                RunCommit { actions, finished_actions, wake_at, ..sample::step(&run, version) };
            store.append_commit(step).await.unwrap();
        }
    }
    // A server tells what its sessions did when they have ended.
    let admin = site.admin().await;
    let count = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables
        WHERE schemaname = 'countersign' AND relname = 'runs'";
    let (all, in_place) = loop {
        let row = admin.query_one(count, &[]).await.unwrap();
        let told: (i64, i64) = (row.get(0), row.get(1));
        if told.0 >= 199 {
            break told;
        }
        admin.batch_execute("SELECT pg_stat_clear_snapshot(), pg_sleep(0.05)").await.unwrap();
    };
    assert_eq!(all, 199);
    assert!(in_place >= 190, "{in_place} of {all} updates were in place");
    let others = "SELECT coalesce(sum(idx_scan), 0)::bigint FROM pg_stat_user_indexes
        WHERE schemaname = 'countersign' AND indexrelname IN ('runs_newest', 'waits_inbox')";
    let others: i64 = admin.query_one(others, &[]).await.unwrap().get(0);
    assert_eq!(others, 0, "a step went by an index that is not the key");
}
