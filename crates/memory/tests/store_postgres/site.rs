//! A database of its own for a test, gone with it.

use std::sync::atomic::{AtomicU32, Ordering};

use countersign_memory::store::PostgresMemory;
use countersign_postgres::{PgConnectOptions, PgServer};
use countersign_store::PostgresSettings;
use tokio_postgres::{Client, NoTls};

const ADDRESS: &str = "COUNTERSIGN_TEST_POSTGRES";

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
            testkit::report_not_run(&format!("memory in postgres: {test}"), &why);
            return None;
        };
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("m{}_{number}", std::process::id());
        let admin = connect(&base).await;
        // Row-level security is nothing to a superuser, so the tests are none.
        admin.batch_execute(&format!("CREATE ROLE r_{name} LOGIN")).await.unwrap();
        let create = format!("CREATE DATABASE {name} OWNER r_{name} TEMPLATE template0");
        admin.batch_execute(&create).await.unwrap();
        Some(Self { base, name })
    }

    /// A server, as the owner of the database.
    pub(crate) fn server(&self) -> PgServer {
        PgServer::parse(&self.url(), &PgConnectOptions::default()).unwrap()
    }

    /// A memory in the database.
    pub(crate) fn memory(&self) -> PostgresMemory {
        PostgresMemory::new(self.server(), PostgresSettings::default())
    }

    /// A client of our own, as the owner of the database.
    pub(crate) async fn client(&self) -> Client {
        connect(&self.url()).await
    }

    /// A client who may do everything.
    pub(crate) async fn admin(&self) -> Client {
        let (server, _) = self.base.rsplit_once('/').unwrap();
        connect(&format!("{server}/{}", self.name)).await
    }

    /// The role that owns the database and nothing else.
    pub(crate) fn role(&self) -> String {
        format!("r_{}", self.name)
    }

    /// The address of the database.
    pub(crate) fn url(&self) -> String {
        let (server, _) = self.base.rsplit_once('/').unwrap();
        format!("{}/{}", server.replace("tester@", &format!("{}@", self.role())), self.name)
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

/// A client at an address.
async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    drop(tokio::spawn(connection));
    client
}
