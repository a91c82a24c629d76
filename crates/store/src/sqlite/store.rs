//! Implements the `Store` trait with the writer and the readers. Validates requests before it
//! queues them.

use std::path::Path;

use rusqlite::Connection;

use super::connector::SqliteSettings;
use super::migrate::RUNS_SCHEMA;
use super::sqlite_file::SqliteFile;
use super::{due_runs, mutations, prune, queries, run_search, workers};
use crate::lease::{LeaseState, check_lease_term};
use crate::prune::check_prune_request;
use crate::round_robin::TenantRoundRobin;
use crate::validation::{check_blob, check_commit, check_creation, check_name, check_text};
use crate::wake::WakeNotifier;
use crate::worker::check_worker;
use crate::{
    ActionRow, Blob, ChildRunFilter, ContentStore, DueRunsRequest, Lease, LeaseStore, LoadedRun,
    LogEntryRow, NewRun, PruneRequest, PruneStats, RunCommit, RunFilter, RunHead, RunId, RunStats,
    RunStatsFilter, RunStore, StoreError, StoreFuture, StoreMaintenance, StoreWatermark, TenantId,
    WaitFilter, WaitRow, WakeListener, WorkerInfo, WorkerRow,
};

/// Keeps runs in one `SQLite` file.
///
/// Several processes may have the file open. Dropping the store finishes the queued writes and
/// closes the file.
#[derive(Debug)]
pub struct SqliteStore {
    file: SqliteFile,
    round_robin: TenantRoundRobin,
    wake_notifier: WakeNotifier,
}

impl SqliteStore {
    /// Opens a file with the default settings, creates it if there is none, and migrates its
    /// schema.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, SqliteSettings::default())
    }

    /// Opens a file with other settings than the default.
    pub fn open_with(path: impl AsRef<Path>, settings: SqliteSettings) -> Result<Self, StoreError> {
        let file = SqliteFile::open(path, settings, RUNS_SCHEMA)?;
        Ok(Self {
            file,
            round_robin: TenantRoundRobin::default(),
            wake_notifier: WakeNotifier::default(),
        })
    }

    fn run_write<T: Send + 'static>(
        &self,
        check: Result<(), StoreError>,
        work: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        Box::pin(async move {
            check?;
            self.file.write(work).await
        })
    }

    /// Writes a commit, and notifies listeners if it makes a run due.
    fn write_commit(
        &self,
        check: Result<(), StoreError>,
        calls: bool,
        work: impl Fn(&Connection) -> Result<(), StoreError> + Send + 'static,
    ) -> StoreFuture<'_, ()> {
        let kept = self.run_write(check, work);
        Box::pin(async move {
            kept.await?;
            self.notify_if(calls);
            Ok(())
        })
    }

    fn notify_if(&self, calls: bool) {
        if calls {
            self.wake_notifier.notify();
        }
    }

    fn run_read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        Box::pin(self.file.read(question))
    }
}

impl RunStore for SqliteStore {
    fn create_run(&self, run: NewRun, commit: RunCommit) -> StoreFuture<'_, ()> {
        let check = check_creation(&run, &commit);
        self.write_commit(check, commit.makes_run_due(), move |db| {
            mutations::create_run(db, &run, &commit)
        })
    }

    fn append_commit(&self, commit: RunCommit) -> StoreFuture<'_, ()> {
        self.write_commit(check_commit(&commit), commit.makes_run_due(), move |db| {
            mutations::append_commit(db, &commit)
        })
    }

    fn load_head<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Option<RunHead>> {
        let run = run.clone();
        self.run_read(move |db| queries::load_head(db, &run))
    }

    fn load_run<'a>(
        &'a self,
        run: &'a RunId,
        at: Option<u64>,
    ) -> StoreFuture<'a, Option<LoadedRun>> {
        let run = run.clone();
        self.run_read(move |db| queries::load_run(db, &run, at))
    }

    fn read_log<'a>(
        &'a self,
        run: &'a RunId,
        after_version: u64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<LogEntryRow>> {
        let run = run.clone();
        self.run_read(move |db| queries::read_log(db, &run, after_version, limit))
    }

    fn list_runs<'a>(&'a self, filter: &'a RunFilter) -> StoreFuture<'a, Vec<RunHead>> {
        let filter = filter.clone();
        self.run_read(move |db| queries::list_runs(db, &filter))
    }

    fn list_child_runs<'a>(&'a self, filter: &'a ChildRunFilter) -> StoreFuture<'a, Vec<RunHead>> {
        let filter = filter.clone();
        self.run_read(move |db| queries::list_child_runs(db, &filter))
    }

    fn load_search_terms<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<String>> {
        let run = run.clone();
        self.run_read(move |db| run_search::load_terms(db, &run))
    }

    fn read_run_stats<'a>(&'a self, filter: &'a RunStatsFilter) -> StoreFuture<'a, RunStats> {
        let filter = filter.clone();
        self.run_read(move |db| queries::read_run_stats(db, &filter))
    }

    fn list_waits<'a>(&'a self, filter: &'a WaitFilter) -> StoreFuture<'a, Vec<WaitRow>> {
        let filter = filter.clone();
        self.run_read(move |db| queries::list_waits(db, &filter))
    }

    fn list_actions<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<ActionRow>> {
        let run = run.clone();
        self.run_read(move |db| queries::list_actions(db, &run))
    }

    fn find_key_version<'a>(
        &'a self,
        run: &'a RunId,
        key: &'a str,
    ) -> StoreFuture<'a, Option<u64>> {
        let (run, key) = (run.clone(), key.to_owned());
        self.run_read(move |db| queries::find_key_version(db, &run, &key))
    }

    fn list_keys<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<(String, u64)>> {
        let run = run.clone();
        self.run_read(move |db| queries::list_keys(db, &run))
    }

    fn resolve_run_id<'a>(
        &'a self,
        tenant: &'a TenantId,
        prefix: &'a str,
    ) -> StoreFuture<'a, Vec<RunId>> {
        let (tenant, prefix) = (tenant.clone(), prefix.to_owned());
        self.run_read(move |db| queries::resolve_run_id(db, &tenant, &prefix))
    }
}

impl LeaseStore for SqliteStore {
    fn acquire_due_runs<'a>(&'a self, taking: &'a DueRunsRequest) -> StoreFuture<'a, Vec<Lease>> {
        Box::pin(async move {
            check_lease_term(&taking.worker, taking.now, taking.until)?;
            let (taking, asked, last) =
                (taking.clone(), taking.clone(), self.round_robin.last_served());
            // Workers poll often, mostly when nothing is due: polling must not block writers.
            if taking.limit == 0
                || !self.file.read(move |db| due_runs::has_due_runs(db, &asked)).await?
            {
                return Ok(Vec::new());
            }
            let taken =
                self.file.write(move |db| workers::acquire_due_runs(db, &taking, last.as_ref()));
            let taken = taken.await?;
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
        let (run, name) = (run.clone(), worker.to_owned());
        let check = check_lease_term(worker, now, until);
        self.run_write(check, move |db| mutations::acquire_lease(db, &run, &name, now, until))
    }

    fn release_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        let lease = lease.clone();
        let released = self.run_write(Ok(()), move |db| {
            mutations::release_lease_as(db, &lease, |known, _| known.to_released())
        });
        Box::pin(async move {
            self.notify_if(released.await?);
            Ok(())
        })
    }

    fn expire_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        let lease = lease.clone();
        let expired = self.run_write(Ok(()), move |db| {
            mutations::release_lease_as(db, &lease, LeaseState::to_expired)
        });
        Box::pin(async move {
            self.notify_if(expired.await?);
            Ok(())
        })
    }

    fn list_parked_runs<'a>(
        &'a self,
        tenant: &'a TenantId,
        now: i64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<RunHead>> {
        let tenant = tenant.clone();
        self.run_read(move |db| queries::list_parked_runs(db, &tenant, now, limit))
    }

    fn unpark_run<'a>(&'a self, run: &'a RunId, now: i64) -> StoreFuture<'a, bool> {
        let run = run.clone();
        let unparked = self.run_write(Ok(()), move |db| mutations::unpark_run(db, &run, now));
        Box::pin(async move {
            let unparked = unparked.await?;
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
        let lease = lease.clone();
        let rested =
            self.run_write(Ok(()), move |db| workers::suspend_run(db, &lease, version, wake_at));
        Box::pin(async move {
            let rests = rested.await?;
            self.notify_if(!rests);
            Ok(rests)
        })
    }

    fn list_leases(&self, now: i64, limit: usize) -> StoreFuture<'_, Vec<Lease>> {
        self.run_read(move |db| workers::list_leases(db, now, limit))
    }

    fn record_heartbeat<'a>(
        &'a self,
        worker: &'a WorkerInfo,
        now: i64,
        until: i64,
    ) -> StoreFuture<'a, ()> {
        let check = check_worker(worker, now, until);
        let worker = worker.clone();
        self.run_write(check, move |db| workers::record_heartbeat(db, &worker, now, until))
    }

    fn remove_worker<'a>(&'a self, name: &'a str) -> StoreFuture<'a, ()> {
        let name = name.to_owned();
        self.run_write(Ok(()), move |db| workers::remove_worker(db, &name))
    }

    fn list_workers(&self, now: i64) -> StoreFuture<'_, Vec<WorkerRow>> {
        self.run_read(move |db| workers::list_workers(db, now))
    }

    fn subscribe_wakes(&self) -> WakeListener {
        self.wake_notifier.subscribe()
    }
}

impl ContentStore for SqliteStore {
    fn put_blob<'a>(&'a self, tenant: &'a TenantId, blob: Blob) -> StoreFuture<'a, ()> {
        let check = check_name("tenant", tenant.as_str()).and_then(|()| check_blob(&blob));
        let tenant = tenant.clone();
        self.run_write(check, move |db| mutations::insert_blob(db, &tenant, &blob))
    }

    fn load_blob<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
    ) -> StoreFuture<'a, Option<Vec<u8>>> {
        let (tenant, digest) = (tenant.clone(), digest.to_owned());
        self.run_read(move |db| queries::load_blob(db, &tenant, &digest))
    }

    fn put_protocol<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
        text: &'a str,
    ) -> StoreFuture<'a, ()> {
        let check = check_name("tenant", tenant.as_str())
            .and_then(|()| check_name("digest", digest))
            .and_then(|()| check_text("protocol", text));
        let (tenant, digest, text) = (tenant.clone(), digest.to_owned(), text.to_owned());
        self.run_write(check, move |db| mutations::insert_protocol(db, &tenant, &digest, &text))
    }

    fn load_protocol<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
    ) -> StoreFuture<'a, Option<String>> {
        let (tenant, digest) = (tenant.clone(), digest.to_owned());
        self.run_read(move |db| queries::load_protocol(db, &tenant, &digest))
    }
}

impl StoreMaintenance for SqliteStore {
    fn list_tenants(&self) -> StoreFuture<'_, Vec<TenantId>> {
        self.run_read(workers::list_tenants)
    }

    fn read_watermark(&self) -> StoreFuture<'_, StoreWatermark> {
        self.run_read(prune::read_watermark)
    }

    fn prune_run<'a>(&'a self, pruning: &'a PruneRequest) -> StoreFuture<'a, PruneStats> {
        let (check, pruning) = (check_prune_request(pruning), pruning.clone());
        self.run_write(check, move |db| prune::prune_run(db, &pruning))
    }

    fn check_ready(&self) -> StoreFuture<'_, ()> {
        Box::pin(self.file.check_ready())
    }
}
