//! The reference store: maps behind one lock, gone with the process. Written to be obviously right;
//! where another store differs from it, the other one is wrong.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::run::Run;
use crate::lease::check_request;
use crate::prune::check_pruning;
use crate::rounds::Round;
use crate::wakes::Bell;
use crate::well_formed::{check_blob, check_commit, check_creation, name, plain};
use crate::worker::check_worker;
use crate::{
    ActionRow, Blob, Commit, EntryRow, Head, Lease, Loaded, Moment, NewRun, Pruned, Pruning,
    RESOLVE_LIMIT, Reply, RunFilter, RunId, Store, StoreError, Taking, TenantId, WaitFilter,
    WaitRow, Wakes, Worker, WorkerRow,
};

/// Keeps runs in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    tables: Mutex<Tables>,
    round: Round,
    bell: Bell,
}

#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) runs: BTreeMap<RunId, Run>,
    pub(super) workers: BTreeMap<String, WorkerRow>,
    blobs: BTreeMap<(TenantId, String), Vec<u8>>,
    protocols: BTreeMap<(TenantId, String), String>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        // A write changes nothing before it has been let through, so a panic leaves whole rows.
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self, calls: bool) {
        if calls {
            self.bell.ring();
        }
    }

    fn ask<'a, T: Send + 'a>(
        &'a self,
        question: impl FnOnce(&mut Tables) -> Result<T, StoreError> + Send + 'a,
    ) -> Reply<'a, T> {
        Box::pin(async move { question(&mut self.lock()) })
    }
}

impl Store for MemoryStore {
    fn create(&self, run: NewRun, commit: Commit) -> Reply<'_, ()> {
        self.ask(move |tables| {
            check_creation(&run, &commit)?;
            let mut fresh = Run::new(&run, &commit.run);
            let known = tables.runs.get(&commit.run).unwrap_or(&fresh);
            known.standing(&commit).rule(&commit)?;
            tables.keep_blobs(&commit);
            let (id, calls) = (commit.run.clone(), commit.calls());
            fresh.apply(commit);
            tables.runs.insert(id, fresh);
            self.ring(calls);
            Ok(())
        })
    }

    fn append(&self, commit: Commit) -> Reply<'_, ()> {
        self.ask(move |tables| {
            check_commit(&commit)?;
            let Some(run) = tables.runs.get(&commit.run) else {
                return Err(StoreError::NotFound { run: commit.run });
            };
            run.standing(&commit).rule(&commit)?;
            run.refuse_twice(&commit)?;
            tables.keep_blobs(&commit);
            let calls = commit.calls();
            if let Some(run) = tables.runs.get_mut(&commit.run) {
                run.apply(commit);
            }
            self.ring(calls);
            Ok(())
        })
    }

    fn head<'a>(&'a self, run: &'a RunId) -> Reply<'a, Option<Head>> {
        self.ask(move |tables| Ok(tables.runs.get(run).map(Run::head)))
    }

    fn load<'a>(&'a self, run: &'a RunId, at: Option<u64>) -> Reply<'a, Option<Loaded>> {
        self.ask(move |tables| Ok(tables.runs.get(run).and_then(|run| run.load(at))))
    }

    fn log<'a>(
        &'a self,
        run: &'a RunId,
        after_version: u64,
        limit: usize,
    ) -> Reply<'a, Vec<EntryRow>> {
        self.ask(move |tables| {
            let log = tables.runs.get(run).into_iter().flat_map(|run| &run.log);
            Ok(log.filter(|entry| entry.version > after_version).take(limit).cloned().collect())
        })
    }

    fn runs<'a>(&'a self, filter: &'a RunFilter) -> Reply<'a, Vec<Head>> {
        self.ask(move |tables| {
            let mut heads: Vec<Head> = tables.runs.values().map(Run::head).collect();
            heads.retain(|head| lists_run(filter, head));
            heads.sort_by_key(|head| std::cmp::Reverse(head.cursor()));
            heads.truncate(filter.limit);
            Ok(heads)
        })
    }

    fn waits<'a>(&'a self, filter: &'a WaitFilter) -> Reply<'a, Vec<WaitRow>> {
        self.ask(move |tables| {
            let waits = tables.runs.values().flat_map(|run| run.waits.values());
            let mut waits: Vec<WaitRow> =
                waits.filter(|wait| lists_wait(filter, wait)).cloned().collect();
            waits.sort_by_key(WaitRow::cursor);
            waits.truncate(filter.limit);
            Ok(waits)
        })
    }

    fn actions<'a>(&'a self, run: &'a RunId) -> Reply<'a, Vec<ActionRow>> {
        self.ask(move |tables| {
            Ok(tables.runs.get(run).map(|run| run.actions.clone()).unwrap_or_default())
        })
    }

    fn keyed<'a>(&'a self, run: &'a RunId, key: &'a str) -> Reply<'a, Option<u64>> {
        self.ask(move |tables| Ok(tables.runs.get(run).and_then(|run| run.keys.get(key).copied())))
    }

    fn keys<'a>(&'a self, run: &'a RunId) -> Reply<'a, Vec<(String, u64)>> {
        self.ask(move |tables| {
            let keys = tables.runs.get(run).into_iter().flat_map(|run| &run.keys);
            Ok(keys.map(|(key, version)| (key.clone(), *version)).collect())
        })
    }

    fn take<'a>(&'a self, taking: &'a Taking) -> Reply<'a, Vec<Lease>> {
        self.ask(move |tables| {
            check_request(&taking.worker, taking.now, taking.until)?;
            let taken = tables.take(taking, self.round.last().as_ref());
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
        self.ask(move |tables| {
            check_request(worker, now, until)?;
            let Some(kept) = tables.runs.get_mut(run) else {
                return Err(StoreError::NotFound { run: run.clone() });
            };
            let Some(tenure) = kept.tenure.asked(worker, now, until, kept.head.version) else {
                return Ok(None);
            };
            kept.tenure = tenure;
            Ok(kept.tenure.lease(run))
        })
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> Reply<'a, ()> {
        self.ask(move |tables| {
            if let Some(run) = tables.runs.get_mut(&lease.run)
                && run.tenure.is(lease)
            {
                run.tenure = run.tenure.released();
                self.ring(true);
            }
            Ok(())
        })
    }

    fn expire<'a>(&'a self, lease: &'a Lease) -> Reply<'a, ()> {
        self.ask(move |tables| {
            if let Some(run) = tables.runs.get_mut(&lease.run)
                && run.tenure.is(lease)
            {
                run.tenure = run.tenure.expired(run.head.version);
                self.ring(true);
            }
            Ok(())
        })
    }

    fn parked<'a>(&'a self, tenant: &'a TenantId, now: i64, limit: usize) -> Reply<'a, Vec<Head>> {
        self.ask(move |tables| {
            let of_tenant = tables.runs.iter().filter(|(id, _)| id.tenant == *tenant);
            let parked = of_tenant.filter(|(_, run)| run.parked(now));
            Ok(parked.map(|(_, run)| run.head()).take(limit).collect())
        })
    }

    fn unpark<'a>(&'a self, run: &'a RunId, now: i64) -> Reply<'a, bool> {
        self.ask(move |tables| {
            let Some(kept) = tables.runs.get_mut(run) else {
                return Err(StoreError::NotFound { run: run.clone() });
            };
            let parked = kept.parked(now);
            if parked {
                kept.tenure = kept.tenure.rested();
                self.ring(true);
            }
            Ok(parked)
        })
    }

    fn rest<'a>(&'a self, lease: &'a Lease, version: u64, wake_at: Option<i64>) -> Reply<'a, bool> {
        self.ask(move |tables| {
            let run = tables.runs.get_mut(&lease.run).filter(|run| run.tenure.is(lease));
            let Some(run) = run else { return Ok(false) };
            run.tenure = run.tenure.rested();
            let rests = run.head.version == version;
            if rests {
                run.head.wake_at = wake_at;
            }
            self.ring(!rests);
            Ok(rests)
        })
    }

    fn held(&self, now: i64, limit: usize) -> Reply<'_, Vec<Lease>> {
        self.ask(move |tables| Ok(tables.held(now).take(limit).collect()))
    }

    fn announce<'a>(&'a self, worker: &'a Worker, now: i64, until: i64) -> Reply<'a, ()> {
        self.ask(move |tables| {
            check_worker(worker, now, until)?;
            tables.announce(worker, now, until);
            Ok(())
        })
    }

    fn retire<'a>(&'a self, name: &'a str) -> Reply<'a, ()> {
        self.ask(move |tables| {
            tables.workers.remove(name);
            Ok(())
        })
    }

    fn workers(&self, now: i64) -> Reply<'_, Vec<WorkerRow>> {
        self.ask(move |tables| Ok(tables.workers(now)))
    }

    fn tenants(&self) -> Reply<'_, Vec<TenantId>> {
        self.ask(|tables| {
            let mut tenants: Vec<_> = tables.runs.keys().map(|run| run.tenant.clone()).collect();
            tenants.dedup();
            Ok(tenants)
        })
    }

    fn moment(&self) -> Reply<'_, Moment> {
        // Every body is looked at when something is taken out.
        self.ask(|_| Ok(Moment(0)))
    }

    fn prune<'a>(&'a self, pruning: &'a Pruning) -> Reply<'a, Pruned> {
        self.ask(move |tables| {
            check_pruning(pruning)?;
            let Some(run) = tables.runs.get_mut(&pruning.run) else {
                return Err(StoreError::NotFound { run: pruning.run.clone() });
            };
            let (expected, found) = (pruning.version, run.head.version);
            if found != expected {
                return Err(StoreError::Conflict { expected, found });
            }
            if run.head.pruned.is_some() {
                return Ok(Pruned::default());
            }
            let mut pruned = run.prune(pruning);
            let tenant = &pruning.run.tenant;
            for digest in &pruning.blobs {
                let named = tables.runs.iter().any(|(run, known)| {
                    run.tenant == *tenant && known.log.iter().any(|one| one.body.contains(digest))
                });
                let key = (tenant.clone(), digest.clone());
                if !named && let Some(bytes) = tables.blobs.remove(&key) {
                    pruned.blobs += 1;
                    pruned.bytes += bytes.len() as u64;
                }
            }
            Ok(pruned)
        })
    }

    fn wakes(&self) -> Wakes {
        self.bell.listen()
    }

    fn put_blob<'a>(&'a self, tenant: &'a TenantId, blob: Blob) -> Reply<'a, ()> {
        self.ask(move |tables| {
            name("tenant", tenant.as_str())?;
            check_blob(&blob)?;
            tables.blobs.entry((tenant.clone(), blob.digest)).or_insert(blob.bytes);
            Ok(())
        })
    }

    fn blob<'a>(&'a self, tenant: &'a TenantId, digest: &'a str) -> Reply<'a, Option<Vec<u8>>> {
        self.ask(move |tables| Ok(tables.blobs.get(&(tenant.clone(), digest.to_owned())).cloned()))
    }

    fn put_protocol<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
        text: &'a str,
    ) -> Reply<'a, ()> {
        self.ask(move |tables| {
            name("tenant", tenant.as_str())?;
            name("digest", digest)?;
            plain("protocol", text)?;
            let key = (tenant.clone(), digest.to_owned());
            tables.protocols.entry(key).or_insert_with(|| text.to_owned());
            Ok(())
        })
    }

    fn protocol<'a>(&'a self, tenant: &'a TenantId, digest: &'a str) -> Reply<'a, Option<String>> {
        self.ask(move |tables| {
            Ok(tables.protocols.get(&(tenant.clone(), digest.to_owned())).cloned())
        })
    }

    fn resolve<'a>(&'a self, tenant: &'a TenantId, prefix: &'a str) -> Reply<'a, Vec<RunId>> {
        self.ask(move |tables| {
            let ids = tables.runs.keys();
            let ids = ids.filter(|run| run.tenant == *tenant && run.id.starts_with(prefix));
            Ok(ids.take(RESOLVE_LIMIT).cloned().collect())
        })
    }
}

impl Tables {
    fn keep_blobs(&mut self, commit: &Commit) {
        for blob in &commit.blobs {
            let key = (commit.run.tenant.clone(), blob.digest.clone());
            self.blobs.entry(key).or_insert_with(|| blob.bytes.clone());
        }
    }
}

fn lists_run(filter: &RunFilter, head: &Head) -> bool {
    let fits = |wanted: &Option<String>, found: &String| {
        wanted.as_ref().is_none_or(|wanted| wanted == found)
    };
    head.run.tenant == filter.tenant
        && fits(&filter.status, &head.status)
        && fits(&filter.phase, &head.phase)
        && fits(&filter.workflow, &head.workflow)
        && fits(&filter.protocol, &head.protocol)
        && filter.after.as_ref().is_none_or(|after| head.cursor() < *after)
}

fn lists_wait(filter: &WaitFilter, wait: &WaitRow) -> bool {
    wait.run.tenant == filter.tenant
        && filter.run.as_ref().is_none_or(|run| *run == wait.run.id)
        && filter.kind.as_ref().is_none_or(|kind| *kind == wait.kind)
        && (filter.who.is_none() || wait.who.is_none() || filter.who == wait.who)
        && filter.after.as_ref().is_none_or(|after| wait.cursor() > *after)
}
