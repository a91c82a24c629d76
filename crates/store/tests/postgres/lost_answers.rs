//! Commits whose answer never came: they were kept, and nobody said so. A proxy stands between the store
//! and the server and cuts the line when the server has answered.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use countersign_store::suite::sample;
use countersign_store::{
    LeaseStore as _, PgTransaction, PgTransactionMode, PostgresDatabase, PostgresMigration,
    PostgresSchema, PostgresSettings, PostgresStore, RunCommit, RunId, RunStore as _, SqlStatement,
    StoreError, TenantScope,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};

use crate::site::{Site, caller, store};

/// A way to the server that loses as many answers as it is told.
struct Proxy {
    _folder: tempfile::TempDir,
    url: String,
    losing: Arc<AtomicU32>,
}

impl Proxy {
    fn before(site: &Site) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let place = folder.path().display().to_string().replace('/', "%2F");
        let (_, rest) =
            site.url().split_once("://").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        let (host, database) = rest.split_once('/').unwrap();
        let (role, socket) = host.split_once('@').unwrap();
        let socket = PathBuf::from(socket.replace("%2F", "/")).join(".s.PGSQL.5432");
        let url = format!("postgres://{role}@{place}/{database}");
        let losing = Arc::new(AtomicU32::new(0));
        let told = Arc::clone(&losing);
        drop(tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let far = UnixStream::connect(&socket).await.unwrap();
                drop(tokio::spawn(carry(near, far, Arc::clone(&told))));
            }
        }));
        Self { _folder: folder, url, losing }
    }

    fn lose(&self, answers: u32) {
        self.losing.store(answers, Ordering::SeqCst);
    }
}

async fn carry(near: UnixStream, far: UnixStream, losing: Arc<AtomicU32>) {
    let (mut from_near, mut to_near) = near.into_split();
    let (mut from_far, mut to_far) = far.into_split();
    let asking = tokio::spawn(async move { tokio::io::copy(&mut from_near, &mut to_far).await });
    let mut buffer = vec![0; 65_536];
    while let Ok(size) = from_far.read(&mut buffer).await {
        // An answer that is complete ends with `ReadyForQuery` outside a transaction.
        let complete = buffer[..size].ends_with(b"Z\0\0\0\x05I");
        let lost = complete
            && losing
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
                .is_ok();
        if size == 0 || lost || to_near.write_all(&buffer[..size]).await.is_err() {
            break;
        }
    }
    asking.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_kept_unheard_counts_as_kept() {
    let Some(site) = Site::fresh("what_was_kept_unheard_counts_as_kept").await else { return };
    let proxy = Proxy::before(&site);
    let run = RunId::local("r");
    let patient = PostgresSettings { retry_for: Duration::from_secs(20), ..caller() };
    let store = PostgresStore::open(crate::site::server(&proxy.url), patient).await.unwrap();
    // A creation, a step, a step with a key, and a step under a lease.
    proxy.lose(1);
    store.create_run(sample::new_run(), sample::step(&run, 0)).await.unwrap();
    proxy.lose(2);
    store.append_commit(sample::step(&run, 1)).await.unwrap();
    proxy.lose(1);
    store
        .append_commit(RunCommit { idempotency_key: Some("k".into()), ..sample::step(&run, 2) })
        .await
        .unwrap();
    let lease = store.acquire_lease(&run, "w", 10, 20).await.unwrap();
    proxy.lose(1);
    store.append_commit(RunCommit { lease, ..sample::step(&run, 3) }).await.unwrap();
    // Taken and given back twice over, a lease is the same one.
    proxy.lose(1);
    let lease = store.acquire_lease(&run, "w", 10, 30).await.unwrap().unwrap();
    assert_eq!((lease.epoch, lease.until), (1, 30));
    proxy.lose(1);
    store.release_lease(&lease).await.unwrap();
    assert_eq!(store.read_log(&run, 0, 10).await.unwrap(), sample::entries(4));
    assert_eq!(store.load_head(&run).await.unwrap().unwrap().lease, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_kept_meanwhile_is_a_conflict() {
    let Some(site) = Site::fresh("what_another_kept_meanwhile_is_a_conflict").await else { return };
    let proxy = Proxy::before(&site);
    let run = RunId::local("r");
    let direct = store(&site.url(), caller());
    sample::create_run_at_version(&direct, &run, 2).await;
    let through = PostgresStore::open(crate::site::server(&proxy.url), caller()).await.unwrap();
    let mut other = sample::step(&run, 1);
    other.entry.hash = "another".into();
    proxy.lose(1);
    let late = through.append_commit(other).await;
    assert!(matches!(late, Err(StoreError::Conflict { expected: 1, found: 2 })), "{late:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_patience_ends_the_outcome_is_open_and_said_so() {
    let Some(site) = Site::fresh("where_patience_ends_the_outcome_is_open").await else { return };
    let proxy = Proxy::before(&site);
    let run = RunId::local("r");
    let hasty = PostgresSettings { retry_for: Duration::ZERO, ..caller() };
    let through = PostgresStore::open(crate::site::server(&proxy.url), hasty).await.unwrap();
    sample::create_run_at_version(&through, &run, 1).await;
    proxy.lose(1);
    let answer = through.append_commit(sample::step(&run, 1)).await;
    assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
    let cause = std::error::Error::source(&answer.unwrap_err()).unwrap().to_string();
    assert_eq!(cause, "the connection to the server was lost");
    assert_eq!(through.load_head(&run).await.unwrap().unwrap().version, 2);
}

const TALLY: PostgresSchema = PostgresSchema {
    name: "tally_test",
    migrations_table: "migrations",
    migrations: &[PostgresMigration {
        number: 1,
        name: "tally",
        compatible_from: 1,
        sql: "CREATE TABLE tally_test.tally (one text);",
    }],
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dialogue_that_was_kept_unheard_is_not_held_again() {
    let Some(site) = Site::fresh("a_dialogue_that_was_kept_unheard").await else { return };
    let proxy = Proxy::before(&site);
    let server = crate::site::server(&proxy.url);
    let database = Arc::new(PostgresDatabase::new(server, caller(), TALLY));
    let add = |dialogue: &PgTransaction<'_>| {
        let scope = TenantScope::Tenant("t");
        dialogue.query(scope, SqlStatement::new("INSERT INTO tally_test.tally VALUES ('one')"))?;
        Ok::<_, StoreError>(
            dialogue.query(scope, SqlStatement::new("SELECT 1 FROM tally_test.tally"))?.len(),
        )
    };
    database.ensure_migrated().await.unwrap();
    proxy.lose(1);
    assert_eq!(database.run_transaction(PgTransactionMode::ReadWrite, add).await.unwrap(), 1);
    assert_eq!(database.run_transaction(PgTransactionMode::DryRun, add).await.unwrap(), 2);
    // Cut before its end, nothing of it was kept, and it is held again.
    let admin = Arc::new(site.admin().await);
    let held = Arc::new(AtomicU32::new(0));
    let times = Arc::clone(&held);
    let cut = move |dialogue: &PgTransaction<'_>| {
        let all = add(dialogue)?;
        if times.fetch_add(1, Ordering::SeqCst) == 0 {
            let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()";
            tokio::runtime::Handle::current().block_on(admin.batch_execute(cut)).unwrap();
        }
        Ok::<_, StoreError>(all)
    };
    assert_eq!(database.run_transaction(PgTransactionMode::ReadWrite, cut).await.unwrap(), 2);
    assert_eq!(held.load(Ordering::SeqCst), 2);
    // What the work itself refuses is undone and not tried again.
    let refuse = move |dialogue: &PgTransaction<'_>| {
        add(dialogue)?;
        Err::<(), _>(StoreError::Closed)
    };
    assert!(matches!(
        database.run_transaction(PgTransactionMode::ReadWrite, refuse).await,
        Err(StoreError::Closed)
    ));
    assert_eq!(database.run_transaction(PgTransactionMode::DryRun, add).await.unwrap(), 3);
}
