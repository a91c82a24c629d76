//! The store's face over the writer and the readers. Checks what no store may keep before it queues.

use std::path::Path;

use rusqlite::Connection;

use super::connection::Settings;
use super::file::SqliteFile;
use super::migrate::RUNS_SCHEMA;
use super::{due, prune, read, workers, write};
use crate::lease::{Tenure, check_request};
use crate::prune::check_pruning;
use crate::rounds::Round;
use crate::wakes::Bell;
use crate::well_formed::{check_blob, check_commit, check_creation, name, plain};
use crate::worker::check_worker;
use crate::{
    ActionRow, Blob, Commit, EntryRow, Head, Lease, Loaded, Moment, NewRun, Pruned, Pruning, Reply,
    RunFilter, RunId, Store, StoreError, Taking, TenantId, WaitFilter, WaitRow, Wakes, Worker,
    WorkerRow,
};

/// Keeps runs in one `SQLite` file.
///
/// Several processes may have the file open. Dropping the store finishes what is queued and closes
/// the file.
#[derive(Debug)]
pub struct SqliteStore {
    file: SqliteFile,
    round: Round,
    bell: Bell,
}

impl SqliteStore {
    /// Opens a file, makes it where there is none, and brings its schema forward.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, Settings::default())
    }

    /// Opens a file in another way than the usual one.
    pub fn open_with(path: impl AsRef<Path>, settings: Settings) -> Result<Self, StoreError> {
        let file = SqliteFile::open(path, settings, RUNS_SCHEMA)?;
        Ok(Self { file, round: Round::default(), bell: Bell::default() })
    }

    fn write<T: Send + 'static>(
        &self,
        check: Result<(), StoreError>,
        work: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Reply<'_, T> {
        Box::pin(async move {
            check?;
            self.file.write(work).await
        })
    }

    /// Keeps a commit, and tells who listens where it makes a run due.
    fn keep(
        &self,
        check: Result<(), StoreError>,
        calls: bool,
        work: impl Fn(&Connection) -> Result<(), StoreError> + Send + 'static,
    ) -> Reply<'_, ()> {
        let kept = self.write(check, work);
        Box::pin(async move {
            kept.await?;
            self.ring(calls);
            Ok(())
        })
    }

    fn ring(&self, calls: bool) {
        if calls {
            self.bell.ring();
        }
    }

    fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Reply<'_, T> {
        Box::pin(self.file.read(question))
    }
}

impl Store for SqliteStore {
    fn create(&self, run: NewRun, commit: Commit) -> Reply<'_, ()> {
        let check = check_creation(&run, &commit);
        self.keep(check, commit.calls(), move |db| write::create(db, &run, &commit))
    }

    fn append(&self, commit: Commit) -> Reply<'_, ()> {
        self.keep(check_commit(&commit), commit.calls(), move |db| write::append(db, &commit))
    }

    fn head<'a>(&'a self, run: &'a RunId) -> Reply<'a, Option<Head>> {
        let run = run.clone();
        self.read(move |db| read::head(db, &run))
    }

    fn load<'a>(&'a self, run: &'a RunId, at: Option<u64>) -> Reply<'a, Option<Loaded>> {
        let run = run.clone();
        self.read(move |db| read::load(db, &run, at))
    }

    fn log<'a>(
        &'a self,
        run: &'a RunId,
        after_version: u64,
        limit: usize,
    ) -> Reply<'a, Vec<EntryRow>> {
        let run = run.clone();
        self.read(move |db| read::log(db, &run, after_version, limit))
    }

    fn runs<'a>(&'a self, filter: &'a RunFilter) -> Reply<'a, Vec<Head>> {
        let filter = filter.clone();
        self.read(move |db| read::runs(db, &filter))
    }

    fn waits<'a>(&'a self, filter: &'a WaitFilter) -> Reply<'a, Vec<WaitRow>> {
        let filter = filter.clone();
        self.read(move |db| read::waits(db, &filter))
    }

    fn actions<'a>(&'a self, run: &'a RunId) -> Reply<'a, Vec<ActionRow>> {
        let run = run.clone();
        self.read(move |db| read::actions(db, &run))
    }

    fn keyed<'a>(&'a self, run: &'a RunId, key: &'a str) -> Reply<'a, Option<u64>> {
        let (run, key) = (run.clone(), key.to_owned());
        self.read(move |db| read::keyed(db, &run, &key))
    }

    fn keys<'a>(&'a self, run: &'a RunId) -> Reply<'a, Vec<(String, u64)>> {
        let run = run.clone();
        self.read(move |db| read::keys(db, &run))
    }

    fn take<'a>(&'a self, taking: &'a Taking) -> Reply<'a, Vec<Lease>> {
        Box::pin(async move {
            check_request(&taking.worker, taking.now, taking.until)?;
            let (taking, asked, last) = (taking.clone(), taking.clone(), self.round.last());
            // Workers ask often and mostly for nothing: that must not stand in the way of who writes.
            if taking.limit == 0 || !self.file.read(move |db| due::is_any(db, &asked)).await? {
                return Ok(Vec::new());
            }
            let taken = self.file.write(move |db| workers::take(db, &taking, last.as_ref()));
            let taken = taken.await?;
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
        let (run, name) = (run.clone(), worker.to_owned());
        let check = check_request(worker, now, until);
        self.write(check, move |db| write::lease(db, &run, &name, now, until))
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> Reply<'a, ()> {
        let lease = lease.clone();
        let released =
            self.write(Ok(()), move |db| write::free(db, &lease, |known, _| known.released()));
        Box::pin(async move {
            self.ring(released.await?);
            Ok(())
        })
    }

    fn expire<'a>(&'a self, lease: &'a Lease) -> Reply<'a, ()> {
        let lease = lease.clone();
        let expired = self.write(Ok(()), move |db| write::free(db, &lease, Tenure::expired));
        Box::pin(async move {
            self.ring(expired.await?);
            Ok(())
        })
    }

    fn parked<'a>(&'a self, tenant: &'a TenantId, now: i64, limit: usize) -> Reply<'a, Vec<Head>> {
        let tenant = tenant.clone();
        self.read(move |db| read::parked(db, &tenant, now, limit))
    }

    fn unpark<'a>(&'a self, run: &'a RunId, now: i64) -> Reply<'a, bool> {
        let run = run.clone();
        let unparked = self.write(Ok(()), move |db| write::unpark(db, &run, now));
        Box::pin(async move {
            let unparked = unparked.await?;
            self.ring(unparked);
            Ok(unparked)
        })
    }

    fn rest<'a>(&'a self, lease: &'a Lease, version: u64, wake_at: Option<i64>) -> Reply<'a, bool> {
        let lease = lease.clone();
        let rested = self.write(Ok(()), move |db| workers::rest(db, &lease, version, wake_at));
        Box::pin(async move {
            let rests = rested.await?;
            self.ring(!rests);
            Ok(rests)
        })
    }

    fn held(&self, now: i64, limit: usize) -> Reply<'_, Vec<Lease>> {
        self.read(move |db| workers::held(db, now, limit))
    }

    fn announce<'a>(&'a self, worker: &'a Worker, now: i64, until: i64) -> Reply<'a, ()> {
        let check = check_worker(worker, now, until);
        let worker = worker.clone();
        self.write(check, move |db| workers::announce(db, &worker, now, until))
    }

    fn retire<'a>(&'a self, name: &'a str) -> Reply<'a, ()> {
        let name = name.to_owned();
        self.write(Ok(()), move |db| workers::retire(db, &name))
    }

    fn workers(&self, now: i64) -> Reply<'_, Vec<WorkerRow>> {
        self.read(move |db| workers::workers(db, now))
    }

    fn tenants(&self) -> Reply<'_, Vec<TenantId>> {
        self.read(workers::tenants)
    }

    fn moment(&self) -> Reply<'_, Moment> {
        self.read(prune::moment)
    }

    fn prune<'a>(&'a self, pruning: &'a Pruning) -> Reply<'a, Pruned> {
        let (check, pruning) = (check_pruning(pruning), pruning.clone());
        self.write(check, move |db| prune::prune(db, &pruning))
    }

    fn check_ready(&self) -> Reply<'_, ()> {
        Box::pin(self.file.check_ready())
    }

    fn wakes(&self) -> Wakes {
        self.bell.listen()
    }

    fn put_blob<'a>(&'a self, tenant: &'a TenantId, blob: Blob) -> Reply<'a, ()> {
        let check = name("tenant", tenant.as_str()).and_then(|()| check_blob(&blob));
        let tenant = tenant.clone();
        self.write(check, move |db| write::add_blob(db, &tenant, &blob))
    }

    fn blob<'a>(&'a self, tenant: &'a TenantId, digest: &'a str) -> Reply<'a, Option<Vec<u8>>> {
        let (tenant, digest) = (tenant.clone(), digest.to_owned());
        self.read(move |db| read::blob(db, &tenant, &digest))
    }

    fn put_protocol<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
        text: &'a str,
    ) -> Reply<'a, ()> {
        let check = name("tenant", tenant.as_str())
            .and_then(|()| name("digest", digest))
            .and_then(|()| plain("protocol", text));
        let (tenant, digest, text) = (tenant.clone(), digest.to_owned(), text.to_owned());
        self.write(check, move |db| write::add_protocol(db, &tenant, &digest, &text))
    }

    fn protocol<'a>(&'a self, tenant: &'a TenantId, digest: &'a str) -> Reply<'a, Option<String>> {
        let (tenant, digest) = (tenant.clone(), digest.to_owned());
        self.read(move |db| read::protocol(db, &tenant, &digest))
    }

    fn resolve<'a>(&'a self, tenant: &'a TenantId, prefix: &'a str) -> Reply<'a, Vec<RunId>> {
        let (tenant, prefix) = (tenant.clone(), prefix.to_owned());
        self.read(move |db| read::resolve(db, &tenant, &prefix))
    }
}
