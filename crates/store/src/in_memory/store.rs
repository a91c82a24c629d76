//! Implements the `Store` trait for [`InMemoryStore`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::run::InMemoryRun;
use crate::lease::check_lease_term;
use crate::prune::check_prune_request;
use crate::round_robin::TenantRoundRobin;
use crate::validation::{check_blob, check_commit, check_creation, check_name, check_text};
use crate::wake::WakeNotifier;
use crate::worker::check_worker;
use crate::{
    ActionRow, Blob, ChildRunFilter, ContentStore, DueRunsRequest, Lease, LeaseStore, LoadedRun,
    LogEntryRow, NewRun, PruneRequest, PruneStats, RESOLVE_LIMIT, RunCommit, RunFilter, RunHead,
    RunId, RunStats, RunStatsFilter, RunStore, StoreError, StoreFuture, StoreMaintenance,
    StoreWatermark, TenantId, WaitFilter, WaitRow, WakeListener, WorkerInfo, WorkerRow,
};

/// Keeps runs in memory.
#[derive(Debug, Default)]
pub struct InMemoryStore {
    tables: Mutex<InMemoryTables>,
    round_robin: TenantRoundRobin,
    wake_notifier: WakeNotifier,
}

#[derive(Debug, Default)]
pub(super) struct InMemoryTables {
    pub(super) runs: BTreeMap<RunId, InMemoryRun>,
    pub(super) workers: BTreeMap<String, WorkerRow>,
    blobs: BTreeMap<(TenantId, String), Vec<u8>>,
    protocols: BTreeMap<(TenantId, String), String>,
}

impl InMemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock_tables(&self) -> MutexGuard<'_, InMemoryTables> {
        // A write changes nothing before all checks have passed, so a panic leaves whole rows.
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify_if(&self, calls: bool) {
        if calls {
            self.wake_notifier.notify();
        }
    }

    fn with_tables<'a, T: Send + 'a>(
        &'a self,
        question: impl FnOnce(&mut InMemoryTables) -> Result<T, StoreError> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move { question(&mut self.lock_tables()) })
    }
}

impl RunStore for InMemoryStore {
    fn create_run(&self, run: NewRun, commit: RunCommit) -> StoreFuture<'_, ()> {
        self.with_tables(move |tables| {
            check_creation(&run, &commit)?;
            let mut fresh = InMemoryRun::new(&run, &commit.run);
            let known = tables.runs.get(&commit.run).unwrap_or(&fresh);
            known.to_stored_state(&commit).validate_commit(&commit)?;
            tables.insert_blobs(&commit);
            let (id, calls) = (commit.run.clone(), commit.makes_run_due());
            fresh.apply_commit(commit);
            tables.runs.insert(id, fresh);
            self.notify_if(calls);
            Ok(())
        })
    }

    fn append_commit(&self, commit: RunCommit) -> StoreFuture<'_, ()> {
        self.with_tables(move |tables| {
            check_commit(&commit)?;
            let Some(run) = tables.runs.get(&commit.run) else {
                return Err(StoreError::NotFound { run: commit.run });
            };
            run.to_stored_state(&commit).validate_commit(&commit)?;
            run.reject_duplicate_ids(&commit)?;
            tables.insert_blobs(&commit);
            let calls = commit.makes_run_due();
            if let Some(run) = tables.runs.get_mut(&commit.run) {
                run.apply_commit(commit);
            }
            self.notify_if(calls);
            Ok(())
        })
    }

    fn load_head<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Option<RunHead>> {
        self.with_tables(move |tables| Ok(tables.runs.get(run).map(InMemoryRun::to_head)))
    }

    fn load_run<'a>(
        &'a self,
        run: &'a RunId,
        at: Option<u64>,
    ) -> StoreFuture<'a, Option<LoadedRun>> {
        self.with_tables(move |tables| {
            Ok(tables.runs.get(run).and_then(|run| run.load_version(at)))
        })
    }

    fn read_log<'a>(
        &'a self,
        run: &'a RunId,
        after_version: u64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<LogEntryRow>> {
        self.with_tables(move |tables| {
            let log = tables.runs.get(run).into_iter().flat_map(|run| &run.log);
            Ok(log.filter(|entry| entry.version > after_version).take(limit).cloned().collect())
        })
    }

    fn list_runs<'a>(&'a self, filter: &'a RunFilter) -> StoreFuture<'a, Vec<RunHead>> {
        self.with_tables(move |tables| {
            let runs = tables.runs.values();
            let found = runs.filter(|run| {
                filter.terms.iter().all(|term| run.terms.binary_search(term).is_ok())
            });
            let mut heads: Vec<RunHead> = found.map(InMemoryRun::to_head).collect();
            heads.retain(|head| matches_run(filter, head));
            heads.sort_by_key(|head| std::cmp::Reverse(head.to_cursor()));
            heads.truncate(filter.limit);
            Ok(heads)
        })
    }

    fn list_child_runs<'a>(&'a self, filter: &'a ChildRunFilter) -> StoreFuture<'a, Vec<RunHead>> {
        self.with_tables(move |tables| {
            let mut listed = Vec::new();
            let parents: BTreeSet<&String> = filter.parents.iter().collect();
            for parent in parents {
                let runs = tables.runs.values().filter(|run| {
                    run.head.run.tenant == filter.tenant
                        && run.head.parent.as_ref() == Some(parent)
                        && !(filter.open_only && run.head.ended_at.is_some())
                });
                let mut children: Vec<RunHead> = runs.map(InMemoryRun::to_head).collect();
                children.sort_by_key(RunHead::to_cursor);
                children.truncate(filter.limit);
                listed.extend(children);
            }
            Ok(listed)
        })
    }

    fn load_search_terms<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<String>> {
        self.with_tables(move |tables| {
            Ok(tables.runs.get(run).map(|run| run.terms.clone()).unwrap_or_default())
        })
    }

    fn read_run_stats<'a>(&'a self, filter: &'a RunStatsFilter) -> StoreFuture<'a, RunStats> {
        self.with_tables(move |tables| {
            let runs = tables.runs.values().filter(|run| {
                let head = &run.head;
                head.run.tenant == filter.tenant
                    && (filter.since..filter.until).contains(&head.created_at)
                    && filter.workflow.as_ref().is_none_or(|workflow| *workflow == head.workflow)
            });
            let mut runs: Vec<&InMemoryRun> = runs.collect();
            runs.sort_by_key(|run| std::cmp::Reverse(run.head.to_cursor()));
            Ok(filter.sum_up(runs.into_iter().map(InMemoryRun::to_figures)))
        })
    }

    fn list_waits<'a>(&'a self, filter: &'a WaitFilter) -> StoreFuture<'a, Vec<WaitRow>> {
        self.with_tables(move |tables| {
            let waits = tables.runs.values().flat_map(|run| run.waits.values());
            let mut waits: Vec<WaitRow> =
                waits.filter(|wait| matches_wait(filter, wait)).cloned().collect();
            waits.sort_by_key(WaitRow::to_cursor);
            waits.truncate(filter.limit);
            Ok(waits)
        })
    }

    fn list_actions<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<ActionRow>> {
        self.with_tables(move |tables| {
            Ok(tables.runs.get(run).map(|run| run.actions.clone()).unwrap_or_default())
        })
    }

    fn find_key_version<'a>(
        &'a self,
        run: &'a RunId,
        key: &'a str,
    ) -> StoreFuture<'a, Option<u64>> {
        self.with_tables(move |tables| {
            Ok(tables.runs.get(run).and_then(|run| run.keys.get(key).copied()))
        })
    }

    fn list_keys<'a>(&'a self, run: &'a RunId) -> StoreFuture<'a, Vec<(String, u64)>> {
        self.with_tables(move |tables| {
            let keys = tables.runs.get(run).into_iter().flat_map(|run| &run.keys);
            Ok(keys.map(|(key, version)| (key.clone(), *version)).collect())
        })
    }

    fn resolve_run_id<'a>(
        &'a self,
        tenant: &'a TenantId,
        prefix: &'a str,
    ) -> StoreFuture<'a, Vec<RunId>> {
        self.with_tables(move |tables| {
            let ids = tables.runs.keys();
            let ids = ids.filter(|run| run.tenant == *tenant && run.id.starts_with(prefix));
            Ok(ids.take(RESOLVE_LIMIT).cloned().collect())
        })
    }
}

impl LeaseStore for InMemoryStore {
    fn acquire_due_runs<'a>(&'a self, taking: &'a DueRunsRequest) -> StoreFuture<'a, Vec<Lease>> {
        self.with_tables(move |tables| {
            check_lease_term(&taking.worker, taking.now, taking.until)?;
            let taken = tables.acquire_due_runs(taking, self.round_robin.last_served().as_ref());
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
        self.with_tables(move |tables| {
            check_lease_term(worker, now, until)?;
            let Some(kept) = tables.runs.get_mut(run) else {
                return Err(StoreError::NotFound { run: run.clone() });
            };
            let Some(tenure) = kept.lease.to_acquired(worker, now, until, kept.head.version) else {
                return Ok(None);
            };
            kept.lease = tenure;
            Ok(kept.lease.to_lease(run))
        })
    }

    fn release_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        self.with_tables(move |tables| {
            if let Some(run) = tables.runs.get_mut(&lease.run)
                && run.lease.matches_lease(lease)
            {
                run.lease = run.lease.to_released();
                self.notify_if(true);
            }
            Ok(())
        })
    }

    fn expire_lease<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        self.with_tables(move |tables| {
            if let Some(run) = tables.runs.get_mut(&lease.run)
                && run.lease.matches_lease(lease)
            {
                run.lease = run.lease.to_expired(run.head.version);
                self.notify_if(true);
            }
            Ok(())
        })
    }

    fn list_parked_runs<'a>(
        &'a self,
        tenant: &'a TenantId,
        now: i64,
        limit: usize,
    ) -> StoreFuture<'a, Vec<RunHead>> {
        self.with_tables(move |tables| {
            let of_tenant = tables.runs.iter().filter(|(id, _)| id.tenant == *tenant);
            let parked = of_tenant.filter(|(_, run)| run.is_parked(now));
            Ok(parked.map(|(_, run)| run.to_head()).take(limit).collect())
        })
    }

    fn unpark_run<'a>(&'a self, run: &'a RunId, now: i64) -> StoreFuture<'a, bool> {
        self.with_tables(move |tables| {
            let Some(kept) = tables.runs.get_mut(run) else {
                return Err(StoreError::NotFound { run: run.clone() });
            };
            let parked = kept.is_parked(now);
            if parked {
                kept.lease = kept.lease.to_reset();
                self.notify_if(true);
            }
            Ok(parked)
        })
    }

    fn suspend_run<'a>(
        &'a self,
        lease: &'a Lease,
        version: u64,
        wake_at: Option<i64>,
    ) -> StoreFuture<'a, bool> {
        self.with_tables(move |tables| {
            let run = tables.runs.get_mut(&lease.run).filter(|run| run.lease.matches_lease(lease));
            let Some(run) = run else { return Ok(false) };
            run.lease = run.lease.to_reset();
            let rests = run.head.version == version;
            if rests {
                run.head.wake_at = wake_at;
            }
            self.notify_if(!rests);
            Ok(rests)
        })
    }

    fn list_leases(&self, now: i64, limit: usize) -> StoreFuture<'_, Vec<Lease>> {
        self.with_tables(move |tables| Ok(tables.live_leases(now).take(limit).collect()))
    }

    fn record_heartbeat<'a>(
        &'a self,
        worker: &'a WorkerInfo,
        now: i64,
        until: i64,
    ) -> StoreFuture<'a, ()> {
        self.with_tables(move |tables| {
            check_worker(worker, now, until)?;
            tables.record_heartbeat(worker, now, until);
            Ok(())
        })
    }

    fn remove_worker<'a>(&'a self, name: &'a str) -> StoreFuture<'a, ()> {
        self.with_tables(move |tables| {
            tables.workers.remove(name);
            Ok(())
        })
    }

    fn list_workers(&self, now: i64) -> StoreFuture<'_, Vec<WorkerRow>> {
        self.with_tables(move |tables| Ok(tables.list_workers(now)))
    }

    fn subscribe_wakes(&self) -> WakeListener {
        self.wake_notifier.subscribe()
    }
}

impl ContentStore for InMemoryStore {
    fn put_blob<'a>(&'a self, tenant: &'a TenantId, blob: Blob) -> StoreFuture<'a, ()> {
        self.with_tables(move |tables| {
            check_name("tenant", tenant.as_str())?;
            check_blob(&blob)?;
            tables.blobs.entry((tenant.clone(), blob.digest)).or_insert(blob.bytes);
            Ok(())
        })
    }

    fn load_blob<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
    ) -> StoreFuture<'a, Option<Vec<u8>>> {
        self.with_tables(move |tables| {
            Ok(tables.blobs.get(&(tenant.clone(), digest.to_owned())).cloned())
        })
    }

    fn put_protocol<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
        text: &'a str,
    ) -> StoreFuture<'a, ()> {
        self.with_tables(move |tables| {
            check_name("tenant", tenant.as_str())?;
            check_name("digest", digest)?;
            check_text("protocol", text)?;
            let key = (tenant.clone(), digest.to_owned());
            tables.protocols.entry(key).or_insert_with(|| text.to_owned());
            Ok(())
        })
    }

    fn load_protocol<'a>(
        &'a self,
        tenant: &'a TenantId,
        digest: &'a str,
    ) -> StoreFuture<'a, Option<String>> {
        self.with_tables(move |tables| {
            Ok(tables.protocols.get(&(tenant.clone(), digest.to_owned())).cloned())
        })
    }
}

impl StoreMaintenance for InMemoryStore {
    fn list_tenants(&self) -> StoreFuture<'_, Vec<TenantId>> {
        self.with_tables(|tables| {
            let mut tenants: Vec<_> = tables.runs.keys().map(|run| run.tenant.clone()).collect();
            tenants.dedup();
            Ok(tenants)
        })
    }

    fn read_watermark(&self) -> StoreFuture<'_, StoreWatermark> {
        // Pruning reads every body, so it needs no position.
        self.with_tables(|_| Ok(StoreWatermark(0)))
    }

    fn prune_run<'a>(&'a self, pruning: &'a PruneRequest) -> StoreFuture<'a, PruneStats> {
        self.with_tables(move |tables| {
            check_prune_request(pruning)?;
            let Some(run) = tables.runs.get_mut(&pruning.run) else {
                return Err(StoreError::NotFound { run: pruning.run.clone() });
            };
            let (expected, found) = (pruning.version, run.head.version);
            if found != expected {
                return Err(StoreError::Conflict { expected, found });
            }
            if run.head.pruned.is_some() {
                return Ok(PruneStats::default());
            }
            let mut pruned = run.prune_bodies(pruning);
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
}

impl InMemoryTables {
    fn insert_blobs(&mut self, commit: &RunCommit) {
        for blob in &commit.blobs {
            let key = (commit.run.tenant.clone(), blob.digest.clone());
            self.blobs.entry(key).or_insert_with(|| blob.bytes.clone());
        }
    }
}

fn matches_run(filter: &RunFilter, head: &RunHead) -> bool {
    let fits = |wanted: &Option<String>, found: &String| {
        wanted.as_ref().is_none_or(|wanted| wanted == found)
    };
    head.run.tenant == filter.tenant
        && fits(&filter.status, &head.status)
        && fits(&filter.phase, &head.phase)
        && fits(&filter.workflow, &head.workflow)
        && fits(&filter.protocol, &head.protocol)
        && fits(&filter.protocol_version, &head.protocol_version)
        && (filter.started_by.is_none() || filter.started_by == head.started_by)
        && filter.since.is_none_or(|since| head.created_at >= since)
        && filter.start_cursor().is_none_or(|after| head.to_cursor() < after)
}

fn matches_wait(filter: &WaitFilter, wait: &WaitRow) -> bool {
    wait.run.tenant == filter.tenant
        && filter.run.as_ref().is_none_or(|run| *run == wait.run.id)
        && filter.kind.as_ref().is_none_or(|kind| *kind == wait.kind)
        && (filter.who.is_empty()
            || wait.who.is_empty()
            || wait.who.iter().any(|one| filter.who.contains(one)))
        && filter.after.as_ref().is_none_or(|after| wait.to_cursor() > *after)
}
