//! The store's face over the writers and the questions. Checks what no store may keep before it queues.

use std::sync::Arc;

use countersign_postgres::Server;
use tokio_postgres::types::Type;

use super::database::{PostgresDatabase, Shared};
use super::health::PostgresHealth;
use super::migrate::RUNS_SCHEMA;
use super::notices::Notices;
use super::pipeline::{Call, Scope};
use super::settings::PostgresSettings;
use super::writer::Writer;
use super::{lease, prune, read, workers};
use crate::lease::check_request;
use crate::prune::check_pruning;
use crate::rounds::Round;
use crate::well_formed::{check_blob, check_commit, check_creation, name, plain};
use crate::worker::check_worker;
use crate::{
    ActionRow, Blob, Commit, EntryRow, Head, Lease, Loaded, Moment, NewRun, Pruned, Pruning, Reply,
    RunFilter, RunId, Store, StoreError, Taking, TenantId, WaitFilter, WaitRow, Wakes, Worker,
    WorkerRow,
};

const ADD_BLOB: &str = "INSERT INTO countersign.blobs (tenant, digest, bytes) VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING";
const ADD_PROTOCOL: &str = "INSERT INTO countersign.protocols (tenant, digest, text)
    VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";

/// Keeps runs in a `PostgreSQL` database.
///
/// Any number of programs on any number of machines may use one. What is used of it must be inside a
/// tokio runtime; where that ends, the next one gets new connections.
#[derive(Debug)]
pub struct PostgresStore {
    database: Shared,
    writer: Writer,
    round: Round,
    notices: Notices,
}

impl PostgresStore {
    /// A store on a server. Nothing is reached before it is asked, and its schema is brought forward
    /// before the first answer.
    #[must_use]
    pub fn new(server: Server, settings: PostgresSettings) -> Self {
        let database = Arc::new(PostgresDatabase::new(server, settings, RUNS_SCHEMA));
        let writer = Writer::new(Arc::clone(&database));
        let notices = Notices::new(Arc::clone(&database));
        Self { database, writer, round: Round::default(), notices }
    }

    /// The same, reached and brought forward.
    pub async fn open(server: Server, settings: PostgresSettings) -> Result<Self, StoreError> {
        let store = Self::new(server, settings);
        store.database.ready().await?;
        Ok(store)
    }

    /// The server behind it.
    #[must_use]
    pub fn server(&self) -> &Server {
        self.database.server()
    }

    fn ring(&self, calls: bool) {
        if calls {
            self.notices.tell();
        }
    }

    /// What the server is like.
    pub async fn health(&self) -> Result<PostgresHealth, StoreError> {
        PostgresHealth::of(self.server()).await
    }
}

impl Store for PostgresStore {
    fn create(&self, run: NewRun, commit: Commit) -> Reply<'_, ()> {
        Box::pin(async move {
            check_creation(&run, &commit)?;
            let calls = commit.calls();
            self.writer.submit(Some(run), commit).await?;
            self.ring(calls);
            Ok(())
        })
    }

    fn append(&self, commit: Commit) -> Reply<'_, ()> {
        Box::pin(async move {
            check_commit(&commit)?;
            let calls = commit.calls();
            self.writer.submit(None, commit).await?;
            self.ring(calls);
            Ok(())
        })
    }

    fn head<'a>(&'a self, run: &'a RunId) -> Reply<'a, Option<Head>> {
        Box::pin(read::head(&self.database, run))
    }

    fn load<'a>(&'a self, run: &'a RunId, at: Option<u64>) -> Reply<'a, Option<Loaded>> {
        Box::pin(read::load(&self.database, run, at))
    }

    fn log<'a>(
        &'a self,
        run: &'a RunId,
        after_version: u64,
        limit: usize,
    ) -> Reply<'a, Vec<EntryRow>> {
        Box::pin(read::log(&self.database, run, after_version, limit))
    }

    fn runs<'a>(&'a self, filter: &'a RunFilter) -> Reply<'a, Vec<Head>> {
        Box::pin(read::runs(&self.database, filter))
    }

    fn waits<'a>(&'a self, filter: &'a WaitFilter) -> Reply<'a, Vec<WaitRow>> {
        Box::pin(read::waits(&self.database, filter))
    }

    fn actions<'a>(&'a self, run: &'a RunId) -> Reply<'a, Vec<ActionRow>> {
        Box::pin(read::actions(&self.database, run))
    }

    fn keyed<'a>(&'a self, run: &'a RunId, key: &'a str) -> Reply<'a, Option<u64>> {
        Box::pin(read::keyed(&self.database, run, key))
    }

    fn keys<'a>(&'a self, run: &'a RunId) -> Reply<'a, Vec<(String, u64)>> {
        Box::pin(read::keys(&self.database, run))
    }

    fn take<'a>(&'a self, taking: &'a Taking) -> Reply<'a, Vec<Lease>> {
        Box::pin(async move {
            check_request(&taking.worker, taking.now, taking.until)?;
            let taken = workers::take(&self.database, taking, self.round.last().as_ref()).await?;
            taken.last().inspect(|lease| self.round.served(&lease.run.tenant));
            Ok(taken)
        })
    }

    fn lease<'a>(
        &'a self,
        run: &'a RunId,
        worker: &'a str,
        now: i64,
        until: i64,
    ) -> Reply<'a, Option<Lease>> {
        Box::pin(async move {
            check_request(worker, now, until)?;
            lease::lease(&self.database, run, worker, now, until).await
        })
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> Reply<'a, ()> {
        Box::pin(async move {
            self.ring(lease::release(&self.database, lease).await?);
            Ok(())
        })
    }

    fn expire<'a>(&'a self, lease: &'a Lease) -> Reply<'a, ()> {
        Box::pin(async move {
            self.ring(lease::expire(&self.database, lease).await?);
            Ok(())
        })
    }

    fn parked<'a>(&'a self, tenant: &'a TenantId, now: i64, limit: usize) -> Reply<'a, Vec<Head>> {
        Box::pin(read::parked(&self.database, tenant, now, limit))
    }

    fn unpark<'a>(&'a self, run: &'a RunId, now: i64) -> Reply<'a, bool> {
        Box::pin(async move {
            let unparked = lease::unpark(&self.database, run, now).await?;
            self.ring(unparked);
            Ok(unparked)
        })
    }

    fn rest<'a>(&'a self, lease: &'a Lease, version: u64, wake_at: Option<i64>) -> Reply<'a, bool> {
        Box::pin(async move {
            let rests = lease::rest(&self.database, lease, version, wake_at).await?;
            self.ring(!rests);
            Ok(rests)
        })
    }

    fn held(&self, now: i64, limit: usize) -> Reply<'_, Vec<Lease>> {
        Box::pin(workers::held(&self.database, now, limit))
    }

    fn announce<'a>(&'a self, worker: &'a Worker, now: i64, until: i64) -> Reply<'a, ()> {
        Box::pin(async move {
            check_worker(worker, now, until)?;
            workers::announce(&self.database, worker, now, until).await
        })
    }

    fn retire<'a>(&'a self, name: &'a str) -> Reply<'a, ()> {
        Box::pin(workers::retire(&self.database, name))
    }

    fn workers(&self, now: i64) -> Reply<'_, Vec<WorkerRow>> {
        Box::pin(workers::workers(&self.database, now))
    }

    fn tenants(&self) -> Reply<'_, Vec<TenantId>> {
        Box::pin(workers::tenants(&self.database))
    }

    fn moment(&self) -> Reply<'_, Moment> {
        Box::pin(prune::moment(&self.database))
    }

    fn prune<'a>(&'a self, pruning: &'a Pruning) -> Reply<'a, Pruned> {
        Box::pin(async move {
            check_pruning(pruning)?;
            prune::prune(&self.database, pruning.clone()).await
        })
    }

    fn wakes(&self) -> Wakes {
        self.notices.listen()
    }

    fn put_blob<'a>(&'a self, tenant: &'a TenantId, blob: Blob) -> Reply<'a, ()> {
        Box::pin(async move {
            name("tenant", tenant.as_str())?;
            check_blob(&blob)?;
            let tenant = tenant.as_str();
            let call = Call::new(ADD_BLOB).text(&tenant).text(&blob.digest);
            let call = call.with(&blob.bytes, Type::BYTEA);
            self.database.change(Scope::Tenant(tenant), &[call]).await.map(|_| ())
        })
    }

    fn blob<'a>(&'a self, tenant: &'a TenantId, digest: &'a str) -> Reply<'a, Option<Vec<u8>>> {
        Box::pin(read::blob(&self.database, tenant, digest))
    }

    fn put_protocol<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
        text: &'a str,
    ) -> Reply<'a, ()> {
        Box::pin(async move {
            name("tenant", tenant.as_str())?;
            name("digest", digest)?;
            plain("protocol", text)?;
            let tenant = tenant.as_str();
            let call = Call::new(ADD_PROTOCOL).text(&tenant).text(&digest).text(&text);
            self.database.change(Scope::Tenant(tenant), &[call]).await.map(|_| ())
        })
    }

    fn protocol<'a>(&'a self, tenant: &'a TenantId, digest: &'a str) -> Reply<'a, Option<String>> {
        Box::pin(read::protocol(&self.database, tenant, digest))
    }

    fn resolve<'a>(&'a self, tenant: &'a TenantId, prefix: &'a str) -> Reply<'a, Vec<RunId>> {
        Box::pin(read::resolve(&self.database, tenant, prefix))
    }
}
