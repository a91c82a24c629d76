//! What happens to a store when its server is away, says no, or is cut off in the middle.

use countersign_store::RunStore as _;
use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use countersign_store::suite::sample::{self, load_stored_run};
use countersign_store::{PostgresSettings, RunId, Store, StoreError};
use testkit::PostgresCluster;

use crate::site::{Site, caller, connect, store};

/// A server of its own, which may be stopped; `None`, and a word about it, where there is none.
fn own(test: &str) -> Option<PostgresCluster> {
    let Some(binaries) = PostgresCluster::find_binaries() else {
        testkit::report_not_run(
            &format!("postgres: {test}"),
            "no PostgreSQL server in /usr/lib/postgresql",
        );
        return None;
    };
    Some(PostgresCluster::start(binaries, test, "synchronous_commit = on\n").unwrap())
}

fn patient() -> PostgresSettings {
    PostgresSettings { retry_for: Duration::from_secs(30), ..caller() }
}

fn hasty() -> PostgresSettings {
    PostgresSettings { retry_for: Duration::ZERO, ..caller() }
}

#[track_caller]
fn cause(answer: Result<impl std::fmt::Debug, StoreError>) -> String {
    let error = answer.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    error.source().unwrap().to_string()
}

/// Runs that step as fast as they are answered until they are stopped, and what was acknowledged.
struct Load {
    stop: Arc<AtomicBool>,
    steps: Arc<AtomicU64>,
    tasks: Vec<tokio::task::JoinHandle<(RunId, u64)>>,
}

impl Load {
    fn start(store: &Arc<dyn Store>, runs: u64) -> Self {
        let (stop, steps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let tasks = (0..runs).map(|number| {
            let (store, stop, steps) = (Arc::clone(store), Arc::clone(&stop), Arc::clone(&steps));
            tokio::spawn(async move {
                let run = RunId::local(format!("run-{number}"));
                store.create_run(sample::new_run(), sample::step(&run, 0)).await.unwrap();
                let mut version = 1;
                while !stop.load(Ordering::SeqCst) {
                    store.append_commit(sample::step(&run, version)).await.unwrap();
                    version += 1;
                    steps.fetch_add(1, Ordering::SeqCst);
                }
                (run, version)
            })
        });
        let tasks = tasks.collect();
        Self { stop, steps, tasks }
    }

    /// Waits until so many more steps were made.
    async fn go_on(&self, more: u64) {
        let goal = self.steps.load(Ordering::SeqCst) + more;
        while self.steps.load(Ordering::SeqCst) < goal {
            assert!(!self.tasks.iter().all(|task| task.is_finished()), "every run has failed");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Stops, and checks that every acknowledged step is there once.
    async fn end(self, store: &dyn Store) -> u64 {
        self.stop.store(true, Ordering::SeqCst);
        let mut all = 0;
        for task in self.tasks {
            let (run, version) = task.await.unwrap();
            let told = load_stored_run(store, &run).await;
            assert_eq!(told.head.unwrap().version, version);
            assert_eq!(told.log, sample::entries(version));
            all += version;
        }
        all
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_restart_under_load_loses_nothing() {
    let Some(cluster) = own("a_restart_under_load_loses_nothing") else { return };
    let site = Site::on(cluster.url()).await;
    let store: Arc<dyn Store> = Arc::new(store(&site.url(), patient()));
    let load = Load::start(&store, 8);
    for how in ["fast", "immediate", "fast"] {
        load.go_on(50).await;
        cluster.stop(how).unwrap();
        cluster.start_again().unwrap();
    }
    load.go_on(50).await;
    assert!(load.end(&*store).await > 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_standby_that_is_promoted_goes_on_where_the_primary_was_lost() {
    let test = "a_promoted_standby_goes_on";
    let Some(primary) = own(test) else { return };
    let site = Site::on(primary.url()).await;
    let standby = primary.create_standby("standby").unwrap();
    // What is acknowledged is on both from now on.
    let admin = site.admin().await;
    for setting in ["ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"] {
        admin.batch_execute(setting).await.unwrap();
    }
    let following = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    while admin.query_one(following, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let socket =
        |cluster: &PostgresCluster| cluster.folder().display().to_string().replace('/', "%2F");
    let url = format!(
        "postgres://{}@{},{}/{}?target_session_attrs=read-write",
        site.role(),
        socket(&primary),
        socket(&standby),
        site.name()
    );
    let store: Arc<dyn Store> = Arc::new(store(&url, patient()));
    let load = Load::start(&store, 4);
    load.go_on(40).await;
    primary.stop("immediate").unwrap();
    standby.promote().unwrap();
    let alone = connect(&standby.url()).await;
    alone.batch_execute("ALTER SYSTEM SET synchronous_standby_names = ''").await.unwrap();
    alone.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    load.go_on(40).await;
    assert!(load.end(&*store).await > 80);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn connections_that_are_cut_under_load_lose_nothing() {
    let Some(site) = Site::fresh("connections_that_are_cut_under_load").await else { return };
    let store: Arc<dyn Store> = Arc::new(store(&site.url(), patient()));
    let load = Load::start(&store, 8);
    let admin = site.admin().await;
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    let mut cuts: i64 = 0;
    for _ in 0..25 {
        load.go_on(20).await;
        cuts += admin.query_one(cut, &[]).await.unwrap().get::<_, i64>(0);
    }
    load.go_on(20).await;
    load.end(&*store).await;
    assert!(cuts >= 25, "{cuts}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_in_plain_words() {
    let Some(site) = Site::fresh("a_server_that_is_not_there_is_told").await else { return };
    let run = RunId::local("r");
    let of = async |url: String| cause(store(&url, hasty()).load_head(&run).await);
    let nowhere = "postgres://u:s3cret@%2Fno%2Fsuch%2Ffolder/d".to_owned();
    assert_eq!(of(nowhere).await, "no server listens at the address: the connection was refused");
    let (server, _) =
        site.url().rsplit_once('/').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    assert_eq!(of(format!("{server}/nosuch")).await, "the server has no such database");
    let stranger = site.url().replace(&format!("{}@", site.role()), "nosuchrole@");
    assert_eq!(of(stranger).await, "the server rejected the role or the password (28000)");
}

#[tokio::test]
async fn a_read_only_server_is_read_and_goes_on_when_it_may_write() {
    let Some(site) = Site::fresh("a_read_only_server_is_read").await else { return };
    let run = RunId::local("r");
    sample::create_run_at_version(&store(&site.url(), caller()), &run, 2).await;
    let admin = site.admin().await;
    let mode = |on: &str| {
        format!("ALTER DATABASE {} SET default_transaction_read_only = {on}", site.name())
    };
    admin.batch_execute(&mode("on")).await.unwrap();
    let hasty = store(&site.url(), hasty());
    let told = cause(hasty.append_commit(sample::step(&run, 2)).await);
    assert_eq!(
        told,
        "the server is read-only: it is a standby, or the former primary after a failover"
    );
    assert_eq!(hasty.load_head(&run).await.unwrap().unwrap().version, 2);
    // Another is behind the address a moment later.
    let patient = store(&site.url(), patient());
    let (answer, ()) = tokio::join!(patient.append_commit(sample::step(&run, 2)), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        admin.batch_execute(&mode("off")).await.unwrap();
    });
    answer.unwrap();
    assert_eq!(patient.load_head(&run).await.unwrap().unwrap().version, 3);
}

#[tokio::test]
async fn too_many_connections_are_told_and_waited_for() {
    let Some(site) = Site::fresh("too_many_connections_are_told").await else { return };
    let run = RunId::local("r");
    sample::create_run_at_version(&store(&site.url(), caller()), &run, 1).await;
    let admin = site.admin().await;
    admin.batch_execute(&format!("ALTER ROLE {} CONNECTION LIMIT 1", site.role())).await.unwrap();
    // The one that `grow` had is ending.
    let taken = loop {
        if let Ok((client, connection)) =
            tokio_postgres::connect(&site.url(), tokio_postgres::NoTls).await
        {
            drop(tokio::spawn(connection));
            break client;
        }
    };
    let hasty = store(&site.url(), hasty());
    assert_eq!(cause(hasty.load_head(&run).await), "the server has too many connections");
    drop(taken);
    let patient = store(&site.url(), patient());
    patient.append_commit(sample::step(&run, 1)).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_is_told_and_keeps_what_was_acknowledged() {
    let Some(site) = Site::fresh("a_full_disk_is_told").await else { return };
    let store = store(&site.url(), caller());
    let run = RunId::local("r");
    sample::create_run_at_version(&store, &run, 2).await;
    let before = load_stored_run(&store, &run).await;
    let client = site.client().await;
    let full = "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$;
        CREATE TRIGGER no_room BEFORE INSERT ON countersign.log EXECUTE FUNCTION no_room()";
    client.batch_execute(full).await.unwrap();
    let refused = store.append_commit(sample::full_step(&run, 2, "a")).await;
    assert!(matches!(refused, Err(StoreError::DiskFull)), "{refused:?}");
    assert_eq!(load_stored_run(&store, &run).await, before);
    client.batch_execute("DROP TRIGGER no_room ON countersign.log").await.unwrap();
    store.append_commit(sample::full_step(&run, 2, "a")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_somebody_locks_is_busy_and_holds_up_nobody_else() {
    let Some(site) = Site::fresh("a_run_that_somebody_locks_is_busy").await else { return };
    let store: Arc<dyn Store> =
        Arc::new(store(&site.url(), PostgresSettings { writers: 1, ..caller() }));
    let (locked, other) = (RunId::local("locked"), RunId::local("other"));
    sample::create_run_at_version(&*store, &locked, 1).await;
    sample::create_run_at_version(&*store, &other, 1).await;
    let admin = connect(&site.url()).await;
    let lock = "BEGIN; SET LOCAL countersign.tenant = 'default';
        SELECT 1 FROM countersign.runs WHERE id = 'locked' FOR UPDATE";
    admin.batch_execute(lock).await.unwrap();
    let (refused, kept) = tokio::join!(
        store.append_commit(sample::step(&locked, 1)),
        store.append_commit(sample::step(&other, 1))
    );
    assert!(matches!(refused, Err(StoreError::Busy { .. })), "{refused:?}");
    kept.unwrap();
    admin.batch_execute("COMMIT").await.unwrap();
    store.append_commit(sample::step(&locked, 1)).await.unwrap();
}
