//! The store's face over the writer and the readers. Checks what no store may keep before it queues.

use std::path::Path;

use rusqlite::Connection;

use super::connection::Settings;
use super::file::SqliteFile;
use super::migrate::RUNS_SCHEMA;
use super::{read, write};
use crate::lease::check_request;
use crate::well_formed::{check_blob, check_commit, check_creation, name, plain};
use crate::{
    ActionRow, Blob, Commit, EntryRow, Head, Lease, Loaded, NewRun, Reply, RunFilter, RunId, Store,
    StoreError, TenantId, WaitFilter, WaitRow,
};

/// Keeps runs in one `SQLite` file.
///
/// Several processes may have the file open. Dropping the store finishes what is queued and closes
/// the file.
#[derive(Debug)]
pub struct SqliteStore {
    file: SqliteFile,
}

impl SqliteStore {
    /// Opens a file, makes it where there is none, and brings its schema forward.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, Settings::default())
    }

    /// Opens a file in another way than the usual one.
    pub fn open_with(path: impl AsRef<Path>, settings: Settings) -> Result<Self, StoreError> {
        Ok(Self { file: SqliteFile::open(path, settings, RUNS_SCHEMA)? })
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
        self.write(check, move |db| write::create(db, &run, &commit))
    }

    fn append(&self, commit: Commit) -> Reply<'_, ()> {
        self.write(check_commit(&commit), move |db| write::append(db, &commit))
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

    fn due(&self, now: i64, limit: usize) -> Reply<'_, Vec<RunId>> {
        self.read(move |db| read::due(db, now, limit))
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
        self.write(Ok(()), move |db| write::release(db, &lease))
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
