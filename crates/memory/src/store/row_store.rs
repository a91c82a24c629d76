//! The row interface of a backend: stores and reads rows by scope. Every method names the owner of
//! the rows; nothing here makes decisions.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::long_term::ScopeLevel;
use serde::Deserialize;

use super::expired_rows::ExpiryFilter;
use super::memory_error::MemoryError;
use super::revisioned_row::RevisionedRow;
use super::{BuildRowKind, PacketBuild, UnembeddedEvents};
use crate::rank::{PieceScorer, PostingRead, RankedHit, SimilarEvents, WeightedQuery};
use crate::record::{
    EventLocation, MemoryEvent, MemoryEventKind, MemoryExpiry, MemoryInsight, MemoryOrigin,
    MemoryProcedure,
};
use crate::rules::{FactRevision, is_expired};
use crate::{CitedEvent, EmbeddingVector, MemoryScope, MemorySubject};

/// The result of a row operation.
pub(super) type MemoryResult<T> = Result<T, MemoryError>;

/// Rows by scope. Callers check before they write, so a refused operation has written nothing.
pub(super) trait RowStore:
    EventRows + VectorRows + FactRows + RecordRows + BuildRows
{
}

impl<R: EventRows + VectorRows + FactRows + RecordRows + BuildRows> RowStore for R {}

/// Rows of events, their tombstones and their index of words.
pub(super) trait EventRows {
    /// Returns which of these hashes of a subject's rows are tombstones.
    fn find_tombstones(
        &self,
        subject: &MemorySubject,
        marks: &[String],
    ) -> MemoryResult<BTreeSet<String>>;

    /// Locks a subject against other writers. Subjects are locked before the owners whose facts
    /// they share, and an agent before its tenant; the fixed order prevents deadlocks.
    fn lock_subject(&self, _subject: &MemorySubject) -> MemoryResult<()> {
        Ok(())
    }

    /// Returns which of these hashes are tombstones, for rows that will only be referenced. A
    /// writer to the owner waits; others that reference its rows do not.
    fn find_tombstones_shared(
        &self,
        holder: &MemorySubject,
        marks: &[String],
    ) -> MemoryResult<BTreeSet<String>> {
        self.find_tombstones(holder, marks)
    }

    /// Returns the last location of a session; `None` before its first event.
    fn load_last_location(&self, scope: &MemoryScope) -> MemoryResult<Option<EventLocation>>;

    /// Returns the highest session number that the subject has ever had.
    fn load_last_session_number(&self, subject: &MemorySubject) -> MemoryResult<u32>;

    /// Stores events of one subject and indexes them.
    fn put_events(&mut self, subject: &MemorySubject, events: &[MemoryEvent]) -> MemoryResult<()>;

    /// Removes events and their index entries.
    fn remove_events(
        &mut self,
        subject: &MemorySubject,
        events: &[MemoryEvent],
    ) -> MemoryResult<()>;

    /// Loads the events with these ids; missing ones are left out.
    fn load_events_by_id(
        &self,
        subject: &MemorySubject,
        ids: &[&str],
    ) -> MemoryResult<BTreeMap<String, MemoryEvent>>;

    /// Loads the cited part of the events with these ids; missing ones are left out.
    fn load_cited_events(
        &self,
        subject: &MemorySubject,
        ids: &[&str],
    ) -> MemoryResult<BTreeMap<String, CitedEventRow>>;

    /// Loads the events at these locations, in the given order; missing ones are left out.
    fn load_events_at(
        &self,
        subject: &MemorySubject,
        places: &[EventLocation],
    ) -> MemoryResult<Vec<MemoryEvent>>;

    /// Loads every event, ascending by location.
    fn load_events(&self, subject: &MemorySubject) -> MemoryResult<Vec<MemoryEvent>>;

    /// Loads the events that have expired.
    fn load_expired_events(
        &self,
        subject: &MemorySubject,
        filter: ExpiryFilter<'_>,
    ) -> MemoryResult<Vec<MemoryEvent>>;

    /// Loads the latest events of the session, ascending by location.
    fn load_window(&self, scope: &MemoryScope, limit: usize) -> MemoryResult<Vec<MemoryEvent>>;

    /// Ranks up to `limit` locations that match a query, best first, and returns what was read for
    /// it.
    fn rank_events(
        &self,
        subject: &MemorySubject,
        query: &WeightedQuery,
        limit: usize,
    ) -> MemoryResult<RankedHits>;
}

/// Rows of vectors beside their events.
pub(super) trait VectorRows {
    /// Compares a vector with the newest events that have a vector of the same embedder, up to
    /// `newest`.
    fn find_similar_events(
        &self,
        subject: &MemorySubject,
        vector: &EmbeddingVector,
        newest: usize,
    ) -> MemoryResult<SimilarEvents>;

    /// Returns the number of dimensions of an embedder's vectors, if there are any.
    fn load_dimensions(
        &self,
        subject: &MemorySubject,
        embedder: &str,
    ) -> MemoryResult<Option<usize>>;

    /// Returns up to `limit` of the newest events without a vector of an embedder, searching the
    /// newest `among` events.
    fn find_unembedded_events(
        &self,
        subject: &MemorySubject,
        embedder: &str,
        among: usize,
        limit: usize,
    ) -> MemoryResult<UnembeddedEvents>;

    /// Stores vectors of events.
    fn put_vectors(
        &mut self,
        subject: &MemorySubject,
        vectors: &[(EventLocation, &EmbeddingVector)],
    ) -> MemoryResult<()>;
}

/// Rows of facts.
pub(super) trait FactRows {
    /// Loads a revision of a fact; the latest one if none is given.
    fn load_fact(
        &self,
        holder: &MemorySubject,
        id: &str,
        revision: Option<u32>,
    ) -> MemoryResult<Option<FactRevision>>;

    /// Loads the latest revisions of facts, most recently recorded first.
    fn load_facts(
        &self,
        holder: &MemorySubject,
        which: FactFilter<'_>,
    ) -> MemoryResult<Vec<FactRevision>>;

    /// Stores a revision of a fact.
    fn put_fact(&mut self, holder: &MemorySubject, standing: &FactRevision) -> MemoryResult<()>;

    /// Removes the ids of erased facts from every revision of the owner's other facts, and from
    /// every build that used them.
    fn redact_ids(&mut self, holder: &MemorySubject, ids: &[&str]) -> MemoryResult<()>;
}

/// Rows that change by revision: episodes, insights, procedures and others.
pub(super) trait RecordRows {
    /// Loads a revision of a row; the latest one if none is given.
    fn load_row<R: RevisionedRow>(
        &self,
        subject: &MemorySubject,
        id: &str,
        revision: Option<u64>,
    ) -> MemoryResult<Option<R>>;

    /// Loads the latest revisions of rows with their ids, latest rows first.
    fn load_rows<R: RevisionedRow>(
        &self,
        subject: &MemorySubject,
        limit: usize,
    ) -> MemoryResult<Vec<(String, R)>>;

    /// Loads the latest revisions of the rows of a period, both ends inclusive, by the timestamp
    /// that orders them.
    fn load_rows_between<R: RevisionedRow>(
        &self,
        subject: &MemorySubject,
        period: RowPeriod,
        limit: usize,
    ) -> MemoryResult<Vec<R>>;

    /// Loads the latest revisions of the procedures of a task type, latest first.
    fn load_task_procedures(
        &self,
        subject: &MemorySubject,
        task_type: &str,
        limit: usize,
    ) -> MemoryResult<Vec<MemoryProcedure>>;

    /// Loads the insights whose latest revision has expired, with their ids.
    fn load_expired_insights(
        &self,
        subject: &MemorySubject,
        filter: ExpiryFilter<'_>,
    ) -> MemoryResult<Vec<(String, MemoryInsight)>>;

    /// Stores a revision of a row.
    fn put_row<R: RevisionedRow>(
        &mut self,
        subject: &MemorySubject,
        id: &str,
        row: &R,
    ) -> MemoryResult<()>;

    /// Removes a row with all its revisions.
    fn remove_row<R: RevisionedRow>(
        &mut self,
        subject: &MemorySubject,
        id: &str,
    ) -> MemoryResult<()>;
}

/// Rows of packet builds.
pub(super) trait BuildRows {
    /// Stores a build and its rows.
    fn put_build(&mut self, subject: &MemorySubject, build: &PacketBuild) -> MemoryResult<()>;

    /// Loads a build by its id.
    fn load_build(&self, subject: &MemorySubject, id: &str) -> MemoryResult<Option<PacketBuild>>;

    /// Returns the ids of earlier builds of the same session, latest first.
    fn load_earlier_build_ids(
        &self,
        subject: &MemorySubject,
        build: &PacketBuild,
        limit: usize,
    ) -> MemoryResult<Vec<String>>;

    /// Returns every row that was ever selected for a packet.
    fn load_selected_ids(
        &self,
        subject: &MemorySubject,
    ) -> MemoryResult<BTreeSet<(BuildRowKind, String)>>;

    /// Returns which of these ids a build has used.
    fn find_used_ids(
        &self,
        subject: &MemorySubject,
        ids: &[&str],
    ) -> MemoryResult<BTreeSet<String>>;
}

/// The part of an event that a citation needs, with what determines its visibility. Other fields
/// are not read.
#[derive(Debug, Deserialize)]
pub(super) struct CitedEventRow {
    kind: MemoryEventKind,
    origin: MemoryOrigin,
    ts: Timestamp,
    text: String,
    scope: CitedRunScope,
    #[serde(default)]
    expires: Option<MemoryExpiry>,
    #[serde(default)]
    seen_insights: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct CitedRunScope {
    run: String,
}

impl CitedEventRow {
    /// Returns whether the event is no longer visible in a run.
    pub(super) fn is_expired(&self, in_run: &str, now: Timestamp) -> bool {
        is_expired(self.expires, &self.scope.run, in_run, now)
    }
}

impl From<CitedEventRow> for CitedEvent {
    fn from(seen: CitedEventRow) -> Self {
        let CitedEventRow { kind, origin, ts, text, seen_insights, .. } = seen;
        Self { kind, origin, ts, text, seen_insights }
    }
}

impl From<&MemoryEvent> for CitedEventRow {
    fn from(event: &MemoryEvent) -> Self {
        let (kind, origin, ts, expires) = (event.kind, event.origin, event.ts, event.expires);
        let scope = CitedRunScope { run: event.scope.run().to_owned() };
        let (text, seen_insights) = (event.text.clone(), event.seen_insights.clone());
        Self { kind, origin, ts, text, scope, expires, seen_insights }
    }
}

/// The result of ranking events.
#[derive(Debug, Default)]
pub(super) struct RankedHits {
    /// The hits, best first.
    pub(super) hits: Vec<RankedHit>,
    /// What was read of each term, rarest first.
    pub(super) reads: Vec<PostingRead>,
    /// Finds the piece of a long message that matches best.
    pub(super) pieces: PieceScorer,
}

/// A period from which rows are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowPeriod {
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
    /// Whether the limit keeps the earliest rows of the period; the latest if not.
    pub(super) earliest_first: bool,
}

/// Selects which facts to load.
#[derive(Debug, Clone, Copy)]
pub(super) enum FactFilter<'a> {
    /// Active and disputed facts with a key.
    ByKey(&'a str),
    /// Active and disputed facts, up to a number.
    InForce(usize),
    /// Superseded facts, up to a number.
    Superseded(usize),
    /// Facts of every status.
    All,
}

/// Returns the owner of the facts at a level, as a subject sees them. Parts that the level does not
/// use are empty, which no id of a scope is.
pub(super) fn resolve_fact_owner(subject: &MemorySubject, level: ScopeLevel) -> MemorySubject {
    let mut holder = subject.clone();
    if level != ScopeLevel::User {
        holder.user.clear();
    }
    if level == ScopeLevel::Tenant {
        holder.agent.clear();
    }
    holder
}

/// All levels, nearest first.
pub(super) const LEVELS: [ScopeLevel; 3] =
    [ScopeLevel::User, ScopeLevel::Agent, ScopeLevel::Tenant];
