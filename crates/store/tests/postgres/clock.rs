//! Leases by the server's clock: machines whose clocks differ agree.

use std::time::{SystemTime, UNIX_EPOCH};

use countersign_store::suite::sample;
use countersign_store::{
    DueRunsRequest, Lease, LeaseStore as _, PostgresSettings, RunCommit, RunId, RunStore as _,
};

use crate::site::{Site, caller, store};

const HOUR: i64 = 3_600_000;

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

#[tokio::test]
async fn a_clock_that_is_ahead_takes_nobodys_run() {
    let Some(site) = Site::fresh("a_clock_that_is_ahead_takes_nobodys_run").await else { return };
    let store = store(&site.url(), PostgresSettings::default());
    let run = RunId::local("r");
    sample::create_run_at_version(&store, &run, 1).await;
    let begun = now();
    let first = store.acquire_lease(&run, "right", begun, begun + HOUR).await.unwrap().unwrap();
    // What is told is in the clock of who asked.
    assert!((first.until - begun - HOUR).abs() < 1000, "{first:?}");
    let ahead = begun + 2 * HOUR;
    assert_eq!(store.acquire_lease(&run, "ahead", ahead, ahead + HOUR).await.unwrap(), None);
    let behind = begun - 2 * HOUR;
    let renewed = store.acquire_lease(&run, "right", behind, behind + HOUR).await.unwrap().unwrap();
    assert_eq!(renewed.epoch, 1);
    assert!((renewed.until - behind - HOUR).abs() < 1000, "{renewed:?}");
    // It is due, and held.
    store.append_commit(RunCommit { wake_at: Some(1), ..sample::step(&run, 1) }).await.unwrap();
    let taking = DueRunsRequest::new("ahead", ahead, ahead + HOUR, 10);
    assert_eq!(store.acquire_due_runs(&taking).await.unwrap(), []);
    let held = store.list_leases(ahead, 10).await.unwrap();
    assert!((held[0].until - ahead - HOUR).abs() < 60_000, "{held:?}");
    let told = store.load_head(&run).await.unwrap().unwrap().lease.unwrap();
    assert!((told.until - begun - HOUR).abs() < 60_000, "{told:?}");
}

#[tokio::test]
async fn the_callers_clock_is_taken_where_it_is_chosen() {
    let Some(site) = Site::fresh("the_callers_clock_is_taken_where_it_is_chosen").await else {
        return;
    };
    let store = store(&site.url(), caller());
    let run = RunId::local("r");
    sample::create_run_at_version(&store, &run, 1).await;
    let first = store.acquire_lease(&run, "one", 1_000, 2_000).await.unwrap().unwrap();
    assert_eq!(first.until, 2_000);
    let second = store.acquire_lease(&run, "other", 2_000, 3_000).await.unwrap().unwrap();
    assert_eq!((second.epoch, second.until), (2, 3_000));
}

#[tokio::test]
async fn a_lease_is_over_and_renewed_by_the_servers_clock() {
    let Some(site) = Site::fresh("a_lease_is_over_and_renewed_by_the_servers_clock").await else {
        return;
    };
    let store = store(&site.url(), PostgresSettings::default());
    let run = RunId::local("r");
    sample::create_run_at_version(&store, &run, 1).await;
    let begun = now();
    store.acquire_lease(&run, "short", begun, begun + 1).await.unwrap().unwrap();
    // A millisecond of the server's is over soon, whatever this clock says.
    let lease = loop {
        if let Some(lease) = store.acquire_lease(&run, "next", 0, 1_000).await.unwrap() {
            break lease;
        }
    };
    assert_eq!((lease.epoch, lease.until), (2, 1_000));
    // A commit renews what is held until its own time of this machine.
    let until = now() + HOUR;
    let renewing = RunCommit { lease: Some(Lease { until, ..lease }), ..sample::step(&run, 1) };
    store.append_commit(renewing).await.unwrap();
    let told = store.load_head(&run).await.unwrap().unwrap().lease.unwrap();
    assert!((told.until - until).abs() < 60_000, "{told:?}");
    let free = site.admin().await;
    let left = "SELECT lease_until - (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        FROM countersign.runs";
    let left: i64 = free.query_one(left, &[]).await.unwrap().get(0);
    assert!((left - HOUR).abs() < 60_000, "{left}");
}
