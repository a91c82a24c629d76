//! One run of the reference store: its rows, and how a commit changes them.

use std::collections::BTreeMap;

use crate::lease::LeaseState;
use crate::run_stats::RunFigures;
use crate::stored_run_state::StoredRunState;
use crate::{
    ActionRow, LoadedRun, LogEntryRow, NewRun, PruneRequest, PruneStats, RunCommit, RunHead, RunId,
    SnapshotRow, StoreError, WaitRow,
};

/// The rows of one run.
#[derive(Debug)]
pub(super) struct InMemoryRun {
    pub(super) head: RunHead,
    pub(super) lease: LeaseState,
    pub(super) log: Vec<LogEntryRow>,
    snapshots: BTreeMap<u64, SnapshotRow>,
    pub(super) actions: Vec<ActionRow>,
    pub(super) waits: BTreeMap<String, WaitRow>,
    pub(super) keys: BTreeMap<String, u64>,
    pub(super) terms: Vec<String>,
}

impl InMemoryRun {
    pub(super) fn new(run: &NewRun, id: &RunId) -> Self {
        let head = RunHead {
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
            protocol_version: run.protocol_version.clone(),
            started_by: run.started_by.clone(),
            parent: run.parent.clone(),
            title: String::new(),
            asks: String::new(),
            ended_at: None,
            input_tokens: 0,
            output_tokens: 0,
            cost: 0,
            wake_at: None,
            lease: None,
            deaths: 0,
            pruned: None,
        };
        Self {
            head,
            lease: LeaseState::default(),
            log: Vec::new(),
            snapshots: BTreeMap::new(),
            actions: Vec::new(),
            waits: BTreeMap::new(),
            keys: BTreeMap::new(),
            terms: Vec::new(),
        }
    }

    pub(super) fn to_head(&self) -> RunHead {
        let deaths = self.lease.deaths_at(self.head.version, false);
        RunHead { lease: self.lease.to_lease(&self.head.run), deaths, ..self.head.clone() }
    }

    /// Whether the run is due, no worker holds it, and this worker may acquire it.
    pub(super) fn is_due(&self, worker: &str, now: i64) -> bool {
        let wakes = self.head.wake_at.is_some_and(|time| time <= now);
        let free = || self.lease.to_acquired(worker, now, i64::MAX, self.head.version).is_some();
        wakes && !self.lease.is_held(now) && free()
    }

    /// Whether too many workers ended on this run.
    pub(super) fn is_parked(&self, now: i64) -> bool {
        self.lease.is_parked(now, self.head.version)
    }

    pub(super) fn to_stored_state(&self, commit: &RunCommit) -> StoredRunState {
        StoredRunState {
            version: self.head.version,
            seq: self.head.seq,
            lease: self.lease.clone(),
            wake_at: self.head.wake_at,
            key_version: commit
                .idempotency_key
                .as_ref()
                .and_then(|key| self.keys.get(key).copied()),
        }
    }

    /// Rejects ids of actions and waits that are still in use.
    pub(super) fn reject_duplicate_ids(&self, commit: &RunCommit) -> Result<(), StoreError> {
        let outstanding = |id: &String| {
            !commit.finished_actions.contains(id)
                && self.actions.iter().any(|known| known.id == *id)
        };
        if let Some(action) = commit.actions.iter().find(|action| outstanding(&action.id)) {
            return Err(StoreError::malformed(format!(
                "action `{}` is already pending",
                action.id
            )));
        }
        let open = |id: &String| !commit.waits_closed.contains(id) && self.waits.contains_key(id);
        match commit.waits_opened.iter().find(|wait| open(&wait.id)) {
            Some(wait) => Err(StoreError::malformed(format!("wait `{}` is already open", wait.id))),
            None => Ok(()),
        }
    }

    pub(super) fn apply_commit(&mut self, commit: RunCommit) {
        let standing = self.to_stored_state(&commit);
        let wake_at = standing.next_wake_at(&commit);
        self.lease.until = standing.next_lease_until(&commit);
        self.snapshots.extend(commit.snapshot.map(|snapshot| (snapshot.version, snapshot)));
        self.actions.retain(|action| !commit.finished_actions.contains(&action.id));
        self.actions.extend(commit.actions);
        self.waits.retain(|id, _| !commit.waits_closed.contains(id));
        self.waits.extend(commit.waits_opened.into_iter().map(|wait| (wait.id.clone(), wait)));
        if let Some(terms) = commit.search_terms {
            self.terms = terms;
        }
        self.keys.extend(commit.idempotency_key.map(|key| (key, commit.version)));
        self.head = RunHead {
            version: commit.version,
            seq: commit.entry.last_seq,
            hash: commit.entry.hash.clone(),
            status: commit.head.status,
            phase: commit.head.phase,
            updated_at: commit.head.updated_at,
            summary: commit.head.summary,
            title: commit.head.title,
            asks: commit.head.asks,
            ended_at: commit.head.ended_at,
            input_tokens: commit.head.input_tokens,
            output_tokens: commit.head.output_tokens,
            cost: commit.head.cost,
            wake_at,
            ..self.head.clone()
        };
        self.log.push(commit.entry);
    }

    /// Removes the log bodies and the snapshots that are not kept; returns what was removed.
    pub(super) fn prune_bodies(&mut self, pruning: &PruneRequest) -> PruneStats {
        let mut pruned = PruneStats { versions: self.log.len() as u64, ..PruneStats::default() };
        for entry in &mut self.log {
            pruned.bytes += std::mem::take(&mut entry.body).len() as u64;
        }
        let kept =
            pruning.kept_snapshots.iter().map(|state| (state.version, state.clone())).collect();
        for (version, state) in std::mem::replace(&mut self.snapshots, kept) {
            if !self.snapshots.contains_key(&version) {
                pruned.snapshots += 1;
                pruned.bytes += state.body.len() as u64;
            }
        }
        self.terms.clear();
        self.head.title.clear();
        self.head.pruned = Some(pruning.seal.clone());
        pruned
    }

    /// The columns that statistics use.
    pub(super) fn to_figures(&self) -> RunFigures {
        let head = &self.head;
        RunFigures {
            created_at: head.created_at,
            workflow: head.workflow.clone(),
            status: head.status.clone(),
            ended_at: head.ended_at,
            input_tokens: head.input_tokens,
            output_tokens: head.output_tokens,
            cost: head.cost,
        }
    }

    pub(super) fn load_version(&self, at: Option<u64>) -> Option<LoadedRun> {
        let version = at.unwrap_or(self.head.version);
        if !(1..=self.head.version).contains(&version) {
            return None;
        }
        let snapshot = self.snapshots.range(..=version).next_back().map(|(_, found)| found.clone());
        let covered = snapshot.as_ref().map_or(0, |snapshot| snapshot.version);
        let log = self.log.iter();
        let entries = log.filter(|entry| entry.version > covered && entry.version <= version);
        Some(LoadedRun {
            head: self.to_head(),
            version,
            snapshot,
            entries: entries.cloned().collect(),
        })
    }
}
