//! The reference store: maps behind one lock, gone with the process. Written to be obviously right;
//! where another store differs from it, the other one is wrong.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::lease::{Tenure, check_request};
use crate::ruling::Standing;
use crate::well_formed::{check_blob, check_commit, check_creation, name, plain};
use crate::{
    ActionRow, Blob, Commit, EntryRow, Head, Lease, Loaded, NewRun, RESOLVE_LIMIT, Reply,
    RunFilter, RunId, SnapshotRow, Store, StoreError, TenantId, WaitFilter, WaitRow,
};

/// Keeps runs in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    runs: BTreeMap<RunId, Run>,
    blobs: BTreeMap<(TenantId, String), Vec<u8>>,
    protocols: BTreeMap<(TenantId, String), String>,
}

#[derive(Debug)]
struct Run {
    head: Head,
    tenure: Tenure,
    log: Vec<EntryRow>,
    snapshots: BTreeMap<u64, SnapshotRow>,
    actions: Vec<ActionRow>,
    waits: BTreeMap<String, WaitRow>,
    keys: BTreeMap<String, u64>,
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
            let id = commit.run.clone();
            fresh.apply(commit);
            tables.runs.insert(id, fresh);
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
            if let Some(run) = tables.runs.get_mut(&commit.run) {
                run.apply(commit);
            }
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

    fn due(&self, now: i64, limit: usize) -> Reply<'_, Vec<RunId>> {
        self.ask(move |tables| {
            let (mut woken, mut working) = (Vec::new(), Vec::new());
            for (id, run) in &tables.runs {
                match run.head.wake_at {
                    Some(time) if time <= now => woken.push((time, id)),
                    _ if !run.actions.is_empty() && !run.tenure.alive(now) => working.push(id),
                    _ => {}
                }
            }
            woken.sort();
            let ids = woken.into_iter().map(|(_, id)| id).chain(working);
            Ok(ids.take(limit).cloned().collect())
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
            let Some(tenure) = kept.tenure.asked(worker, now, until) else { return Ok(None) };
            kept.tenure = tenure;
            Ok(kept.tenure.lease(run))
        })
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> Reply<'a, ()> {
        self.ask(move |tables| {
            if let Some(run) = tables.runs.get_mut(&lease.run)
                && run.tenure.is(lease)
            {
                run.tenure = Tenure { worker: None, epoch: lease.epoch, until: 0 };
            }
            Ok(())
        })
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

impl Run {
    fn new(run: &NewRun, id: &RunId) -> Self {
        let head = Head {
            run: id.clone(),
            protocol: run.protocol.clone(),
            workflow: run.workflow.clone(),
            created_at: run.created_at,
            version: 0,
            seq: 0,
            hash: String::new(),
            status: String::new(),
            phase: String::new(),
            updated_at: run.created_at,
            summary: String::new(),
            wake_at: None,
            lease: None,
        };
        Self {
            head,
            tenure: Tenure::default(),
            log: Vec::new(),
            snapshots: BTreeMap::new(),
            actions: Vec::new(),
            waits: BTreeMap::new(),
            keys: BTreeMap::new(),
        }
    }

    fn head(&self) -> Head {
        Head { lease: self.tenure.lease(&self.head.run), ..self.head.clone() }
    }

    fn standing(&self, commit: &Commit) -> Standing {
        Standing {
            version: self.head.version,
            seq: self.head.seq,
            tenure: self.tenure.clone(),
            keyed: commit.key.as_ref().and_then(|key| self.keys.get(key).copied()),
        }
    }

    /// An id that is still in use cannot be given again.
    fn refuse_twice(&self, commit: &Commit) -> Result<(), StoreError> {
        let outstanding = |id: &String| {
            !commit.finished.contains(id) && self.actions.iter().any(|known| known.id == *id)
        };
        if let Some(action) = commit.actions.iter().find(|action| outstanding(&action.id)) {
            return Err(StoreError::malformed(format!(
                "action `{}` is outstanding already",
                action.id
            )));
        }
        let open = |id: &String| !commit.waits_closed.contains(id) && self.waits.contains_key(id);
        match commit.waits_opened.iter().find(|wait| open(&wait.id)) {
            Some(wait) => Err(StoreError::malformed(format!("wait `{}` is open already", wait.id))),
            None => Ok(()),
        }
    }

    fn apply(&mut self, commit: Commit) {
        self.tenure.until = self.standing(&commit).until(&commit);
        self.snapshots.extend(commit.snapshot.map(|snapshot| (snapshot.version, snapshot)));
        self.actions.retain(|action| !commit.finished.contains(&action.id));
        self.actions.extend(commit.actions);
        self.waits.retain(|id, _| !commit.waits_closed.contains(id));
        self.waits.extend(commit.waits_opened.into_iter().map(|wait| (wait.id.clone(), wait)));
        self.keys.extend(commit.key.map(|key| (key, commit.version)));
        self.head = Head {
            version: commit.version,
            seq: commit.entry.last,
            hash: commit.entry.hash.clone(),
            status: commit.head.status,
            phase: commit.head.phase,
            updated_at: commit.head.updated_at,
            summary: commit.head.summary,
            wake_at: commit.wake_at,
            ..self.head.clone()
        };
        self.log.push(commit.entry);
    }

    fn load(&self, at: Option<u64>) -> Option<Loaded> {
        let version = at.unwrap_or(self.head.version);
        if !(1..=self.head.version).contains(&version) {
            return None;
        }
        let snapshot = self.snapshots.range(..=version).next_back().map(|(_, found)| found.clone());
        let covered = snapshot.as_ref().map_or(0, |snapshot| snapshot.version);
        let log = self.log.iter();
        let entries = log.filter(|entry| entry.version > covered && entry.version <= version);
        Some(Loaded { head: self.head(), version, snapshot, entries: entries.cloned().collect() })
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
