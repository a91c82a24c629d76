//! A store wrapper that injects failures on demand: before a write, after it, or permanently, as if
//! the process had died at that point. It is meant for tests of code that uses a store.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    ActionRow, Blob, ChildRunFilter, ContentStore, DueRunsRequest, Lease, LeaseStore, LoadedRun,
    LogEntryRow, NewRun, PruneRequest, PruneStats, RunCommit, RunFilter, RunHead, RunId, RunStats,
    RunStatsFilter, RunStore, SharedError, Store, StoreError, StoreFuture, StoreMaintenance,
    StoreWatermark, TenantId, WaitFilter, WaitRow, WakeListener, WorkerInfo, WorkerRow,
};

/// How a write fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedFault {
    /// The store keeps nothing, and the caller gets an error.
    BeforeWrite,
    /// The store keeps the write, and the caller gets an error anyway.
    AfterWrite,
    /// The store keeps the write, and the caller never gets a result: the future does not complete.
    LostReply,
}

/// Which writes fail. Writes are counted from 1, whether they succeed or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultPlan {
    /// No write fails.
    NoFaults,
    /// The writes with these numbers fail.
    Script(BTreeMap<u64, InjectedFault>),
    /// One write fails, and every later call fails too, including reads: the process has died. To
    /// continue, wrap the same store again.
    Crash {
        /// Number of the last write before the crash.
        write: u64,
        /// On which side of that write the crash happens.
        fault: InjectedFault,
    },
    /// A share of the writes fails, before or after; the same seed fails the same writes.
    Seeded {
        /// Seed of the random sequence.
        seed: u64,
        /// How many of a thousand writes fail.
        per_mille: u64,
    },
}

/// Wraps a store and fails by plan.
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    plan: FaultPlan,
    writes: AtomicU64,
    calls: AtomicU64,
    rng_state: Mutex<u64>,
    crashed: AtomicBool,
}

impl FaultyStore {
    /// Wraps a store with a plan of faults.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>, plan: FaultPlan) -> Self {
        let seed = if let FaultPlan::Seeded { seed, .. } = plan { seed } else { 0 };
        Self {
            inner,
            plan,
            writes: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            rng_state: Mutex::new(seed),
            crashed: AtomicBool::new(false),
        }
    }

    /// Number of writes that were requested. Run once with `FaultPlan::NoFaults` to learn where a
    /// crash can happen.
    #[must_use]
    pub fn write_count(&self) -> u64 {
        self.writes.load(Ordering::SeqCst)
    }

    /// Number of calls of any kind, reads and writes.
    #[must_use]
    pub fn call_count(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Decides whether and how the next write fails.
    fn next_fault(&self) -> Option<InjectedFault> {
        let write = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
        match &self.plan {
            FaultPlan::NoFaults => None,
            FaultPlan::Script(script) => script.get(&write).copied(),
            FaultPlan::Crash { write: last, fault } => (write == *last).then_some(*fault),
            FaultPlan::Seeded { per_mille, .. } => {
                let mut state = self.rng_state.lock().unwrap_or_else(PoisonError::into_inner);
                let drawn = next_random(&mut state);
                match (drawn % 1000 < *per_mille, (drawn >> 32).is_multiple_of(2)) {
                    (false, _) => None,
                    (true, true) => Some(InjectedFault::BeforeWrite),
                    (true, false) => Some(InjectedFault::AfterWrite),
                }
            }
        }
    }

    fn run_write<'a, T: Send + 'a>(&'a self, work: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        Box::pin(async move {
            self.calls.fetch_add(1, Ordering::SeqCst);
            self.check_alive()?;
            let fault = self.next_fault();
            if fault.is_some() && matches!(self.plan, FaultPlan::Crash { .. }) {
                self.crashed.store(true, Ordering::SeqCst);
            }
            match fault {
                None => work.await,
                Some(InjectedFault::BeforeWrite) => Err(injected_error()),
                Some(InjectedFault::AfterWrite) => work.await.and(Err(injected_error())),
                Some(InjectedFault::LostReply) => {
                    work.await?;
                    std::future::pending().await
                }
            }
        })
    }

    fn run_read<'a, T: Send + 'a>(&'a self, question: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        Box::pin(async move {
            self.calls.fetch_add(1, Ordering::SeqCst);
            self.check_alive()?;
            question.await
        })
    }

    fn check_alive(&self) -> Result<(), StoreError> {
        if self.crashed.load(Ordering::SeqCst) { Err(injected_error()) } else { Ok(()) }
    }
}

impl std::fmt::Debug for FaultyStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaultyStore").field("plan", &self.plan).finish_non_exhaustive()
    }
}

#[derive(Debug, thiserror::Error)]
#[error("an injected failure")]
struct InjectedError;

fn injected_error() -> StoreError {
    let source: SharedError = Arc::new(InjectedError);
    StoreError::Unavailable { source }
}

/// The next 64 random bits (`SplitMix64`).
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl RunStore for FaultyStore {
    fn create_run(&self, run: NewRun, commit: RunCommit) -> StoreFuture<'_, ()> {
        self.run_write(self.inner.create_run(run, commit))
    }

    fn append_commit(&self, commit: RunCommit) -> StoreFuture<'_, ()> {
        self.run_write(self.inner.append_commit(commit))
    }

    fn load_head<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Option<RunHead>> {
        self.run_read(self.inner.load_head(run))
    }

    fn load_run<'a>(
        &'a self,
        run: &'a RunId,
        at: Option<u64>,
    ) -> StoreFuture<'a, Option<LoadedRun>> {
        self.run_read(self.inner.load_run(run, at))
    }

    fn read_log<'a>(
        &'a self,
        run: &'a RunId,
        after_version: u64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<LogEntryRow>> {
        self.run_read(self.inner.read_log(run, after_version, limit))
    }

    fn list_runs<'a>(&'a self, filter: &'a RunFilter) -> StoreFuture<'a, Vec<RunHead>> {
        self.run_read(self.inner.list_runs(filter))
    }

    fn list_child_runs<'a>(&'a self, filter: &'a ChildRunFilter) -> StoreFuture<'a, Vec<RunHead>> {
        self.run_read(self.inner.list_child_runs(filter))
    }

    fn load_search_terms<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<String>> {
        self.run_read(self.inner.load_search_terms(run))
    }

    fn read_run_stats<'a>(&'a self, filter: &'a RunStatsFilter) -> StoreFuture<'a, RunStats> {
        self.run_read(self.inner.read_run_stats(filter))
    }

    fn list_waits<'a>(&'a self, filter: &'a WaitFilter) -> StoreFuture<'a, Vec<WaitRow>> {
        self.run_read(self.inner.list_waits(filter))
    }

    fn list_actions<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<ActionRow>> {
        self.run_read(self.inner.list_actions(run))
    }

    fn find_key_version<'a>(
        &'a self,
        run: &'a RunId,
        key: &'a str,
    ) -> StoreFuture<'a, Option<u64>> {
        self.run_read(self.inner.find_key_version(run, key))
    }

    fn list_keys<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<(String, u64)>> {
        self.run_read(self.inner.list_keys(run))
    }

    fn resolve_run_id<'a>(
        &'a self,
        tenant: &'a TenantId,
        prefix: &'a str,
    ) -> StoreFuture<'a, Vec<RunId>> {
        self.run_read(self.inner.resolve_run_id(tenant, prefix))
    }
}

impl LeaseStore for FaultyStore {
    fn acquire_due_runs<'a>(&'a self, taking: &'a DueRunsRequest) -> StoreFuture<'a, Vec<Lease>> {
        self.run_write(self.inner.acquire_due_runs(taking))
    }

    fn acquire_lease<'a>(
        &'a self,
        run: &'a RunId,
        worker: &'a str,
        now: i64,
        until: i64,
    ) -> StoreFuture<'a, Option<Lease>> {
        self.run_write(self.inner.acquire_lease(run, worker, now, until))
    }

    fn release_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        self.run_write(self.inner.release_lease(lease))
    }

    fn expire_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        self.run_write(self.inner.expire_lease(lease))
    }

    fn list_parked_runs<'a>(
        &'a self,
        tenant: &'a TenantId,
        now: i64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<RunHead>> {
        self.run_read(self.inner.list_parked_runs(tenant, now, limit))
    }

    fn unpark_run<'a>(&'a self, run: &'a RunId, now: i64) -> StoreFuture<'a, bool> {
        self.run_write(self.inner.unpark_run(run, now))
    }

    fn suspend_run<'a>(
        &'a self,
        lease: &'a Lease,
        version: u64,
        wake_at: Option<i64>,
    ) -> StoreFuture<'a, bool> {
        self.run_write(self.inner.suspend_run(lease, version, wake_at))
    }

    fn list_leases(&self, now: i64, limit: usize) -> StoreFuture<'_, Vec<Lease>> {
        self.run_read(self.inner.list_leases(now, limit))
    }

    fn record_heartbeat<'a>(
        &'a self,
        worker: &'a WorkerInfo,
        now: i64,
        until: i64,
    ) -> StoreFuture<'a, ()> {
        self.run_write(self.inner.record_heartbeat(worker, now, until))
    }

    fn remove_worker<'a>(&'a self, name: &'a str) -> StoreFuture<'a, ()> {
        self.run_write(self.inner.remove_worker(name))
    }

    fn list_workers(&self, now: i64) -> StoreFuture<'_, Vec<WorkerRow>> {
        self.run_read(self.inner.list_workers(now))
    }

    fn subscribe_wakes(&self) -> WakeListener {
        self.inner.subscribe_wakes()
    }
}

impl ContentStore for FaultyStore {
    fn put_blob<'a>(&'a self, tenant: &'a TenantId, blob: Blob) -> StoreFuture<'a, ()> {
        self.run_write(self.inner.put_blob(tenant, blob))
    }

    fn load_blob<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
    ) -> StoreFuture<'a, Option<Vec<u8>>> {
        self.run_read(self.inner.load_blob(tenant, digest))
    }

    fn put_protocol<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
        text: &'a str,
    ) -> StoreFuture<'a, ()> {
        self.run_write(self.inner.put_protocol(tenant, digest, text))
    }

    fn load_protocol<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
    ) -> StoreFuture<'a, Option<String>> {
        self.run_read(self.inner.load_protocol(tenant, digest))
    }
}

impl StoreMaintenance for FaultyStore {
    fn list_tenants(&self) -> StoreFuture<'_, Vec<TenantId>> {
        self.run_read(self.inner.list_tenants())
    }

    fn read_watermark(&self) -> StoreFuture<'_, StoreWatermark> {
        self.run_read(self.inner.read_watermark())
    }

    fn prune_run<'a>(&'a self, pruning: &'a PruneRequest) -> StoreFuture<'a, PruneStats> {
        self.run_write(self.inner.prune_run(pruning))
    }

    fn check_ready(&self) -> StoreFuture<'_, ()> {
        self.run_read(self.inner.check_ready())
    }
}
