//! One run of the reference store: what is known of it, and what a commit makes of it.

use std::collections::BTreeMap;

use crate::lease::Tenure;
use crate::ruling::Standing;
use crate::{
    ActionRow, Commit, EntryRow, Head, Loaded, NewRun, Pruned, Pruning, RunId, SnapshotRow,
    StoreError, WaitRow,
};

/// A run.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) head: Head,
    pub(super) tenure: Tenure,
    pub(super) log: Vec<EntryRow>,
    snapshots: BTreeMap<u64, SnapshotRow>,
    pub(super) actions: Vec<ActionRow>,
    pub(super) waits: BTreeMap<String, WaitRow>,
    pub(super) keys: BTreeMap<String, u64>,
}

impl Run {
    pub(super) fn new(run: &NewRun, id: &RunId) -> Self {
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
            deaths: 0,
            pruned: None,
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

    pub(super) fn head(&self) -> Head {
        let deaths = self.tenure.deaths_at(self.head.version, false);
        Head { lease: self.tenure.lease(&self.head.run), deaths, ..self.head.clone() }
    }

    /// Whether a worker must look at it, none does, and this one may.
    pub(super) fn is_due(&self, worker: &str, now: i64) -> bool {
        let wakes = self.head.wake_at.is_some_and(|time| time <= now);
        let free = || self.tenure.asked(worker, now, i64::MAX, self.head.version).is_some();
        wakes && !self.tenure.alive(now) && free()
    }

    /// Whether too many workers ended on it.
    pub(super) fn parked(&self, now: i64) -> bool {
        self.tenure.parked(now, self.head.version)
    }

    pub(super) fn standing(&self, commit: &Commit) -> Standing {
        Standing {
            version: self.head.version,
            seq: self.head.seq,
            tenure: self.tenure.clone(),
            wake_at: self.head.wake_at,
            keyed: commit.key.as_ref().and_then(|key| self.keys.get(key).copied()),
        }
    }

    /// An id that is still in use cannot be given again.
    pub(super) fn refuse_twice(&self, commit: &Commit) -> Result<(), StoreError> {
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

    pub(super) fn apply(&mut self, commit: Commit) {
        let standing = self.standing(&commit);
        let wake_at = standing.wake_at(&commit);
        self.tenure.until = standing.until(&commit);
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
            wake_at,
            ..self.head.clone()
        };
        self.log.push(commit.entry);
    }

    /// Takes the bodies out.
    pub(super) fn prune(&mut self, pruning: &Pruning) -> Pruned {
        let mut pruned = Pruned { versions: self.log.len() as u64, ..Pruned::default() };
        for entry in &mut self.log {
            pruned.bytes += std::mem::take(&mut entry.body).len() as u64;
        }
        let kept = pruning.kept.iter().map(|state| (state.version, state.clone())).collect();
        for (version, state) in std::mem::replace(&mut self.snapshots, kept) {
            if !self.snapshots.contains_key(&version) {
                pruned.snapshots += 1;
                pruned.bytes += state.body.len() as u64;
            }
        }
        self.head.pruned = Some(pruning.seal.clone());
        pruned
    }

    pub(super) fn load(&self, at: Option<u64>) -> Option<Loaded> {
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
