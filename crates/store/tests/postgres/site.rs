//! A database of its own for a test, gone with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use countersign_postgres::{PgConnectOptions, PgServer};
use countersign_store::{LeaseClock, PostgresSettings, PostgresStore, Store};
use tokio_postgres::{Client, NoTls};

const ADDRESS: &str = "COUNTERSIGN_TEST_POSTGRES";

/// Where a pooler is that leads to the same server, logged in as the role that `ROLE` names: the suite
/// can be run through one by hand (docs/measurements/postgres.md).
const POOLER: &str = "COUNTERSIGN_TEST_POOLER";
const ROLE: &str = "COUNTERSIGN_TEST_POOLER_ROLE";

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A database on the server of the tests.
pub(crate) struct Site {
    base: String,
    name: String,
}

impl Site {
    /// An empty database; `None`, and a word about it, where there is no server.
    pub(crate) async fn fresh(test: &str) -> Option<Self> {
        let Ok(base) = std::env::var(ADDRESS) else {
            let why =
                format!("{ADDRESS} is not set; `cargo xtask verify` starts a server where it can");
            testkit::report_not_run(&format!("postgres: {test}"), &why);
            return None;
        };
        Some(Self::on(base).await)
    }

    /// An empty database on a server.
    pub(crate) async fn on(base: String) -> Self {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("t{}_{number}", std::process::id());
        let site = Self { base, name };
        let admin = connect(&site.base).await;
        let (name, role) = (&site.name, site.role());
        // Row-level security is nothing to a superuser, so the tests are none.
        let _ = admin.batch_execute(&format!("CREATE ROLE {role} LOGIN")).await;
        let create = format!("CREATE DATABASE {name} OWNER {role} TEMPLATE template0");
        admin.batch_execute(&create).await.unwrap();
        site
    }

    /// What the database is called.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The role that owns the database and nothing else.
    pub(crate) fn role(&self) -> String {
        std::env::var(ROLE).unwrap_or_else(|_| format!("r_{}", self.name))
    }

    /// A client who may do everything, on the database.
    pub(crate) async fn admin(&self) -> Client {
        let (server, _) = self.base.rsplit_once('/').unwrap();
        connect(&format!("{server}/{}", self.name)).await
    }

    /// The address of the database.
    pub(crate) fn url(&self) -> String {
        let base = std::env::var(POOLER).unwrap_or_else(|_| self.base.clone());
        let (server, _) = base.rsplit_once('/').unwrap();
        let server = server.replace("tester@", &format!("{}@", self.role()));
        format!("{server}/{}", self.name)
    }

    /// A store that goes by the times it is told.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::new(store(&self.url(), caller()))
    }

    /// A client of our own.
    pub(crate) async fn client(&self) -> Client {
        connect(&self.url()).await
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // The runtime of the test may be ending: the database is dropped from another one.
        let (base, name) = (self.base.clone(), self.name.clone());
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let Ok((admin, connection)) = tokio_postgres::connect(&base, NoTls).await else {
                    return;
                };
                drop(tokio::spawn(connection));
                let gone = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                let _ = admin.batch_execute(&gone).await;
                let _ = admin.batch_execute(&format!("DROP ROLE IF EXISTS r_{name}")).await;
            });
        });
        let _ = dropped.join();
    }
}

/// Settings for tests, which make times up.
pub(crate) fn caller() -> PostgresSettings {
    PostgresSettings { clock: LeaseClock::Caller, ..PostgresSettings::default() }
}

/// A server at an address.
pub(crate) fn server(url: &str) -> PgServer {
    PgServer::parse(url, &PgConnectOptions::default()).unwrap()
}

/// A store at an address.
pub(crate) fn store(url: &str, settings: PostgresSettings) -> PostgresStore {
    PostgresStore::new(server(url), settings)
}

/// A client at an address.
pub(crate) async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    drop(tokio::spawn(connection));
    client
}
