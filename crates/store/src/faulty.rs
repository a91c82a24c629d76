//! A store that fails when it is told to, around any other: before a write, after it, or for good, as
//! if the process had died there. For tests of whoever uses a store.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    ActionRow, Blob, Cause, Commit, EntryRow, Head, Lease, Loaded, Moment, NewRun, Pruned, Pruning,
    Reply, RunFilter, RunId, Store, StoreError, Taking, TenantId, WaitFilter, WaitRow, Wakes,
    Worker, WorkerRow,
};

/// What goes wrong with a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is kept, and the caller hears of an error.
    Before,
    /// It is kept, and the caller hears of an error all the same.
    After,
    /// It is kept, and the caller never hears anything: the future does not end.
    Unheard,
}

/// Which writes go wrong. Writes are counted from 1, whether they go well or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// None.
    Well,
    /// These.
    Script(BTreeMap<u64, Fault>),
    /// This one, and after it nothing works any more, reads included: the process has died. Go on
    /// with a new wrapper around the same store.
    Crash {
        /// The write that is the last.
        write: u64,
        /// On which side of it.
        fault: Fault,
    },
    /// So many of a thousand, before or after; the same seed fails the same writes.
    Seeded {
        /// Where the chance begins.
        seed: u64,
        /// How often.
        per_mille: u64,
    },
}

/// Wraps a store and fails by plan.
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    plan: Plan,
    writes: AtomicU64,
    asked: AtomicU64,
    chance: Mutex<u64>,
    dead: AtomicBool,
}

impl FaultyStore {
    /// A wrapper around a store.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>, plan: Plan) -> Self {
        let seed = if let Plan::Seeded { seed, .. } = plan { seed } else { 0 };
        Self {
            inner,
            plan,
            writes: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            chance: Mutex::new(seed),
            dead: AtomicBool::new(false),
        }
    }

    /// How many writes were asked for: run once by `Plan::Well` to learn where a crash may happen.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::SeqCst)
    }

    /// How often it was asked for anything, reads and writes.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    /// The fate of the next write.
    fn next(&self) -> Option<Fault> {
        let write = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
        match &self.plan {
            Plan::Well => None,
            Plan::Script(script) => script.get(&write).copied(),
            Plan::Crash { write: last, fault } => (write == *last).then_some(*fault),
            Plan::Seeded { per_mille, .. } => {
                let mut state = self.chance.lock().unwrap_or_else(PoisonError::into_inner);
                let drawn = draw(&mut state);
                match (drawn % 1000 < *per_mille, (drawn >> 32).is_multiple_of(2)) {
                    (false, _) => None,
                    (true, true) => Some(Fault::Before),
                    (true, false) => Some(Fault::After),
                }
            }
        }
    }

    fn write<'a, T: Send + 'a>(&'a self, work: Reply<'a, T>) -> Reply<'a, T> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.alive()?;
            let fault = self.next();
            if fault.is_some() && matches!(self.plan, Plan::Crash { .. }) {
                self.dead.store(true, Ordering::SeqCst);
            }
            match fault {
                None => work.await,
                Some(Fault::Before) => Err(failure()),
                Some(Fault::After) => work.await.and(Err(failure())),
                Some(Fault::Unheard) => {
                    work.await?;
                    std::future::pending().await
                }
            }
        })
    }

    fn read<'a, T: Send + 'a>(&'a self, question: Reply<'a, T>) -> Reply<'a, T> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.alive()?;
            question.await
        })
    }

    fn alive(&self) -> Result<(), StoreError> {
        if self.dead.load(Ordering::SeqCst) { Err(failure()) } else { Ok(()) }
    }
}

impl std::fmt::Debug for FaultyStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaultyStore").field("plan", &self.plan).finish_non_exhaustive()
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a failure on purpose")]
struct OnPurpose;

fn failure() -> StoreError {
    let source: Cause = Arc::new(OnPurpose);
    StoreError::Unavailable { source }
}

/// The next 64 bits of chance (`SplitMix64`).
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl Store for FaultyStore {
    fn create(&self, run: NewRun, commit: Commit) -> Reply<'_, ()> {
        self.write(self.inner.create(run, commit))
    }

    fn append(&self, commit: Commit) -> Reply<'_, ()> {
        self.write(self.inner.append(commit))
    }

    fn head<'a>(&'a self, run: &'a RunId) -> Reply<'a, Option<Head>> {
        self.read(self.inner.head(run))
    }

    fn load<'a>(&'a self, run: &'a RunId, at: Option<u64>) -> Reply<'a, Option<Loaded>> {
        self.read(self.inner.load(run, at))
    }

    fn log<'a>(
        &'a self,
        run: &'a RunId,
        after_version: u64,
        limit: usize,
    ) -> Reply<'a, Vec<EntryRow>> {
        self.read(self.inner.log(run, after_version, limit))
    }

    fn runs<'a>(&'a self, filter: &'a RunFilter) -> Reply<'a, Vec<Head>> {
        self.read(self.inner.runs(filter))
    }

    fn waits<'a>(&'a self, filter: &'a WaitFilter) -> Reply<'a, Vec<WaitRow>> {
        self.read(self.inner.waits(filter))
    }

    fn actions<'a>(&'a self, run: &'a RunId) -> Reply<'a, Vec<ActionRow>> {
        self.read(self.inner.actions(run))
    }

    fn keyed<'a>(&'a self, run: &'a RunId, key: &'a str) -> Reply<'a, Option<u64>> {
        self.read(self.inner.keyed(run, key))
    }

    fn keys<'a>(&'a self, run: &'a RunId) -> Reply<'a, Vec<(String, u64)>> {
        self.read(self.inner.keys(run))
    }

    fn take<'a>(&'a self, taking: &'a Taking) -> Reply<'a, Vec<Lease>> {
        self.write(self.inner.take(taking))
    }

    fn lease<'a>(
        &'a self,
        run: &'a RunId,
        worker: &'a str,
        now: i64,
        until: i64,
    ) -> Reply<'a, Option<Lease>> {
        self.write(self.inner.lease(run, worker, now, until))
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> Reply<'a, ()> {
        self.write(self.inner.release(lease))
    }

    fn expire<'a>(&'a self, lease: &'a Lease) -> Reply<'a, ()> {
        self.write(self.inner.expire(lease))
    }

    fn parked<'a>(&'a self, tenant: &'a TenantId, now: i64, limit: usize) -> Reply<'a, Vec<Head>> {
        self.read(self.inner.parked(tenant, now, limit))
    }

    fn unpark<'a>(&'a self, run: &'a RunId, now: i64) -> Reply<'a, bool> {
        self.write(self.inner.unpark(run, now))
    }

    fn rest<'a>(&'a self, lease: &'a Lease, version: u64, wake_at: Option<i64>) -> Reply<'a, bool> {
        self.write(self.inner.rest(lease, version, wake_at))
    }

    fn held(&self, now: i64, limit: usize) -> Reply<'_, Vec<Lease>> {
        self.read(self.inner.held(now, limit))
    }

    fn announce<'a>(&'a self, worker: &'a Worker, now: i64, until: i64) -> Reply<'a, ()> {
        self.write(self.inner.announce(worker, now, until))
    }

    fn retire<'a>(&'a self, name: &'a str) -> Reply<'a, ()> {
        self.write(self.inner.retire(name))
    }

    fn workers(&self, now: i64) -> Reply<'_, Vec<WorkerRow>> {
        self.read(self.inner.workers(now))
    }

    fn tenants(&self) -> Reply<'_, Vec<TenantId>> {
        self.read(self.inner.tenants())
    }

    fn moment(&self) -> Reply<'_, Moment> {
        self.read(self.inner.moment())
    }

    fn prune<'a>(&'a self, pruning: &'a Pruning) -> Reply<'a, Pruned> {
        self.write(self.inner.prune(pruning))
    }

    fn check_ready(&self) -> Reply<'_, ()> {
        self.read(self.inner.check_ready())
    }

    fn wakes(&self) -> Wakes {
        self.inner.wakes()
    }

    fn put_blob<'a>(&'a self, tenant: &'a TenantId, blob: Blob) -> Reply<'a, ()> {
        self.write(self.inner.put_blob(tenant, blob))
    }

    fn blob<'a>(&'a self, tenant: &'a TenantId, digest: &'a str) -> Reply<'a, Option<Vec<u8>>> {
        self.read(self.inner.blob(tenant, digest))
    }

    fn put_protocol<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
        text: &'a str,
    ) -> Reply<'a, ()> {
        self.write(self.inner.put_protocol(tenant, digest, text))
    }

    fn protocol<'a>(&'a self, tenant: &'a TenantId, digest: &'a str) -> Reply<'a, Option<String>> {
        self.read(self.inner.protocol(tenant, digest))
    }

    fn resolve<'a>(&'a self, tenant: &'a TenantId, prefix: &'a str) -> Reply<'a, Vec<RunId>> {
        self.read(self.inner.resolve(tenant, prefix))
    }
}
