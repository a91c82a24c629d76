//! The face of every store. What each method promises is said here and held by the suite; how it is
//! done is the business of the implementations.

use std::pin::Pin;

use crate::{
    ActionRow, Blob, DueRunsRequest, Lease, LoadedRun, LogEntryRow, NewRun, PruneRequest,
    PruneStats, RunCommit, RunFilter, RunHead, RunId, StoreError, StoreWatermark, TenantId,
    WaitFilter, WaitRow, WakeListener, WorkerInfo, WorkerRow,
};

/// What a store answers, once awaited. Nothing happens before the first poll.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// How many runs [`Store::resolve_run_id`] names at most: enough to tell that a short id means several.
pub const RESOLVE_LIMIT: usize = 16;

/// Keeps runs. Object-safe, so that what uses it says `Arc<dyn Store>`.
///
/// A write that was answered with `Ok` is durable. A write whose answer never came, because the
/// future was dropped or the store became unavailable, may or may not have been kept: read the head,
/// or give the commit a key.
pub trait Store: Send + Sync {
    /// Keeps a new run with its first commit, whose `expected_version` is 0.
    ///
    /// `FactConflict` where the run exists; `DuplicateKey` where it exists and knows the commit's key.
    fn create_run(&self, run: NewRun, commit: RunCommit) -> StoreFuture<'_, ()>;

    /// Keeps all of a commit, or nothing and says why; the only way a run changes.
    ///
    /// Asked in this order: `Malformed`, `NotFound`, `DuplicateKey`, `Fenced`, `FactConflict`.
    /// Finishing an action or closing a wait that is not there is no fault: it is not there after.
    fn append_commit(&self, commit: RunCommit) -> StoreFuture<'_, ()>;

    /// Where a run stands.
    fn load_head<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Option<RunHead>>;

    /// What a run's state is folded from at a version (`Empty` is the newest): the newest snapshot at
    /// or before it, and the entries after that one. `Empty` where the run or the version is absent.
    fn load_run<'a>(
        &'a self,
        run: &'a RunId,
        at: Option<u64>,
    ) -> StoreFuture<'a, Option<LoadedRun>>;

    /// A run's log after a version, in order.
    fn read_log<'a>(
        &'a self,
        run: &'a RunId,
        after_version: u64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<LogEntryRow>>;

    /// Runs of one tenant, the one created last first.
    fn list_runs<'a>(&'a self, filter: &'a RunFilter) -> StoreFuture<'a, Vec<RunHead>>;

    /// Open waits of one tenant: the nearest deadline first, those without one last, then by age.
    fn list_waits<'a>(&'a self, filter: &'a WaitFilter) -> StoreFuture<'a, Vec<WaitRow>>;

    /// Actions a run has asked for and not finished, in the order they were asked for.
    fn list_actions<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<ActionRow>>;

    /// The version that took the input with this idempotency key.
    fn find_key_version<'a>(&'a self, run: &'a RunId, key: &'a str)
    -> StoreFuture<'a, Option<u64>>;

    /// The idempotency keys of a run, with the version that took each, by key.
    fn list_keys<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<(String, u64)>>;

    /// Takes runs that are due for a worker, all in one: those whose time to wake has come and that
    /// nobody holds. Each lease is a new one, with a raised epoch. A run on which
    /// [`MAX_WORKER_DEATHS`](crate::MAX_WORKER_DEATHS) workers ended at its version is parked, and not taken.
    ///
    /// One of each tenant in turn, of one tenant those first that are due longest; the turn goes on
    /// where the last call left it. A tenant of which `per_tenant` runs are held, by whomever, is
    /// passed over. What a run that is not due costs here is nothing.
    ///
    /// With `held`, `workers` and `tenants` the only one that looks across tenants. It is for workers,
    /// and gives leases and nothing else.
    fn acquire_due_runs<'a>(&'a self, taking: &'a DueRunsRequest) -> StoreFuture<'a, Vec<Lease>>;

    /// Takes a run for a worker until a time, or renews what that worker holds; `Empty` while
    /// another's lease is alive, and where the run is parked.
    ///
    /// Renewing keeps the epoch and never shortens; taking raises the epoch. Workers that must not
    /// share a run need different names.
    fn acquire_lease<'a>(
        &'a self,
        run: &'a RunId,
        worker: &'a str,
        now: i64,
        until: i64,
    ) -> StoreFuture<'a, Option<Lease>>;

    /// Gives a lease back; nothing happens where it is not the current one. A run that is due stays so.
    fn release_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()>;

    /// Gives a lease back whose holder is known to have ended without doing so; nothing happens where it is
    /// not the current one. It counts as if the lease had run out and another had taken the run: one worker
    /// more ended at this version, unless the run went on since it was taken.
    fn expire_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()>;

    /// Runs of one tenant that are parked at a time, by id.
    fn list_parked_runs<'a>(
        &'a self,
        tenant: &'a TenantId,
        now: i64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<RunHead>>;

    /// Lets a parked run be taken again, and forgets the workers that ended on it. `false` where the run is
    /// not parked at this time; `NotFound` where there is none.
    fn unpark_run<'a>(&'a self, run: &'a RunId, now: i64) -> StoreFuture<'a, bool>;

    /// Gives a lease back because there is nothing to do for the run, and says when it must be looked
    /// at again, whatever it said before.
    ///
    /// Where the run has gone on since `version`, the lease is given back and the rest stays as it is:
    /// whoever gave it something has said when. `false` then, and where the lease is not the current one.
    fn suspend_run<'a>(
        &'a self,
        lease: &'a Lease,
        version: u64,
        wake_at: Option<i64>,
    ) -> StoreFuture<'a, bool>;

    /// Leases that are alive, by run.
    fn list_leases(&self, now: i64, limit: usize) -> StoreFuture<'_, Vec<Lease>>;

    /// Says that a worker is there, and until when to believe it; the same name again renews that.
    fn record_heartbeat<'a>(
        &'a self,
        worker: &'a WorkerInfo,
        now: i64,
        until: i64,
    ) -> StoreFuture<'a, ()>;

    /// Takes a worker off the list; its leases are its own business.
    fn remove_worker<'a>(&'a self, name: &'a str) -> StoreFuture<'a, ()>;

    /// Workers that were announced and did not retire, by name. Those that were lost stand in the list
    /// for a day.
    fn list_workers(&self, now: i64) -> StoreFuture<'_, Vec<WorkerRow>>;

    /// Tenants that have a run, by name: for whoever keeps the store, to copy and to check all of it.
    fn list_tenants(&self) -> StoreFuture<'_, Vec<TenantId>>;

    /// This moment of the store, for `prune`.
    fn read_watermark(&self) -> StoreFuture<'_, StoreWatermark>;

    /// Takes the bodies of a run's log out, all in one, with its snapshots and with bytes that nobody else names.
    ///
    /// What stays: the row of the run, which is sealed; every version with its places, its time and its hash, and
    /// an empty body; the states that are to be kept; its keys. A run that was pruned before stays as it is.
    /// `FactConflict` where the run is at another version, `NotFound` where there is none.
    fn prune_run<'a>(&'a self, pruning: &'a PruneRequest) -> StoreFuture<'a, PruneStats>;

    /// Whether the next commit is likely to be kept: where it lies is there, and has room. Reads may work without.
    fn check_ready(&self) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Hints that something may be due, from now on.
    fn subscribe_wakes(&self) -> WakeListener;

    /// Keeps bytes under their digest; what is there already stays as it is.
    fn put_blob<'a>(&'a self, tenant: &'a TenantId, blob: Blob) -> StoreFuture<'a, ()>;

    /// The bytes of a digest.
    fn load_blob<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
    ) -> StoreFuture<'a, Option<Vec<u8>>>;

    /// Keeps a protocol's text under its digest; what is there already stays as it is.
    fn put_protocol<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
        text: &'a str,
    ) -> StoreFuture<'a, ()>;

    /// The text of a protocol.
    fn load_protocol<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
    ) -> StoreFuture<'a, Option<String>>;

    /// Runs whose id starts so, by id, at most [`RESOLVE_LIMIT`]: people type short ids.
    fn resolve_run_id<'a>(
        &'a self,
        tenant: &'a TenantId,
        prefix: &'a str,
    ) -> StoreFuture<'a, Vec<RunId>>;
}
