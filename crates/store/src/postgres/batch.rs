//! Commits of several runs of one tenant as the stored function takes them: a list a column. What a
//! commit has several of (actions, waits, blobs) stands in lists of its own, with the place of its
//! commit, from 1.

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::fault::unreadable;
use super::pipeline::Call;
use super::settings::LeaseClock;
use super::verdict::Verdict;
use crate::wait::NEVER;
use crate::{Commit, NewRun, StoreError};

const APPEND: &str = "SELECT verdicts, founds FROM countersign.append_1($1, $2, $3, $4, $5, $6, $7, $8,
    $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28,
    $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41)";

/// Several commits of one tenant, of different runs, sorted by run.
pub(super) struct Batch<'c> {
    owner: &'c str,
    term: bool,
    runs: Vec<&'c str>,
    expected: Vec<i64>,
    firsts: Vec<i64>,
    lasts: Vec<i64>,
    times: Vec<i64>,
    hashes: Vec<&'c str>,
    bodies: Vec<&'c str>,
    keys: Vec<Option<&'c str>>,
    head: Heads<'c>,
    lease_workers: Vec<Option<&'c str>>,
    lease_epochs: Vec<Option<i64>>,
    lease_untils: Vec<Option<i64>>,
    protocols: Vec<Option<&'c str>>,
    workflows: Vec<Option<&'c str>>,
    creations: Vec<Option<i64>>,
    snapshots: Several<'c>,
    finished: Several<'c>,
    actions: Actions<'c>,
    closed: Several<'c>,
    waits: Waits<'c>,
    blob_of: Vec<i32>,
    blob_digests: Vec<&'c str>,
    blob_bytes: Vec<&'c [u8]>,
}

#[derive(Default)]
struct Heads<'c> {
    statuses: Vec<&'c str>,
    phases: Vec<&'c str>,
    updates: Vec<i64>,
    summaries: Vec<&'c str>,
    wakes: Vec<Option<i64>>,
}

/// Texts, each with the place of its commit.
#[derive(Default)]
struct Several<'c> {
    of: Vec<i32>,
    texts: Vec<&'c str>,
}

#[derive(Default)]
struct Actions<'c> {
    of: Vec<i32>,
    ids: Vec<&'c str>,
    kinds: Vec<&'c str>,
    bodies: Vec<&'c str>,
}

#[derive(Default)]
struct Waits<'c> {
    of: Vec<i32>,
    ids: Vec<&'c str>,
    kinds: Vec<&'c str>,
    openings: Vec<i64>,
    deadlines: Vec<i64>,
    whos: Vec<Option<&'c str>>,
    bodies: Vec<&'c str>,
}

impl<'c> Batch<'c> {
    /// No commit yet, of this tenant.
    pub(super) fn new(owner: &'c str, clock: LeaseClock) -> Self {
        Self {
            owner,
            term: clock == LeaseClock::Server,
            runs: Vec::new(),
            expected: Vec::new(),
            firsts: Vec::new(),
            lasts: Vec::new(),
            times: Vec::new(),
            hashes: Vec::new(),
            bodies: Vec::new(),
            keys: Vec::new(),
            head: Heads::default(),
            lease_workers: Vec::new(),
            lease_epochs: Vec::new(),
            lease_untils: Vec::new(),
            protocols: Vec::new(),
            workflows: Vec::new(),
            creations: Vec::new(),
            snapshots: Several::default(),
            finished: Several::default(),
            actions: Actions::default(),
            closed: Several::default(),
            waits: Waits::default(),
            blob_of: Vec::new(),
            blob_digests: Vec::new(),
            blob_bytes: Vec::new(),
        }
    }

    /// One more commit.
    pub(super) fn add(&mut self, new: Option<&'c NewRun>, commit: &'c Commit, clock: LeaseClock) {
        self.runs.push(&commit.run.id);
        let place = self.runs.len() as i32;
        self.expected.push(commit.expected_version as i64);
        self.firsts.push(commit.entry.first as i64);
        self.lasts.push(commit.entry.last as i64);
        self.times.push(commit.entry.time);
        self.hashes.push(&commit.entry.hash);
        self.bodies.push(&commit.entry.body);
        self.keys.push(commit.key.as_deref());
        self.head.statuses.push(&commit.head.status);
        self.head.phases.push(&commit.head.phase);
        self.head.updates.push(commit.head.updated_at);
        self.head.summaries.push(&commit.head.summary);
        self.head.wakes.push(commit.wake_at);
        let lease = commit.lease.as_ref();
        self.lease_workers.push(lease.map(|lease| lease.worker.as_str()));
        self.lease_epochs.push(lease.map(|lease| lease.epoch as i64));
        self.lease_untils.push(lease.map(|lease| clock.asked(lease.until)));
        self.protocols.push(new.map(|new| new.protocol.as_str()));
        self.workflows.push(new.map(|new| new.workflow.as_str()));
        self.creations.push(new.map(|new| new.created_at));
        self.add_lists(place, commit);
    }

    fn add_lists(&mut self, place: i32, commit: &'c Commit) {
        self.snapshots.add(place, commit.snapshot.iter().map(|snapshot| snapshot.body.as_str()));
        self.finished.add(place, commit.finished.iter().map(String::as_str));
        self.closed.add(place, commit.waits_closed.iter().map(String::as_str));
        for action in &commit.actions {
            self.actions.of.push(place);
            self.actions.ids.push(&action.id);
            self.actions.kinds.push(&action.kind);
            self.actions.bodies.push(&action.body);
        }
        for wait in &commit.waits_opened {
            self.waits.of.push(place);
            self.waits.ids.push(&wait.id);
            self.waits.kinds.push(&wait.kind);
            self.waits.openings.push(wait.opened_at);
            self.waits.deadlines.push(wait.deadline.unwrap_or(NEVER));
            self.waits.whos.push(wait.who.as_deref());
            self.waits.bodies.push(&wait.body);
        }
        for blob in &commit.blobs {
            self.blob_of.push(place);
            self.blob_digests.push(&blob.digest);
            self.blob_bytes.push(&blob.bytes);
        }
    }

    /// The call that keeps them, in the order of the function's parameters.
    pub(super) fn call(&self) -> Call<'_> {
        let (texts, numbers, places) = (Type::TEXT_ARRAY, Type::INT8_ARRAY, Type::INT4_ARRAY);
        Call::new(APPEND)
            .text(&self.owner)
            .with(&self.term, Type::BOOL)
            .with(&self.runs, texts.clone())
            .with(&self.expected, numbers.clone())
            .with(&self.firsts, numbers.clone())
            .with(&self.lasts, numbers.clone())
            .with(&self.times, numbers.clone())
            .with(&self.hashes, texts.clone())
            .with(&self.bodies, texts.clone())
            .with(&self.keys, texts.clone())
            .with(&self.head.statuses, texts.clone())
            .with(&self.head.phases, texts.clone())
            .with(&self.head.updates, numbers.clone())
            .with(&self.head.summaries, texts.clone())
            .with(&self.head.wakes, numbers.clone())
            .with(&self.lease_workers, texts.clone())
            .with(&self.lease_epochs, numbers.clone())
            .with(&self.lease_untils, numbers.clone())
            .with(&self.protocols, texts.clone())
            .with(&self.workflows, texts.clone())
            .with(&self.creations, numbers.clone())
            .with(&self.snapshots.of, places.clone())
            .with(&self.snapshots.texts, texts.clone())
            .with(&self.finished.of, places.clone())
            .with(&self.finished.texts, texts.clone())
            .with(&self.actions.of, places.clone())
            .with(&self.actions.ids, texts.clone())
            .with(&self.actions.kinds, texts.clone())
            .with(&self.actions.bodies, texts.clone())
            .with(&self.closed.of, places.clone())
            .with(&self.closed.texts, texts.clone())
            .with(&self.waits.of, places.clone())
            .with(&self.waits.ids, texts.clone())
            .with(&self.waits.kinds, texts.clone())
            .with(&self.waits.openings, numbers.clone())
            .with(&self.waits.deadlines, numbers)
            .with(&self.waits.whos, texts.clone())
            .with(&self.waits.bodies, texts.clone())
            .with(&self.blob_of, places)
            .with(&self.blob_digests, texts)
            .with(&self.blob_bytes, Type::BYTEA_ARRAY)
    }
}

impl<'c> Several<'c> {
    fn add(&mut self, place: i32, texts: impl Iterator<Item = &'c str>) {
        for text in texts {
            self.of.push(place);
            self.texts.push(text);
        }
    }
}

/// The verdicts of a call, in the order of its commits.
pub(super) fn verdicts(rows: &[Row]) -> Result<Vec<Verdict>, StoreError> {
    let mut verdicts = Vec::new();
    for row in rows {
        let codes: Vec<i32> = row.try_get(0).map_err(|error| unreadable(&error))?;
        let founds: Vec<i64> = row.try_get(1).map_err(|error| unreadable(&error))?;
        verdicts.extend(codes.into_iter().zip(founds).map(|(code, found)| Verdict { code, found }));
    }
    Ok(verdicts)
}
