//! What a store must be able to do: put rows where their scope says, and read them there. Every question
//! names whose rows it asks for; nothing here decides anything.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::memory::long_term::ScopeLevel;
use countersign_core::run::Timestamp;
use serde::Deserialize;

use super::memory_error::MemoryError;
use super::revisioned_row::RevisionedRow;
use super::{BuildRowKind, PacketBuild, RetrievalLimits, UnembeddedEvents};
use crate::rank::{PostingRead, RankedHit, SimilarEvents, WeightedQuery};
use crate::record::{EventLocation, MemoryEvent, MemoryEventKind, MemoryExpiry, MemoryOrigin};
use crate::rules::{FactRevision, is_expired};
use crate::{CitedEvent, EmbeddingVector, MemoryScope, MemorySubject, PacketRequest};

/// What a shelf answers.
pub(super) type MemoryResult<T> = Result<T, MemoryError>;

/// Rows by scope. Putting follows checking: whoever refuses something has put nothing before.
pub(super) trait RowStore {
    /// Is told what will be asked for, and may fetch it beforehand.
    fn prefetch_candidates(
        &self,
        _request: &PacketRequest,
        _query: &WeightedQuery,
        _limits: RetrievalLimits,
    ) -> MemoryResult<()> {
        Ok(())
    }

    /// Is told which events will be asked for, and may fetch them beforehand.
    fn prefetch_events(
        &self,
        _subject: &MemorySubject,
        _places: &[EventLocation],
    ) -> MemoryResult<()> {
        Ok(())
    }

    /// Which of these marks of a subject's rows stand for something forgotten.
    fn find_tombstones(
        &self,
        subject: &MemorySubject,
        marks: &[String],
    ) -> MemoryResult<BTreeSet<String>>;

    /// Holds a subject, so that nobody else writes to it meanwhile. Subjects are held before those whose facts they
    /// share, and of these an agent before the tenant: in one order, so that nobody waits for one who waits for him.
    fn lock_subject(&self, _subject: &MemorySubject) -> MemoryResult<()> {
        Ok(())
    }

    /// Which of these marks of a holder's rows stand for something forgotten, where these rows will only be named:
    /// whoever writes to the holder waits, others who name them do not.
    fn find_tombstones_shared(
        &self,
        holder: &MemorySubject,
        marks: &[String],
    ) -> MemoryResult<BTreeSet<String>> {
        self.find_tombstones(holder, marks)
    }

    /// The last place of a session; `Empty` before its first event.
    fn load_last_location(&self, scope: &MemoryScope) -> MemoryResult<Option<EventLocation>>;

    /// The highest number a session of this subject ever had.
    fn load_last_session_number(&self, subject: &MemorySubject) -> MemoryResult<u32>;

    /// Keeps events of one subject with their index.
    fn put_events(&mut self, subject: &MemorySubject, events: &[MemoryEvent]) -> MemoryResult<()>;

    /// Takes events out again, and out of the index.
    fn remove_events(
        &mut self,
        subject: &MemorySubject,
        events: &[MemoryEvent],
    ) -> MemoryResult<()>;

    /// The events with these ids, by id; those that are not there are left out.
    fn load_events_by_id(
        &self,
        subject: &MemorySubject,
        ids: &[&str],
    ) -> MemoryResult<BTreeMap<String, MemoryEvent>>;

    /// What a citation shows of the events with these ids, by id; those that are not there are left out.
    fn load_cited_events(
        &self,
        subject: &MemorySubject,
        ids: &[&str],
    ) -> MemoryResult<BTreeMap<String, CitedEventRow>>;

    /// The events at these places, in the order of the question; those that are not there are left out.
    fn load_events_at(
        &self,
        subject: &MemorySubject,
        places: &[EventLocation],
    ) -> MemoryResult<Vec<MemoryEvent>>;

    /// Every event, in the order of places.
    fn load_events(&self, subject: &MemorySubject) -> MemoryResult<Vec<MemoryEvent>>;

    /// Events that will be over some time.
    fn load_expiring_events(&self, subject: &MemorySubject) -> MemoryResult<Vec<MemoryEvent>>;

    /// The latest events of the session, in the order of places.
    fn load_window(&self, scope: &MemoryScope, limit: usize) -> MemoryResult<Vec<MemoryEvent>>;

    /// The places that answer a question, best first, at most so many; and what was read for it.
    fn rank_events(
        &self,
        subject: &MemorySubject,
        query: &WeightedQuery,
        limit: usize,
    ) -> MemoryResult<RankedHits>;

    /// How similar the newest events that have a vector of the same embedder are, at most so many.
    fn find_similar_events(
        &self,
        subject: &MemorySubject,
        vector: &EmbeddingVector,
        newest: usize,
    ) -> MemoryResult<SimilarEvents>;

    /// How many numbers the vectors of an embedder have, where there is one.
    fn load_dimensions(
        &self,
        subject: &MemorySubject,
        embedder: &str,
    ) -> MemoryResult<Option<usize>>;

    /// The newest events without a vector of an embedder, at most so many, looked for among so many.
    fn find_unembedded_events(
        &self,
        subject: &MemorySubject,
        embedder: &str,
        among: usize,
        limit: usize,
    ) -> MemoryResult<UnembeddedEvents>;

    /// Keeps vectors of events.
    fn put_vectors(
        &mut self,
        subject: &MemorySubject,
        vectors: &[(EventLocation, &EmbeddingVector)],
    ) -> MemoryResult<()>;

    /// A fact; its latest revision where none is named.
    fn load_fact(
        &self,
        holder: &MemorySubject,
        id: &str,
        revision: Option<u32>,
    ) -> MemoryResult<Option<FactRevision>>;

    /// The latest revisions of facts, those written down last first.
    fn load_facts(
        &self,
        holder: &MemorySubject,
        which: FactFilter<'_>,
    ) -> MemoryResult<Vec<FactRevision>>;

    /// Keeps a revision of a fact.
    fn put_fact(&mut self, holder: &MemorySubject, standing: &FactRevision) -> MemoryResult<()>;

    /// Takes the ids of facts that are gone out of every revision of the holder's other facts, and out of every build
    /// that used them.
    fn redact_ids(&mut self, holder: &MemorySubject, ids: &[&str]) -> MemoryResult<()>;

    /// A row; its latest revision where none is named.
    fn load_row<R: RevisionedRow>(
        &self,
        subject: &MemorySubject,
        id: &str,
        revision: Option<u64>,
    ) -> MemoryResult<Option<R>>;

    /// The latest revision of rows with their ids, the latest rows first.
    fn load_rows<R: RevisionedRow>(
        &self,
        subject: &MemorySubject,
        limit: usize,
    ) -> MemoryResult<Vec<(String, R)>>;

    /// The same of those in whose body a text stands; so many of these are passed over.
    fn load_rows_containing<R: RevisionedRow>(
        &self,
        subject: &MemorySubject,
        text: &str,
        skip: usize,
        limit: usize,
    ) -> MemoryResult<Vec<(String, R)>>;

    /// Keeps a revision of a row.
    fn put_row<R: RevisionedRow>(
        &mut self,
        subject: &MemorySubject,
        id: &str,
        row: &R,
    ) -> MemoryResult<()>;

    /// Takes a row out again, with all its revisions.
    fn remove_row<R: RevisionedRow>(
        &mut self,
        subject: &MemorySubject,
        id: &str,
    ) -> MemoryResult<()>;

    /// Keeps a build.
    fn put_build(&mut self, subject: &MemorySubject, build: &PacketBuild) -> MemoryResult<()>;

    /// A build.
    fn load_build(&self, subject: &MemorySubject, id: &str) -> MemoryResult<Option<PacketBuild>>;

    /// The builds of a session before one of them, the latest first.
    fn load_earlier_build_ids(
        &self,
        subject: &MemorySubject,
        build: &PacketBuild,
        limit: usize,
    ) -> MemoryResult<Vec<String>>;

    /// What ever went into a packet.
    fn load_selected_ids(
        &self,
        subject: &MemorySubject,
    ) -> MemoryResult<BTreeSet<(BuildRowKind, String)>>;

    /// Which of these ids were looked at for a build.
    fn find_used_ids(
        &self,
        subject: &MemorySubject,
        ids: &[&str],
    ) -> MemoryResult<BTreeSet<String>>;
}

/// An event as far as a citation shows it, and by what it may be seen. Its other fields are passed over.
#[derive(Debug, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names are those of the record")]
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
    /// Whether it may no longer be seen in a run.
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

/// The places that answer a question.
#[derive(Debug, Default)]
pub(super) struct RankedHits {
    /// Best first.
    pub(super) hits: Vec<RankedHit>,
    /// What was read of each term, the rarest first.
    pub(super) reads: Vec<PostingRead>,
}

/// Which facts.
#[derive(Debug, Clone, Copy)]
pub(super) enum FactFilter<'a> {
    /// Active and disputed ones under a key.
    ByKey(&'a str),
    /// Active and disputed ones, at most so many.
    InForce(usize),
    /// Those that others took the place of, at most so many.
    Superseded(usize),
    /// All of them.
    All,
}

/// Who holds the facts of a level that a subject sees. What a level does not name is empty, which no id
/// of a scope is.
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

/// Every level, the nearest first.
pub(super) const LEVELS: [ScopeLevel; 3] =
    [ScopeLevel::User, ScopeLevel::Agent, ScopeLevel::Tenant];
