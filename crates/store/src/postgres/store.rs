//! Implements the `Store` trait with the writers and the queries. Validates requests before it
//! queues them.

use std::sync::Arc;

use countersign_postgres::PgServer;
use tokio_postgres::types::Type;

use super::database::{PostgresDatabase, SharedPgDatabase};
use super::health::PostgresHealth;
use super::migrate::RUNS_SCHEMA;
use super::pipeline::{SqlStatement, TenantScope};
use super::settings::PostgresSettings;
use super::wake_channel::PgWakeChannel;
use super::writer::PgWriter;
use super::{lease, prune, queries, run_search, workers};
use crate::lease::check_lease_term;
use crate::prune::check_prune_request;
use crate::round_robin::TenantRoundRobin;
use crate::validation::{check_blob, check_commit, check_creation, check_name, check_text};
use crate::worker::check_worker;
use crate::{
    ActionRow, Blob, ChildRunFilter, ContentStore, DueRunsRequest, Lease, LeaseStore, LoadedRun,
    LogEntryRow, NewRun, PruneRequest, PruneStats, RunCommit, RunFilter, RunHead, RunId, RunStats,
    RunStatsFilter, RunStore, StoreError, StoreFuture, StoreMaintenance, StoreWatermark, TenantId,
    WaitFilter, WaitRow, WakeListener, WorkerInfo, WorkerRow,
};

const ADD_BLOB: &str = "INSERT INTO countersign.blobs (tenant, digest, bytes) VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING";
const ADD_PROTOCOL: &str = "INSERT INTO countersign.protocols (tenant, digest, text)
    VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";

/// Keeps runs in a `PostgreSQL` database.
///
/// Any number of programs on any number of machines may share one database. Call the store inside a
/// tokio runtime; when that runtime ends, the next one gets new connections.
#[derive(Debug)]
pub struct PostgresStore {
    database: SharedPgDatabase,
    writer: PgWriter,
    round_robin: TenantRoundRobin,
    wake_channel: PgWakeChannel,
}

impl PostgresStore {
    /// Creates a store on a server without connecting. The first call connects and migrates the
    /// schema before it returns a result.
    #[must_use]
    pub fn new(server: PgServer, settings: PostgresSettings) -> Self {
        let database = Arc::new(PostgresDatabase::new(server, settings, RUNS_SCHEMA));
        let writer = PgWriter::new(Arc::clone(&database));
        let wake_channel = PgWakeChannel::new(Arc::clone(&database));
        Self { database, writer, round_robin: TenantRoundRobin::default(), wake_channel }
    }

    /// Creates a store, connects, and migrates the schema.
    pub async fn open(server: PgServer, settings: PostgresSettings) -> Result<Self, StoreError> {
        let store = Self::new(server, settings);
        store.database.ensure_migrated().await?;
        Ok(store)
    }

    /// Returns the server that the store connects to.
    #[must_use]
    pub fn server(&self) -> &PgServer {
        self.database.server()
    }

    fn notify_if(&self, calls: bool) {
        if calls {
            self.wake_channel.notify();
        }
    }

    /// Connects to the server and reads its state.
    pub async fn probe_health(&self) -> Result<PostgresHealth, StoreError> {
        PostgresHealth::probe(self.server()).await
    }
}

impl RunStore for PostgresStore {
    fn create_run(&self, run: NewRun, commit: RunCommit) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            check_creation(&run, &commit)?;
            let calls = commit.makes_run_due();
            self.writer.submit_commit(Some(run), commit).await?;
            self.notify_if(calls);
            Ok(())
        })
    }

    fn append_commit(&self, commit: RunCommit) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            check_commit(&commit)?;
            let calls = commit.makes_run_due();
            self.writer.submit_commit(None, commit).await?;
            self.notify_if(calls);
            Ok(())
        })
    }

    fn load_head<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Option<RunHead>> {
        Box::pin(queries::load_head(&self.database, run))
    }

    fn load_run<'a>(
        &'a self,
        run: &'a RunId,
        at: Option<u64>,
    ) -> StoreFuture<'a, Option<LoadedRun>> {
        Box::pin(queries::load_run(&self.database, run, at))
    }

    fn read_log<'a>(
        &'a self,
        run: &'a RunId,
        after_version: u64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<LogEntryRow>> {
        Box::pin(queries::read_log(&self.database, run, after_version, limit))
    }

    fn list_runs<'a>(&'a self, filter: &'a RunFilter) -> StoreFuture<'a, Vec<RunHead>> {
        Box::pin(queries::list_runs(&self.database, filter))
    }

    fn list_child_runs<'a>(&'a self, filter: &'a ChildRunFilter) -> StoreFuture<'a, Vec<RunHead>> {
        Box::pin(queries::list_child_runs(&self.database, filter))
    }

    fn load_search_terms<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<String>> {
        Box::pin(run_search::load_terms(&self.database, run))
    }

    fn read_run_stats<'a>(&'a self, filter: &'a RunStatsFilter) -> StoreFuture<'a, RunStats> {
        Box::pin(run_search::read_run_stats(&self.database, filter))
    }

    fn list_waits<'a>(&'a self, filter: &'a WaitFilter) -> StoreFuture<'a, Vec<WaitRow>> {
        Box::pin(queries::list_waits(&self.database, filter))
    }

    fn list_actions<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<ActionRow>> {
        Box::pin(queries::list_actions(&self.database, run))
    }

    fn find_key_version<'a>(
        &'a self,
        run: &'a RunId,
        key: &'a str,
    ) -> StoreFuture<'a, Option<u64>> {
        Box::pin(queries::find_key_version(&self.database, run, key))
    }

    fn list_keys<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<(String, u64)>> {
        Box::pin(queries::list_keys(&self.database, run))
    }

    fn resolve_run_id<'a>(
        &'a self,
        tenant: &'a TenantId,
        prefix: &'a str,
    ) -> StoreFuture<'a, Vec<RunId>> {
        Box::pin(queries::resolve_run_id(&self.database, tenant, prefix))
    }
}

impl LeaseStore for PostgresStore {
    fn acquire_due_runs<'a>(&'a self, taking: &'a DueRunsRequest) -> StoreFuture<'a, Vec<Lease>> {
        Box::pin(async move {
            check_lease_term(&taking.worker, taking.now, taking.until)?;
            let taken = workers::acquire_due_runs(
                &self.database,
                taking,
                self.round_robin.last_served().as_ref(),
            )
            .await?;
            taken.last().inspect(|lease| self.round_robin.set_last_served(&lease.run.tenant));
            Ok(taken)
        })
    }

    fn acquire_lease<'a>(
        &'a self,
        run: &'a RunId,
        worker: &'a str,
        now: i64,
        until: i64,
    ) -> StoreFuture<'a, Option<Lease>> {
        Box::pin(async move {
            check_lease_term(worker, now, until)?;
            lease::acquire_lease(&self.database, run, worker, now, until).await
        })
    }

    fn release_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.notify_if(lease::release_lease(&self.database, lease).await?);
            Ok(())
        })
    }

    fn expire_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.notify_if(lease::expire_lease(&self.database, lease).await?);
            Ok(())
        })
    }

    fn list_parked_runs<'a>(
        &'a self,
        tenant: &'a TenantId,
        now: i64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<RunHead>> {
        Box::pin(queries::list_parked_runs(&self.database, tenant, now, limit))
    }

    fn unpark_run<'a>(&'a self, run: &'a RunId, now: i64) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let unparked = lease::unpark_run(&self.database, run, now).await?;
            self.notify_if(unparked);
            Ok(unparked)
        })
    }

    fn suspend_run<'a>(
        &'a self,
        lease: &'a Lease,
        version: u64,
        wake_at: Option<i64>,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let rests = lease::suspend_run(&self.database, lease, version, wake_at).await?;
            self.notify_if(!rests);
            Ok(rests)
        })
    }

    fn list_leases(&self, now: i64, limit: usize) -> StoreFuture<'_, Vec<Lease>> {
        Box::pin(workers::list_leases(&self.database, now, limit))
    }

    fn record_heartbeat<'a>(
        &'a self,
        worker: &'a WorkerInfo,
        now: i64,
        until: i64,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            check_worker(worker, now, until)?;
            workers::record_heartbeat(&self.database, worker, now, until).await
        })
    }

    fn remove_worker<'a>(&'a self, name: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(workers::remove_worker(&self.database, name))
    }

    fn list_workers(&self, now: i64) -> StoreFuture<'_, Vec<WorkerRow>> {
        Box::pin(workers::list_workers(&self.database, now))
    }

    fn subscribe_wakes(&self) -> WakeListener {
        self.wake_channel.subscribe()
    }
}

impl ContentStore for PostgresStore {
    fn put_blob<'a>(&'a self, tenant: &'a TenantId, blob: Blob) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            check_name("tenant", tenant.as_str())?;
            check_blob(&blob)?;
            let tenant = tenant.as_str();
            let call = SqlStatement::new(ADD_BLOB).bind_text(&tenant).bind_text(&blob.digest);
            let call = call.bind(&blob.bytes, Type::BYTEA);
            self.database.execute_all(TenantScope::Tenant(tenant), &[call]).await.map(|_| ())
        })
    }

    fn load_blob<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
    ) -> StoreFuture<'a, Option<Vec<u8>>> {
        Box::pin(queries::load_blob(&self.database, tenant, digest))
    }

    fn put_protocol<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
        text: &'a str,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            check_name("tenant", tenant.as_str())?;
            check_name("digest", digest)?;
            check_text("protocol", text)?;
            let tenant = tenant.as_str();
            let call = SqlStatement::new(ADD_PROTOCOL)
                .bind_text(&tenant)
                .bind_text(&digest)
                .bind_text(&text);
            self.database.execute_all(TenantScope::Tenant(tenant), &[call]).await.map(|_| ())
        })
    }

    fn load_protocol<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
    ) -> StoreFuture<'a, Option<String>> {
        Box::pin(queries::load_protocol(&self.database, tenant, digest))
    }
}

impl StoreMaintenance for PostgresStore {
    fn list_tenants(&self) -> StoreFuture<'_, Vec<TenantId>> {
        Box::pin(workers::list_tenants(&self.database))
    }

    fn read_watermark(&self) -> StoreFuture<'_, StoreWatermark> {
        Box::pin(prune::read_watermark(&self.database))
    }

    fn prune_run<'a>(&'a self, pruning: &'a PruneRequest) -> StoreFuture<'a, PruneStats> {
        Box::pin(async move {
            check_prune_request(pruning)?;
            prune::prune_run(&self.database, pruning.clone()).await
        })
    }
}
