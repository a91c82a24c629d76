//! A commit: everything one step of a run leaves behind. It is kept whole or not at all.

use crate::{Lease, RunId, WaitRow};

/// What is fixed about a run from its beginning. Its id stands in its first commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// The digest of the protocol it runs.
    pub protocol: String,
    /// The workflow of that protocol.
    pub workflow: String,
    /// When it was created; lists of runs are ordered by it.
    pub created_at: i64,
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCommit {
    /// The run that took the step.
    pub run: RunId,
    /// The version the step was decided on; 0 for the first.
    pub expected_version: u64,
    /// The version the step makes: one more.
    pub version: u64,
    /// What is now true; its places follow the log without a gap.
    pub entry: LogEntryRow,
    /// The state after this step, when it is time to keep one.
    pub snapshot: Option<SnapshotRow>,
    /// Actions to do from now on.
    pub actions: Vec<ActionRow>,
    /// Ids of actions that need not be done any more; taken away before `actions` are added.
    pub finished_actions: Vec<String>,
    /// Waits that begin.
    pub waits_opened: Vec<WaitRow>,
    /// Ids of waits that are over; taken away before `waits_opened` are added.
    pub waits_closed: Vec<String>,
    /// Bytes the events speak of.
    pub blobs: Vec<Blob>,
    /// The idempotency key of the input, where it has one.
    pub idempotency_key: Option<String>,
    /// Where the run stands now.
    pub head: RunHeadUpdate,
    /// When a worker must look at the run: from this moment on it is due. A run that is due at the
    /// moment of the commit, and was before, is so since then: a step on the way changes nothing.
    /// `Empty` where only something from outside can move it.
    pub wake_at: Option<i64>,
    /// The lease the step was made under. Refused when its epoch is not the current one; a later
    /// `until` renews it.
    pub lease: Option<Lease>,
}

impl RunCommit {
    /// A commit to the version after `expected_version`, with an entry, a head and nothing else.
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
            wake_at: None,
            lease: None,
        }
    }

    /// Whether it makes a run due that whoever commits does not work on.
    pub(crate) fn makes_run_due(&self) -> bool {
        self.lease.is_none() && self.wake_at.is_some_and(|time| time <= self.entry.time)
    }
}

/// One version in a run's log: all its events, as one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntryRow {
    /// The version.
    pub version: u64,
    /// The place of its first event in the log, from 1.
    pub first: u64,
    /// The place of its last event.
    pub last: u64,
    /// When it came to be.
    pub time: i64,
    /// Its link in the hash chain.
    pub hash: String,
    /// The events themselves.
    pub body: String,
}

/// The state of a run at a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotRow {
    /// The version it shows.
    pub version: u64,
    /// The last event it holds.
    pub seq: u64,
    /// The state itself.
    pub body: String,
}

/// Something to be done outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionRow {
    /// Stable for ever: the same action after a crash has the same id.
    pub id: String,
    /// What kind of action it is.
    pub kind: String,
    /// The action itself.
    pub body: String,
}

/// Bytes under their digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// What they are found by; the store does not compute it.
    pub digest: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Where a run stands after a commit, for lists and for the next commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunHeadUpdate {
    /// Its status, in the words of whoever decides.
    pub status: String,
    /// The phase it is in.
    pub phase: String,
    /// When this became so.
    pub updated_at: i64,
    /// One line for lists.
    pub summary: String,
}
