//! Commits of several runs of one tenant as parameters of the stored function: one array per
//! column. Parts that a commit may have several of (actions, waits, blobs) have arrays of their
//! own, with the number of their commit, from 1.

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::commit_verdict::PgCommitVerdict;
use super::pg_error::column_error;
use super::pipeline::SqlStatement;
use super::settings::LeaseClock;
use crate::wait::{NO_DEADLINE, encode_assignees};
use crate::{NewRun, RunCommit, StoreError};

const APPEND: &str = "SELECT verdicts, founds FROM countersign.append_1($1, $2, $3, $4, $5, $6, $7, $8,
    $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28,
    $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41,
    $42, $43, $44, $45, $46, $47, $48, $49, $50, $51, $52)";

/// Several commits of one tenant, of different runs, sorted by run.
pub(super) struct PgCommitBatch<'c> {
    tenant: &'c str,
    relative_leases: bool,
    runs: Vec<&'c str>,
    expected: Vec<i64>,
    firsts: Vec<i64>,
    lasts: Vec<i64>,
    times: Vec<i64>,
    hashes: Vec<&'c str>,
    bodies: Vec<&'c str>,
    keys: Vec<Option<&'c str>>,
    head: PgHeadColumns<'c>,
    lease_workers: Vec<Option<&'c str>>,
    lease_epochs: Vec<Option<i64>>,
    lease_untils: Vec<Option<i64>>,
    protocols: Vec<Option<&'c str>>,
    workflows: Vec<Option<&'c str>>,
    creations: Vec<Option<i64>>,
    versions: Vec<Option<&'c str>>,
    starters: Vec<Option<&'c str>>,
    parents: Vec<Option<&'c str>>,
    term_commits: Vec<i32>,
    term_lists: Vec<String>,
    snapshots: PgTextColumns<'c>,
    finished_actions: PgTextColumns<'c>,
    actions: PgActionColumns<'c>,
    closed_waits: PgTextColumns<'c>,
    waits: PgWaitColumns<'c>,
    blob_commits: Vec<i32>,
    blob_digests: Vec<&'c str>,
    blob_bytes: Vec<&'c [u8]>,
}

#[derive(Default)]
struct PgHeadColumns<'c> {
    statuses: Vec<&'c str>,
    phases: Vec<&'c str>,
    updates: Vec<i64>,
    summaries: Vec<&'c str>,
    wakes: Vec<Option<i64>>,
    titles: Vec<&'c str>,
    asks: Vec<&'c str>,
    ends: Vec<Option<i64>>,
    input_tokens: Vec<i64>,
    output_tokens: Vec<i64>,
    costs: Vec<i64>,
}

/// Texts, each with the number of its commit.
#[derive(Default)]
struct PgTextColumns<'c> {
    commit_numbers: Vec<i32>,
    texts: Vec<&'c str>,
}

#[derive(Default)]
struct PgActionColumns<'c> {
    commit_numbers: Vec<i32>,
    ids: Vec<&'c str>,
    kinds: Vec<&'c str>,
    bodies: Vec<&'c str>,
}

#[derive(Default)]
struct PgWaitColumns<'c> {
    commit_numbers: Vec<i32>,
    ids: Vec<&'c str>,
    kinds: Vec<&'c str>,
    opened_at: Vec<i64>,
    deadlines: Vec<i64>,
    whos: Vec<Option<String>>,
    bodies: Vec<&'c str>,
}

impl<'c> PgCommitBatch<'c> {
    /// Creates an empty batch for a tenant.
    pub(super) fn new(tenant: &'c str, clock: LeaseClock) -> Self {
        Self {
            tenant,
            relative_leases: clock == LeaseClock::Server,
            runs: Vec::new(),
            expected: Vec::new(),
            firsts: Vec::new(),
            lasts: Vec::new(),
            times: Vec::new(),
            hashes: Vec::new(),
            bodies: Vec::new(),
            keys: Vec::new(),
            head: PgHeadColumns::default(),
            lease_workers: Vec::new(),
            lease_epochs: Vec::new(),
            lease_untils: Vec::new(),
            protocols: Vec::new(),
            workflows: Vec::new(),
            creations: Vec::new(),
            versions: Vec::new(),
            starters: Vec::new(),
            parents: Vec::new(),
            term_commits: Vec::new(),
            term_lists: Vec::new(),
            snapshots: PgTextColumns::default(),
            finished_actions: PgTextColumns::default(),
            actions: PgActionColumns::default(),
            closed_waits: PgTextColumns::default(),
            waits: PgWaitColumns::default(),
            blob_commits: Vec::new(),
            blob_digests: Vec::new(),
            blob_bytes: Vec::new(),
        }
    }

    /// Adds a commit, and its new run if there is one.
    pub(super) fn push_commit(
        &mut self,
        new: Option<&'c NewRun>,
        commit: &'c RunCommit,
        clock: LeaseClock,
    ) {
        self.runs.push(&commit.run.id);
        let place = self.runs.len() as i32;
        self.expected.push(commit.expected_version as i64);
        self.firsts.push(commit.entry.first_seq as i64);
        self.lasts.push(commit.entry.last_seq as i64);
        self.times.push(commit.entry.time);
        self.hashes.push(&commit.entry.hash);
        self.bodies.push(&commit.entry.body);
        self.keys.push(commit.idempotency_key.as_deref());
        self.head.statuses.push(&commit.head.status);
        self.head.phases.push(&commit.head.phase);
        self.head.updates.push(commit.head.updated_at);
        self.head.summaries.push(&commit.head.summary);
        self.head.wakes.push(commit.wake_at);
        self.head.titles.push(&commit.head.title);
        self.head.asks.push(&commit.head.asks);
        self.head.ends.push(commit.head.ended_at);
        self.head.input_tokens.push(commit.head.input_tokens as i64);
        self.head.output_tokens.push(commit.head.output_tokens as i64);
        self.head.costs.push(commit.head.cost as i64);
        let lease = commit.lease.as_ref();
        self.lease_workers.push(lease.map(|lease| lease.worker.as_str()));
        self.lease_epochs.push(lease.map(|lease| lease.epoch as i64));
        self.lease_untils.push(lease.map(|lease| clock.to_server_time(lease.until)));
        self.protocols.push(new.map(|new| new.protocol.as_str()));
        self.workflows.push(new.map(|new| new.workflow.as_str()));
        self.creations.push(new.map(|new| new.created_at));
        self.versions.push(new.map(|new| new.protocol_version.as_str()));
        self.starters.push(new.and_then(|new| new.started_by.as_deref()));
        self.parents.push(new.and_then(|new| new.parent.as_deref()));
        self.push_commit_lists(place, commit);
    }

    fn push_commit_lists(&mut self, place: i32, commit: &'c RunCommit) {
        if let Some(terms) = &commit.search_terms {
            self.term_commits.push(place);
            self.term_lists.push(terms.join(" "));
        }
        self.snapshots
            .push_texts(place, commit.snapshot.iter().map(|snapshot| snapshot.body.as_str()));
        self.finished_actions.push_texts(place, commit.finished_actions.iter().map(String::as_str));
        self.closed_waits.push_texts(place, commit.waits_closed.iter().map(String::as_str));
        for action in &commit.actions {
            self.actions.commit_numbers.push(place);
            self.actions.ids.push(&action.id);
            self.actions.kinds.push(&action.kind);
            self.actions.bodies.push(&action.body);
        }
        for wait in &commit.waits_opened {
            self.waits.commit_numbers.push(place);
            self.waits.ids.push(&wait.id);
            self.waits.kinds.push(&wait.kind);
            self.waits.opened_at.push(wait.opened_at);
            self.waits.deadlines.push(wait.deadline.unwrap_or(NO_DEADLINE));
            self.waits.whos.push(encode_assignees(&wait.who));
            self.waits.bodies.push(&wait.body);
        }
        for blob in &commit.blobs {
            self.blob_commits.push(place);
            self.blob_digests.push(&blob.digest);
            self.blob_bytes.push(&blob.bytes);
        }
    }

    /// Builds the call that writes the batch, in the order of the function's parameters.
    pub(super) fn to_statement(&self) -> SqlStatement<'_> {
        let (texts, numbers, places) = (Type::TEXT_ARRAY, Type::INT8_ARRAY, Type::INT4_ARRAY);
        SqlStatement::new(APPEND)
            .bind_text(&self.tenant)
            .bind(&self.relative_leases, Type::BOOL)
            .bind(&self.runs, texts.clone())
            .bind(&self.expected, numbers.clone())
            .bind(&self.firsts, numbers.clone())
            .bind(&self.lasts, numbers.clone())
            .bind(&self.times, numbers.clone())
            .bind(&self.hashes, texts.clone())
            .bind(&self.bodies, texts.clone())
            .bind(&self.keys, texts.clone())
            .bind(&self.head.statuses, texts.clone())
            .bind(&self.head.phases, texts.clone())
            .bind(&self.head.updates, numbers.clone())
            .bind(&self.head.summaries, texts.clone())
            .bind(&self.head.wakes, numbers.clone())
            .bind(&self.lease_workers, texts.clone())
            .bind(&self.lease_epochs, numbers.clone())
            .bind(&self.lease_untils, numbers.clone())
            .bind(&self.protocols, texts.clone())
            .bind(&self.workflows, texts.clone())
            .bind(&self.creations, numbers.clone())
            .bind(&self.versions, texts.clone())
            .bind(&self.starters, texts.clone())
            .bind(&self.parents, texts.clone())
            .bind(&self.head.titles, texts.clone())
            .bind(&self.head.asks, texts.clone())
            .bind(&self.head.ends, numbers.clone())
            .bind(&self.head.input_tokens, numbers.clone())
            .bind(&self.head.output_tokens, numbers.clone())
            .bind(&self.head.costs, numbers.clone())
            .bind(&self.term_commits, places.clone())
            .bind(&self.term_lists, texts.clone())
            .bind(&self.snapshots.commit_numbers, places.clone())
            .bind(&self.snapshots.texts, texts.clone())
            .bind(&self.finished_actions.commit_numbers, places.clone())
            .bind(&self.finished_actions.texts, texts.clone())
            .bind(&self.actions.commit_numbers, places.clone())
            .bind(&self.actions.ids, texts.clone())
            .bind(&self.actions.kinds, texts.clone())
            .bind(&self.actions.bodies, texts.clone())
            .bind(&self.closed_waits.commit_numbers, places.clone())
            .bind(&self.closed_waits.texts, texts.clone())
            .bind(&self.waits.commit_numbers, places.clone())
            .bind(&self.waits.ids, texts.clone())
            .bind(&self.waits.kinds, texts.clone())
            .bind(&self.waits.opened_at, numbers.clone())
            .bind(&self.waits.deadlines, numbers)
            .bind(&self.waits.whos, texts.clone())
            .bind(&self.waits.bodies, texts.clone())
            .bind(&self.blob_commits, places)
            .bind(&self.blob_digests, texts)
            .bind(&self.blob_bytes, Type::BYTEA_ARRAY)
    }
}

impl<'c> PgTextColumns<'c> {
    fn push_texts(&mut self, place: i32, texts: impl Iterator<Item = &'c str>) {
        for text in texts {
            self.commit_numbers.push(place);
            self.texts.push(text);
        }
    }
}

/// Reads the verdicts of a call, in the order of its commits.
pub(super) fn read_verdicts(rows: &[Row]) -> Result<Vec<PgCommitVerdict>, StoreError> {
    let mut verdicts = Vec::new();
    for row in rows {
        let codes: Vec<i32> = row.try_get(0).map_err(|error| column_error(&error))?;
        let founds: Vec<i64> = row.try_get(1).map_err(|error| column_error(&error))?;
        verdicts.extend(
            codes
                .into_iter()
                .zip(founds)
                .map(|(code, found)| PgCommitVerdict { code, observed: found }),
        );
    }
    Ok(verdicts)
}
