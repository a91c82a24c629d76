//! The trait that every store implements. The trait documents what each method guarantees, and the
//! test suite checks it; how a store does it is left to the implementation.

use std::pin::Pin;

use crate::{
    ActionRow, Blob, ChildRunFilter, DueRunsRequest, Lease, LoadedRun, LogEntryRow, NewRun,
    PruneRequest, PruneStats, RunCommit, RunFilter, RunHead, RunId, RunStats, RunStatsFilter,
    StoreError, StoreWatermark, TenantId, WaitFilter, WaitRow, WakeListener, WorkerInfo, WorkerRow,
};

/// The result of a store call, once awaited. Nothing happens before the first poll.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Maximum number of runs that [`RunStore::resolve_run_id`] returns: enough to show that a short id is
/// ambiguous.
pub const RESOLVE_LIMIT: usize = 16;

/// A store of runs. It is object-safe, so callers can hold an `Arc<dyn Store>`; a type that
/// implements the four parts is a store.
pub trait Store: RunStore + LeaseStore + ContentStore + StoreMaintenance {}

impl<S: RunStore + LeaseStore + ContentStore + StoreMaintenance> Store for S {}

/// Stores runs: their commits, heads and logs, and what is open in them. The engine uses it.
///
/// A write that returned `Ok` is durable. If a write returned no result, because the future was
/// dropped or the store became unavailable, the store may or may not have kept it: read the head
/// again, or give the commit an idempotency key.
pub trait RunStore: Send + Sync {
    /// Creates a run with its first commit, whose `expected_version` is 0.
    ///
    /// Returns `Conflict` if the run exists, and `DuplicateKey` if it exists and has already used
    /// the commit's idempotency key.
    fn create_run(&self, run: NewRun, commit: RunCommit) -> StoreFuture<'_, ()>;

    /// Keeps all of a commit, or returns an error and keeps nothing. Only this call advances a run.
    ///
    /// The checks run in this order: `Malformed`, `NotFound`, `DuplicateKey`, `Fenced`, `Conflict`.
    /// Finishing an action or closing a wait that does not exist is not an error: it is absent
    /// afterwards in either case.
    fn append_commit(&self, commit: RunCommit) -> StoreFuture<'_, ()>;

    /// Loads the current head of a run; `None` if the run does not exist.
    fn load_head<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Option<RunHead>>;

    /// Loads what a run's state is folded from at a version (`None` means the newest): the newest
    /// snapshot at or before that version, and the log entries after the snapshot. Returns `None`
    /// if the run or the version does not exist.
    fn load_run<'a>(
        &'a self,
        run: &'a RunId,
        at: Option<u64>,
    ) -> StoreFuture<'a, Option<LoadedRun>>;

    /// Reads up to `limit` log entries of a run after a version, in ascending order.
    fn read_log<'a>(
        &'a self,
        run: &'a RunId,
        after_version: u64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<LogEntryRow>>;

    /// Lists runs of one tenant, most recently created first.
    fn list_runs<'a>(&'a self, filter: &'a RunFilter) -> StoreFuture<'a, Vec<RunHead>>;

    /// Lists the children of some runs, by parent, those that were created first before others.
    fn list_child_runs<'a>(&'a self, filter: &'a ChildRunFilter) -> StoreFuture<'a, Vec<RunHead>>;

    /// Loads the words that a run is found by, sorted; empty if there are none, or no such run.
    fn load_search_terms<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<String>>;

    /// Computes statistics of the runs of one tenant that were created in a period.
    fn read_run_stats<'a>(&'a self, filter: &'a RunStatsFilter) -> StoreFuture<'a, RunStats>;

    /// Lists open waits of one tenant: earliest deadline first, waits without a deadline last, then
    /// by age.
    fn list_waits<'a>(&'a self, filter: &'a WaitFilter) -> StoreFuture<'a, Vec<WaitRow>>;

    /// Lists the actions that a run has requested and not finished, in the order they were
    /// requested.
    fn list_actions<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<ActionRow>>;

    /// Returns the version that accepted the input with this idempotency key.
    fn find_key_version<'a>(&'a self, run: &'a RunId, key: &'a str)
    -> StoreFuture<'a, Option<u64>>;

    /// Lists the idempotency keys of a run with the version that accepted each, sorted by key.
    fn list_keys<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<(String, u64)>>;

    /// Lists runs whose id starts with `prefix`, by id, at most [`RESOLVE_LIMIT`], so that people
    /// can type short ids.
    fn resolve_run_id<'a>(
        &'a self,
        tenant: &'a TenantId,
        prefix: &'a str,
    ) -> StoreFuture<'a, Vec<RunId>>;
}

/// Leases runs to workers, and knows which workers are alive. Drivers and workers use it.
pub trait LeaseStore: Send + Sync {
    /// Acquires due runs for a worker in one transaction: runs whose wake time has come and that no
    /// worker holds. Each lease is new and has a higher epoch. A run is parked, and is not
    /// acquired, after [`MAX_WORKER_DEATHS`](crate::MAX_WORKER_DEATHS) workers ended at its current
    /// version.
    ///
    /// Tenants take turns, one run each; within a tenant, the runs that have been due longest come
    /// first. The turn continues where the previous call stopped. A tenant is skipped while workers
    /// together hold `per_tenant` of its runs. Runs that are not due cost nothing here.
    ///
    /// Of all methods, only this one, `list_leases`, `list_workers` and `list_tenants` read across
    /// tenants. This one is meant for workers and returns leases only.
    fn acquire_due_runs<'a>(&'a self, taking: &'a DueRunsRequest) -> StoreFuture<'a, Vec<Lease>>;

    /// Acquires a run for a worker until a time, or renews the lease that this worker holds.
    /// Returns `None` while another worker's lease is alive, and if the run is parked.
    ///
    /// Renewing keeps the epoch and never shortens the lease; acquiring raises the epoch. Workers
    /// that must not share a run need different names.
    fn acquire_lease<'a>(
        &'a self,
        run: &'a RunId,
        worker: &'a str,
        now: i64,
        until: i64,
    ) -> StoreFuture<'a, Option<Lease>>;

    /// Releases a lease; does nothing if it is not the current one. A run that is due stays due.
    fn release_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()>;

    /// Releases a lease whose holder is known to have ended without releasing it; does nothing if
    /// it is not the current one. This counts like a lease that timed out and was acquired by
    /// another worker: it adds one worker death at this version, unless the run advanced since it
    /// was acquired.
    fn expire_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()>;

    /// Lists runs of one tenant that are parked at the time `now`, by id.
    fn list_parked_runs<'a>(
        &'a self,
        tenant: &'a TenantId,
        now: i64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<RunHead>>;

    /// Makes a parked run available again and resets its count of worker deaths. Returns `false` if
    /// the run is not parked at the time `now`, and `NotFound` if it does not exist.
    fn unpark_run<'a>(&'a self, run: &'a RunId, now: i64) -> StoreFuture<'a, bool>;

    /// Releases a lease because the run has no work now, and sets when a worker must look at the
    /// run again; this replaces the previous wake time.
    ///
    /// If the run advanced after `version`, this releases the lease and leaves the wake time alone,
    /// because the commit that advanced the run has set it. Returns `false` in that case, and if
    /// the lease is not the current one.
    fn suspend_run<'a>(
        &'a self,
        lease: &'a Lease,
        version: u64,
        wake_at: Option<i64>,
    ) -> StoreFuture<'a, bool>;

    /// Lists leases that are alive at the time `now`, by run.
    fn list_leases(&self, now: i64, limit: usize) -> StoreFuture<'_, Vec<Lease>>;

    /// Records that a worker is alive, and until when to assume so; another call with the same name
    /// renews the record.
    fn record_heartbeat<'a>(
        &'a self,
        worker: &'a WorkerInfo,
        now: i64,
        until: i64,
    ) -> StoreFuture<'a, ()>;

    /// Removes a worker from the list. Its leases are not changed.
    fn remove_worker<'a>(&'a self, name: &'a str) -> StoreFuture<'a, ()>;

    /// Lists workers that sent a heartbeat and were not removed, by name. A lost worker stays in
    /// the list for a day.
    fn list_workers(&self, now: i64) -> StoreFuture<'_, Vec<WorkerRow>>;

    /// Subscribes to hints that something may be due, from now on.
    fn subscribe_wakes(&self) -> WakeListener;
}

/// Stores bytes and protocol texts under their digests.
pub trait ContentStore: Send + Sync {
    /// Stores bytes under their digest; an existing blob is left unchanged.
    fn put_blob<'a>(&'a self, tenant: &'a TenantId, blob: Blob) -> StoreFuture<'a, ()>;

    /// Loads the bytes with this digest; `None` if there are none.
    fn load_blob<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
    ) -> StoreFuture<'a, Option<Vec<u8>>>;

    /// Stores a protocol's text under its digest; an existing text is left unchanged.
    fn put_protocol<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
        text: &'a str,
    ) -> StoreFuture<'a, ()>;

    /// Loads the text of a protocol; `None` if there is none.
    fn load_protocol<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
    ) -> StoreFuture<'a, Option<String>>;
}

/// What operators need: health, tenants and pruning.
pub trait StoreMaintenance: Send + Sync {
    /// Lists tenants that have a run, by name, so that an operator can copy or check the whole
    /// store.
    fn list_tenants(&self) -> StoreFuture<'_, Vec<TenantId>>;

    /// Returns the current position of the store, for `prune_run`.
    fn read_watermark(&self) -> StoreFuture<'_, StoreWatermark>;

    /// Removes the bodies of a run's log in one transaction, with its snapshots and the blobs that
    /// nothing else refers to.
    ///
    /// The title and the words that the run is found by go too. The store keeps the row of the run, now sealed; every version with its event positions, its
    /// time, its hash and an empty body; the snapshots that the request keeps; and the idempotency
    /// keys. A run that was pruned before does not change. Returns `Conflict` if the run is at
    /// another version, and `NotFound` if it does not exist.
    fn prune_run<'a>(&'a self, pruning: &'a PruneRequest) -> StoreFuture<'a, PruneStats>;

    /// Checks that the next commit is likely to succeed: the storage is there and has room. Reads
    /// may work even if this fails.
    fn check_ready(&self) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}
