//! The rows of the in-memory backend. Ranking computes all postings for each query and thereby
//! specifies what an index must return.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use countersign_shipped_contracts::memory::long_term::FactStatus;
use serde_json::Value;

use super::super::expired_rows::ExpiryFilter;
use super::super::memory_error::corrupt_error;
use super::super::repair_facts::fact_row_kind;
use super::super::revisioned_row::RevisionedRow;
use super::super::row_store::{
    BuildRows, CitedEventRow, EventRows, FactFilter, FactRows, MemoryResult, RankedHits,
    RecordRows, RowPeriod, VectorRows,
};
use super::super::{BuildRowKind, PacketBuild, UnembeddedEvents};
use crate::rank::{
    IndexStats, PieceScorer, SimilarEvents, TermPostings, WeightedQuery, analyze_event, plan_reads,
    rank_hits,
};
use crate::record::{EventLocation, MemoryEvent, MemoryInsight, MemoryProcedure};
use crate::rules::FactRevision;
use crate::{EmbeddingVector, MemoryScope, MemorySubject};

/// A revision of a row with its sort key.
#[derive(Debug, Clone)]
pub(super) struct RowRevision {
    pub(super) number: u64,
    pub(super) ordering: i64,
    pub(super) row: Value,
}

/// The table, owner and id of a row.
pub(super) type RowKey = (&'static str, MemorySubject, String);

/// All rows of the backend.
#[derive(Debug, Clone, Default)]
pub(in crate::store) struct InMemoryRows {
    pub(super) events: BTreeMap<MemorySubject, BTreeMap<EventLocation, MemoryEvent>>,
    pub(super) sessions: BTreeMap<MemorySubject, BTreeMap<String, EventLocation>>,
    pub(super) vectors: BTreeMap<(MemorySubject, String), BTreeMap<EventLocation, EmbeddingVector>>,
    pub(super) facts: BTreeMap<(MemorySubject, String), Vec<FactRevision>>,
    pub(super) rows: BTreeMap<RowKey, Vec<RowRevision>>,
    pub(super) builds: BTreeMap<(MemorySubject, String), PacketBuild>,
    pub(super) tombstones: BTreeSet<String>,
}

impl InMemoryRows {
    fn iter_events(&self, subject: &MemorySubject) -> impl Iterator<Item = &MemoryEvent> {
        self.events.get(subject).into_iter().flat_map(BTreeMap::values)
    }
}

impl EventRows for InMemoryRows {
    fn find_tombstones(
        &self,
        _subject: &MemorySubject,
        marks: &[String],
    ) -> MemoryResult<BTreeSet<String>> {
        Ok(marks.iter().filter(|mark| self.tombstones.contains(*mark)).cloned().collect())
    }

    fn load_last_location(&self, scope: &MemoryScope) -> MemoryResult<Option<EventLocation>> {
        let sessions = self.sessions.get(&scope.subject());
        Ok(sessions.and_then(|sessions| sessions.get(scope.session())).copied())
    }

    fn load_last_session_number(&self, subject: &MemorySubject) -> MemoryResult<u32> {
        let sessions = self.sessions.get(subject).into_iter().flat_map(BTreeMap::values);
        Ok(sessions.map(|place| place.session).max().unwrap_or(0))
    }

    fn put_events(&mut self, subject: &MemorySubject, events: &[MemoryEvent]) -> MemoryResult<()> {
        let sessions = self.sessions.entry(subject.clone()).or_default();
        let by_place = self.events.entry(subject.clone()).or_default();
        for event in events {
            sessions.insert(event.scope.session().to_owned(), event.location);
            by_place.insert(event.location, event.clone());
        }
        Ok(())
    }

    fn remove_events(
        &mut self,
        subject: &MemorySubject,
        events: &[MemoryEvent],
    ) -> MemoryResult<()> {
        if let Some(shelf) = self.events.get_mut(subject) {
            for event in events {
                shelf.remove(&event.location);
            }
        }
        for (_, vectors) in self.vectors.iter_mut().filter(|((whose, _), _)| whose == subject) {
            vectors.retain(|place, _| events.iter().all(|event| event.location != *place));
        }
        Ok(())
    }

    fn load_events_by_id(
        &self,
        subject: &MemorySubject,
        ids: &[&str],
    ) -> MemoryResult<BTreeMap<String, MemoryEvent>> {
        let here = self.iter_events(subject).filter(|event| ids.contains(&event.id.as_str()));
        Ok(here.map(|event| (event.id.clone(), event.clone())).collect())
    }

    fn load_cited_events(
        &self,
        subject: &MemorySubject,
        ids: &[&str],
    ) -> MemoryResult<BTreeMap<String, CitedEventRow>> {
        let here = self.iter_events(subject).filter(|event| ids.contains(&event.id.as_str()));
        Ok(here.map(|event| (event.id.clone(), CitedEventRow::from(event))).collect())
    }

    fn load_events_at(
        &self,
        subject: &MemorySubject,
        places: &[EventLocation],
    ) -> MemoryResult<Vec<MemoryEvent>> {
        let Some(own) = self.events.get(subject) else { return Ok(Vec::new()) };
        Ok(places.iter().filter_map(|place| own.get(place)).cloned().collect())
    }

    fn load_events(&self, subject: &MemorySubject) -> MemoryResult<Vec<MemoryEvent>> {
        Ok(self.iter_events(subject).cloned().collect())
    }

    fn load_expired_events(
        &self,
        subject: &MemorySubject,
        filter: ExpiryFilter<'_>,
    ) -> MemoryResult<Vec<MemoryEvent>> {
        let over = |event: &&MemoryEvent| {
            event.expires.is_some_and(|end| filter.matches(end, event.scope.run()))
        };
        Ok(self.iter_events(subject).filter(over).cloned().collect())
    }

    fn load_window(&self, scope: &MemoryScope, limit: usize) -> MemoryResult<Vec<MemoryEvent>> {
        let subject = scope.subject();
        let here =
            self.iter_events(&subject).filter(|event| event.scope.session() == scope.session());
        let all: Vec<MemoryEvent> = here.cloned().collect();
        Ok(all[all.len().saturating_sub(limit)..].to_vec())
    }

    fn rank_events(
        &self,
        subject: &MemorySubject,
        query: &WeightedQuery,
        limit: usize,
    ) -> MemoryResult<RankedHits> {
        let mut stats = IndexStats::default();
        let mut lists: BTreeMap<String, TermPostings> = BTreeMap::new();
        for event in self.iter_events(subject) {
            let found = analyze_event(event);
            stats.events += 1;
            stats.terms += u64::from(found.length);
            for (term, posting) in found.build_postings(event.location) {
                if query.weight(term) == 0 {
                    continue;
                }
                let new = || TermPostings { term: term.to_owned(), df: 0, postings: Vec::new() };
                let list = lists.entry(term.to_owned()).or_insert_with(new);
                list.df += 1;
                list.postings.push(posting);
            }
        }
        let reads = plan_reads(lists.values().map(|list| (list.term.as_str(), list.df)));
        for read in &reads {
            if let Some(TermPostings { postings, .. }) = lists.get_mut(&read.term) {
                postings.drain(..postings.len() - read.newest);
            }
        }
        let lists: Vec<TermPostings> = lists.into_values().collect();
        let hits = rank_hits(query, &lists, stats, limit);
        Ok(RankedHits { hits, reads, pieces: PieceScorer::new(query, &lists, stats) })
    }
}

impl VectorRows for InMemoryRows {
    fn find_similar_events(
        &self,
        subject: &MemorySubject,
        vector: &EmbeddingVector,
        newest: usize,
    ) -> MemoryResult<SimilarEvents> {
        let key = (subject.clone(), vector.embedder().to_owned());
        let Some(vectors) = self.vectors.get(&key) else { return Ok(SimilarEvents::default()) };
        let similar = vectors.iter().rev().take(newest);
        let similar = similar.map(|(place, one)| (*place, vector.similarity_to(one.components())));
        Ok(SimilarEvents { similarities: similar.collect(), total: vectors.len() as u64 })
    }

    fn load_dimensions(
        &self,
        subject: &MemorySubject,
        embedder: &str,
    ) -> MemoryResult<Option<usize>> {
        let vectors = self.vectors.get(&(subject.clone(), embedder.to_owned()));
        let first = vectors.and_then(|vectors| vectors.values().next());
        Ok(first.map(|vector| vector.components().len()))
    }

    fn find_unembedded_events(
        &self,
        subject: &MemorySubject,
        embedder: &str,
        among: usize,
        limit: usize,
    ) -> MemoryResult<UnembeddedEvents> {
        let vectors = self.vectors.get(&(subject.clone(), embedder.to_owned()));
        let has =
            |event: &&MemoryEvent| vectors.is_some_and(|all| all.contains_key(&event.location));
        let newest = self.events.get(subject).into_iter().flat_map(|all| all.values().rev());
        let missing: Vec<&MemoryEvent> = newest.take(among).filter(|event| !has(event)).collect();
        let all = missing.len() as u64;
        Ok(UnembeddedEvents { events: missing.into_iter().take(limit).cloned().collect(), all })
    }

    fn put_vectors(
        &mut self,
        subject: &MemorySubject,
        vectors: &[(EventLocation, &EmbeddingVector)],
    ) -> MemoryResult<()> {
        for (place, vector) in vectors {
            let key = (subject.clone(), vector.embedder().to_owned());
            self.vectors.entry(key).or_default().insert(*place, (*vector).clone());
        }
        Ok(())
    }
}

impl FactRows for InMemoryRows {
    fn load_fact(
        &self,
        holder: &MemorySubject,
        id: &str,
        revision: Option<u32>,
    ) -> MemoryResult<Option<FactRevision>> {
        let Some(revisions) = self.facts.get(&(holder.clone(), id.to_owned())) else {
            return Ok(None);
        };
        Ok(match revision {
            None => revisions.last().cloned(),
            Some(number) => revisions.iter().find(|one| one.fact.revision == number).cloned(),
        })
    }

    fn load_facts(
        &self,
        holder: &MemorySubject,
        which: FactFilter<'_>,
    ) -> MemoryResult<Vec<FactRevision>> {
        let held = self.facts.iter().filter(|((whose, _), _)| whose == holder);
        let latest = held.filter_map(|(_, revisions)| revisions.last());
        let standing = |one: &FactRevision| one.fact.status != FactStatus::Deprecated;
        let chosen = latest.filter(|one| match which {
            FactFilter::ByKey(key) => standing(one) && one.fact.key == key,
            FactFilter::InForce(_) => standing(one),
            FactFilter::Superseded(_) => !standing(one),
            FactFilter::All => true,
        });
        let mut chosen: Vec<FactRevision> = chosen.cloned().collect();
        chosen.sort_by_key(|one| (Reverse(one.fact.recorded_at), one.fact.id.clone()));
        if let FactFilter::InForce(limit) | FactFilter::Superseded(limit) = which {
            chosen.truncate(limit);
        }
        Ok(chosen)
    }

    fn put_fact(&mut self, holder: &MemorySubject, standing: &FactRevision) -> MemoryResult<()> {
        let key = (holder.clone(), standing.fact.id.clone());
        self.facts.entry(key).or_default().push(standing.clone());
        Ok(())
    }

    fn redact_ids(&mut self, holder: &MemorySubject, ids: &[&str]) -> MemoryResult<()> {
        let held = self.facts.iter_mut().filter(|((whose, _), _)| whose == holder);
        for one in held.flat_map(|(_, revisions)| revisions) {
            if one.fact.superseded_by.as_deref().is_some_and(|by| ids.contains(&by)) {
                one.fact.superseded_by = None;
            }
        }
        let kind = fact_row_kind(holder);
        let sees = |whose: &MemorySubject| {
            whose.tenant == holder.tenant
                && (holder.agent.is_empty() || whose.agent == holder.agent)
                && (holder.user.is_empty() || whose.user == holder.user)
        };
        let builds = self.builds.iter_mut().filter(|((whose, _), _)| sees(whose));
        for row in builds.flat_map(|(_, build)| &mut build.rows) {
            if row.kind == kind && ids.contains(&&*row.id) {
                row.id.clear();
            }
        }
        Ok(())
    }
}

impl RecordRows for InMemoryRows {
    fn load_row<R: RevisionedRow>(
        &self,
        subject: &MemorySubject,
        id: &str,
        revision: Option<u64>,
    ) -> MemoryResult<Option<R>> {
        let key = (R::TABLE, subject.clone(), id.to_owned());
        let Some(revisions) = self.rows.get(&key) else { return Ok(None) };
        let found = match revision {
            None => revisions.last(),
            Some(number) => revisions.iter().find(|revision| revision.number == number),
        };
        found.map(decode_revision).transpose()
    }

    fn load_rows<R: RevisionedRow>(
        &self,
        subject: &MemorySubject,
        limit: usize,
    ) -> MemoryResult<Vec<(String, R)>> {
        let own = self
            .rows
            .iter()
            .filter(|((table, whose, _), _)| *table == R::TABLE && whose == subject);
        let mut latest: Vec<(&String, &RowRevision)> =
            own.filter_map(|((.., id), revisions)| Some((id, revisions.last()?))).collect();
        latest.sort_by_key(|(id, revision)| (Reverse(revision.ordering), *id));
        latest.truncate(limit);
        latest
            .into_iter()
            .map(|(id, revision)| Ok((id.clone(), decode_revision(revision)?)))
            .collect()
    }

    fn load_rows_between<R: RevisionedRow>(
        &self,
        subject: &MemorySubject,
        period: RowPeriod,
        limit: usize,
    ) -> MemoryResult<Vec<R>> {
        let mut rows: Vec<R> =
            self.load_rows(subject, usize::MAX)?.into_iter().map(|(_, row)| row).collect();
        rows.retain(|row: &R| (period.from..=period.until).contains(&row.ordering()));
        if period.earliest_first {
            rows.reverse();
        }
        rows.truncate(limit);
        Ok(rows)
    }

    fn load_task_procedures(
        &self,
        subject: &MemorySubject,
        task_type: &str,
        limit: usize,
    ) -> MemoryResult<Vec<MemoryProcedure>> {
        let rows = self.load_rows::<MemoryProcedure>(subject, usize::MAX)?.into_iter();
        let of_task = rows.map(|(_, row)| row).filter(|row| row.task_type == task_type);
        Ok(of_task.take(limit).collect())
    }

    fn load_expired_insights(
        &self,
        subject: &MemorySubject,
        filter: ExpiryFilter<'_>,
    ) -> MemoryResult<Vec<(String, MemoryInsight)>> {
        let mut rows = self.load_rows::<MemoryInsight>(subject, usize::MAX)?;
        rows.retain(|(_, row)| filter.matches(row.expires, &row.run));
        Ok(rows)
    }

    fn put_row<R: RevisionedRow>(
        &mut self,
        subject: &MemorySubject,
        id: &str,
        row: &R,
    ) -> MemoryResult<()> {
        let key = (R::TABLE, subject.clone(), id.to_owned());
        let (number, ordering) = (row.revision(), row.ordering().0);
        let row = serde_json::to_value(row).map_err(|error| corrupt_error(error.to_string()))?;
        self.rows.entry(key).or_default().push(RowRevision { number, ordering, row });
        Ok(())
    }

    fn remove_row<R: RevisionedRow>(
        &mut self,
        subject: &MemorySubject,
        id: &str,
    ) -> MemoryResult<()> {
        self.rows.remove(&(R::TABLE, subject.clone(), id.to_owned()));
        Ok(())
    }
}

impl BuildRows for InMemoryRows {
    fn put_build(&mut self, subject: &MemorySubject, build: &PacketBuild) -> MemoryResult<()> {
        self.builds.insert((subject.clone(), build.id.clone()), build.clone());
        Ok(())
    }

    fn load_build(&self, subject: &MemorySubject, id: &str) -> MemoryResult<Option<PacketBuild>> {
        Ok(self.builds.get(&(subject.clone(), id.to_owned())).cloned())
    }

    fn load_earlier_build_ids(
        &self,
        subject: &MemorySubject,
        build: &PacketBuild,
        limit: usize,
    ) -> MemoryResult<Vec<String>> {
        let key = |build: &PacketBuild| (build.built_at, build.id.clone());
        let own = self.builds.iter().filter(|((whose, _), _)| whose == subject);
        let mut earlier: Vec<_> = own
            .map(|(_, other)| other)
            .filter(|other| other.request.scope.session() == build.request.scope.session())
            .map(key)
            .filter(|other| *other < key(build))
            .collect();
        earlier.sort_by(|one, other| other.cmp(one));
        Ok(earlier.into_iter().take(limit).map(|(_, id)| id).collect())
    }

    fn load_selected_ids(
        &self,
        subject: &MemorySubject,
    ) -> MemoryResult<BTreeSet<(BuildRowKind, String)>> {
        let own = self.builds.iter().filter(|((whose, _), _)| whose == subject);
        let rows = own.flat_map(|(_, build)| &build.rows).filter(|row| row.selected);
        Ok(rows.map(|row| (row.kind, row.id.clone())).collect())
    }

    fn find_used_ids(
        &self,
        subject: &MemorySubject,
        ids: &[&str],
    ) -> MemoryResult<BTreeSet<String>> {
        let own = self.builds.iter().filter(|((whose, _), _)| whose == subject);
        let rows = own.flat_map(|(_, build)| &build.rows);
        Ok(rows.filter(|row| ids.contains(&&*row.id)).map(|row| row.id.clone()).collect())
    }
}

fn decode_revision<R: RevisionedRow>(revision: &RowRevision) -> MemoryResult<R> {
    serde_json::from_value(revision.row.clone()).map_err(|error| corrupt_error(error.to_string()))
}
