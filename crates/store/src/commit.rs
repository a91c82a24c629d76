//! A commit: everything that one step of a run writes. A store keeps it whole or not at all.

use crate::{Lease, RunId, WaitRow};

/// Maximum number of words that a run is found by.
pub const MAX_SEARCH_TERMS: usize = 4_000;

/// Maximum length of a word that a run is found by, in bytes.
pub const MAX_SEARCH_TERM_BYTES: usize = 64;

/// The properties of a run that never change. Its id is part of its first commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewRun {
    /// Digest of the protocol that the run executes.
    pub protocol: String,
    /// Name of the workflow within that protocol.
    pub workflow: String,
    /// Creation time in milliseconds since the Unix epoch; lists of runs are ordered by it.
    pub created_at: i64,
    /// Version of the protocol, as its author named it; empty if there is none.
    pub protocol_version: String,
    /// Who started the run; `None` if nobody is named.
    pub started_by: Option<String>,
    /// Id of the run that started this one and waits for it; `None` if it is not a child.
    pub parent: Option<String>,
}

/// Everything that one step of a run writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCommit {
    /// The run that took the step.
    pub run: RunId,
    /// The version that the step was decided on; 0 for the first commit.
    pub expected_version: u64,
    /// The version that the step creates: `expected_version` plus one.
    pub version: u64,
    /// The new log entry; its event positions continue the log without a gap.
    pub entry: LogEntryRow,
    /// The state after this step, if the caller decided to store a snapshot.
    pub snapshot: Option<SnapshotRow>,
    /// Actions that become pending with this step.
    pub actions: Vec<ActionRow>,
    /// Ids of actions that are no longer pending; removed before `actions` are added.
    pub finished_actions: Vec<String>,
    /// Waits that this step opens.
    pub waits_opened: Vec<WaitRow>,
    /// Ids of waits that this step closes; removed before `waits_opened` are added.
    pub waits_closed: Vec<String>,
    /// Blobs that the events refer to.
    pub blobs: Vec<Blob>,
    /// Idempotency key of the input; `None` if the caller sent none.
    pub idempotency_key: Option<String>,
    /// Head of the run after this step.
    pub head: RunHeadUpdate,
    /// The words that the run is found by from now on, sorted and each once, at most
    /// [`MAX_SEARCH_TERMS`]; `None` if they did not change.
    pub search_terms: Option<Vec<String>>,
    /// When a worker must look at the run, in milliseconds since the Unix epoch; the run is due
    /// from this time on. If the run was due before the commit and still is at the time of the
    /// commit, the earlier time stays: an intermediate step does not change it. `None` if only an
    /// input from outside can advance the run.
    pub wake_at: Option<i64>,
    /// The lease under which the step was taken. The store refuses the commit if the lease's epoch
    /// is not the current one; a later `until` renews the lease.
    pub lease: Option<Lease>,
}

impl RunCommit {
    /// Creates a commit to the version after `expected_version` that has only an entry and a head.
    #[must_use]
    pub fn new(run: RunId, expected_version: u64, entry: LogEntryRow, head: RunHeadUpdate) -> Self {
        Self {
            run,
            expected_version,
            version: expected_version.saturating_add(1),
            entry,
            snapshot: None,
            actions: Vec::new(),
            finished_actions: Vec::new(),
            waits_opened: Vec::new(),
            waits_closed: Vec::new(),
            blobs: Vec::new(),
            idempotency_key: None,
            head,
            search_terms: None,
            wake_at: None,
            lease: None,
        }
    }

    /// Whether the commit makes a run due that the committer does not work on itself.
    pub(crate) fn makes_run_due(&self) -> bool {
        self.lease.is_none() && self.wake_at.is_some_and(|time| time <= self.entry.time)
    }
}

/// One version in a run's log: all its events, as one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntryRow {
    /// Version that the entry created, from 1.
    pub version: u64,
    /// Position of its first event in the log, from 1.
    pub first_seq: u64,
    /// Position of its last event in the log.
    pub last_seq: u64,
    /// When the entry was decided, in milliseconds since the Unix epoch.
    pub time: i64,
    /// Hash of the entry in the run's hash chain.
    pub hash: String,
    /// The serialized events; empty after the run was pruned.
    pub body: String,
}

/// The state of a run at a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotRow {
    /// Version that the state belongs to.
    pub version: u64,
    /// Position of the last event that the state includes.
    pub seq: u64,
    /// The serialized state of the run.
    pub body: String,
}

/// A pending action, to be performed outside the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionRow {
    /// Id that never changes: after a crash, the same action has the same id.
    pub id: String,
    /// Kind of action, as the caller names it.
    pub kind: String,
    /// The serialized action, which the store does not interpret.
    pub body: String,
}

/// Bytes stored under their digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// Key that the bytes are found by; the store does not compute it.
    pub digest: String,
    /// Content of the blob.
    pub bytes: Vec<u8>,
}

/// The part of a run's head that a commit sets, for lists and for the next commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunHeadUpdate {
    /// Status of the run, in the words of the caller.
    pub status: String,
    /// Name of the current phase.
    pub phase: String,
    /// Time of this change, in milliseconds since the Unix epoch.
    pub updated_at: i64,
    /// One line of text for lists.
    pub summary: String,
    /// Title of the run: one line, empty if it has none.
    pub title: String,
    /// Whom the open waits of the run ask, separated by commas; empty if they ask nobody in
    /// particular, or there are none.
    pub asks: String,
    /// When the run ended, in milliseconds since the Unix epoch; `None` while it has not.
    pub ended_at: Option<i64>,
    /// Number of tokens in prompts so far.
    pub input_tokens: u64,
    /// Number of tokens in replies so far.
    pub output_tokens: u64,
    /// Cost so far, in millionths of the currency.
    pub cost: u64,
}
