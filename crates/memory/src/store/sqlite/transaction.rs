//! The row store of a `SQLite` transaction; each method calls the module of its table.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::super::expired_rows::ExpiryFilter;
use super::super::revisioned_row::RevisionedRow;
use super::super::row_store::{
    BuildRows, CitedEventRow, EventRows, FactFilter, FactRows, MemoryResult, RankedHits,
    RecordRows, RowPeriod, VectorRows,
};
use super::super::term_index;
use super::super::{BuildRowKind, PacketBuild, UnembeddedEvents};
use super::index::SubjectTermIndex;
use super::{builds, events, facts, rows, subjects, vectors};
use crate::rank::{SimilarEvents, WeightedQuery};
use crate::record::{EventLocation, MemoryEvent, MemoryInsight, MemoryProcedure};
use crate::rules::FactRevision;
use crate::{EmbeddingVector, MemoryScope, MemorySubject};

/// A connection inside a transaction.
pub(in crate::store) struct SqliteMemoryTransaction<'a> {
    pub(super) db: &'a Connection,
    /// Caches the number of the last subject, because consecutive calls usually concern the same
    /// one.
    last: RefCell<Option<(MemorySubject, i64)>>,
}

impl<'a> SqliteMemoryTransaction<'a> {
    pub(super) fn new(db: &'a Connection) -> Self {
        Self { db, last: RefCell::new(None) }
    }

    pub(super) fn resolve_subject_number(
        &self,
        subject: &MemorySubject,
    ) -> MemoryResult<Option<i64>> {
        if let Some((last, number)) = &*self.last.borrow()
            && last == subject
        {
            return Ok(Some(*number));
        }
        let number = subjects::find_subject_number(self.db, subject)?;
        *self.last.borrow_mut() = number.map(|number| (subject.clone(), number));
        Ok(number)
    }
}

impl EventRows for SqliteMemoryTransaction<'_> {
    fn find_tombstones(
        &self,
        _subject: &MemorySubject,
        marks: &[String],
    ) -> MemoryResult<BTreeSet<String>> {
        let mut query = self.db.prepare_cached("SELECT 1 FROM tombstones WHERE hash = ?1")?;
        let mut forgotten = BTreeSet::new();
        for mark in marks {
            if query.exists([mark])? {
                forgotten.insert(mark.clone());
            }
        }
        Ok(forgotten)
    }

    fn load_last_location(&self, scope: &MemoryScope) -> MemoryResult<Option<EventLocation>> {
        let Some(number) = self.resolve_subject_number(&scope.subject())? else { return Ok(None) };
        events::load_last_location(self.db, number, scope.session())
    }

    fn load_last_session_number(&self, subject: &MemorySubject) -> MemoryResult<u32> {
        let Some(number) = self.resolve_subject_number(subject)? else { return Ok(0) };
        events::load_last_session_number(self.db, number)
    }

    fn put_events(&mut self, subject: &MemorySubject, events: &[MemoryEvent]) -> MemoryResult<()> {
        let number = subjects::ensure_subject_number(self.db, subject)?;
        events::put_events(self.db, number, events)?;
        term_index::index_events(&SubjectTermIndex { db: self.db, subject: number }, events)
    }

    fn remove_events(
        &mut self,
        subject: &MemorySubject,
        events: &[MemoryEvent],
    ) -> MemoryResult<()> {
        let Some(number) = self.resolve_subject_number(subject)? else { return Ok(()) };
        events::remove_events(self.db, number, events)?;
        term_index::unindex_events(&SubjectTermIndex { db: self.db, subject: number }, events)
    }

    fn load_events_by_id(
        &self,
        subject: &MemorySubject,
        ids: &[&str],
    ) -> MemoryResult<BTreeMap<String, MemoryEvent>> {
        let Some(number) = self.resolve_subject_number(subject)? else {
            return Ok(BTreeMap::new());
        };
        events::load_events_by_id(self.db, number, ids)
    }

    fn load_cited_events(
        &self,
        subject: &MemorySubject,
        ids: &[&str],
    ) -> MemoryResult<BTreeMap<String, CitedEventRow>> {
        let Some(number) = self.resolve_subject_number(subject)? else {
            return Ok(BTreeMap::new());
        };
        events::load_events_by_id(self.db, number, ids)
    }

    fn load_events_at(
        &self,
        subject: &MemorySubject,
        places: &[EventLocation],
    ) -> MemoryResult<Vec<MemoryEvent>> {
        let Some(number) = self.resolve_subject_number(subject)? else { return Ok(Vec::new()) };
        events::load_events_at(self.db, number, places)
    }

    fn load_events(&self, subject: &MemorySubject) -> MemoryResult<Vec<MemoryEvent>> {
        let Some(number) = self.resolve_subject_number(subject)? else { return Ok(Vec::new()) };
        events::load_events(self.db, number)
    }

    fn load_expired_events(
        &self,
        subject: &MemorySubject,
        filter: ExpiryFilter<'_>,
    ) -> MemoryResult<Vec<MemoryEvent>> {
        let Some(number) = self.resolve_subject_number(subject)? else { return Ok(Vec::new()) };
        events::load_expired_events(self.db, number, filter)
    }

    fn load_window(&self, scope: &MemoryScope, limit: usize) -> MemoryResult<Vec<MemoryEvent>> {
        let Some(number) = self.resolve_subject_number(&scope.subject())? else {
            return Ok(Vec::new());
        };
        events::load_window(self.db, number, scope.session(), limit)
    }

    fn rank_events(
        &self,
        subject: &MemorySubject,
        query: &WeightedQuery,
        limit: usize,
    ) -> MemoryResult<RankedHits> {
        let Some(number) = self.resolve_subject_number(subject)? else {
            return Ok(RankedHits::default());
        };
        term_index::rank_events(&SubjectTermIndex { db: self.db, subject: number }, query, limit)
    }
}

impl VectorRows for SqliteMemoryTransaction<'_> {
    fn find_similar_events(
        &self,
        subject: &MemorySubject,
        vector: &EmbeddingVector,
        newest: usize,
    ) -> MemoryResult<SimilarEvents> {
        let Some(number) = self.resolve_subject_number(subject)? else {
            return Ok(SimilarEvents::default());
        };
        vectors::find_similar_events(self.db, number, vector, newest)
    }

    fn load_dimensions(
        &self,
        subject: &MemorySubject,
        embedder: &str,
    ) -> MemoryResult<Option<usize>> {
        let Some(number) = self.resolve_subject_number(subject)? else { return Ok(None) };
        vectors::load_dimensions(self.db, number, embedder)
    }

    fn find_unembedded_events(
        &self,
        subject: &MemorySubject,
        embedder: &str,
        among: usize,
        limit: usize,
    ) -> MemoryResult<UnembeddedEvents> {
        let Some(number) = self.resolve_subject_number(subject)? else {
            return Ok(UnembeddedEvents::default());
        };
        vectors::find_unembedded_events(self.db, number, embedder, among, limit)
    }

    fn put_vectors(
        &mut self,
        subject: &MemorySubject,
        vectors: &[(EventLocation, &EmbeddingVector)],
    ) -> MemoryResult<()> {
        let Some(number) = self.resolve_subject_number(subject)? else { return Ok(()) };
        vectors::put_vectors(self.db, number, vectors)
    }
}

impl FactRows for SqliteMemoryTransaction<'_> {
    fn load_fact(
        &self,
        holder: &MemorySubject,
        id: &str,
        revision: Option<u32>,
    ) -> MemoryResult<Option<FactRevision>> {
        let Some(number) = self.resolve_subject_number(holder)? else { return Ok(None) };
        facts::load_fact(self.db, number, id, revision)
    }

    fn load_facts(
        &self,
        holder: &MemorySubject,
        which: FactFilter<'_>,
    ) -> MemoryResult<Vec<FactRevision>> {
        let Some(number) = self.resolve_subject_number(holder)? else { return Ok(Vec::new()) };
        facts::load_facts(self.db, number, which)
    }

    fn put_fact(&mut self, holder: &MemorySubject, standing: &FactRevision) -> MemoryResult<()> {
        facts::put_fact(self.db, subjects::ensure_subject_number(self.db, holder)?, standing)
    }

    fn redact_ids(&mut self, holder: &MemorySubject, ids: &[&str]) -> MemoryResult<()> {
        let Some(number) = self.resolve_subject_number(holder)? else { return Ok(()) };
        facts::redact_ids(self.db, number, ids)?;
        builds::redact_ids(self.db, holder, ids)
    }
}

impl RecordRows for SqliteMemoryTransaction<'_> {
    fn load_row<R: RevisionedRow>(
        &self,
        subject: &MemorySubject,
        id: &str,
        revision: Option<u64>,
    ) -> MemoryResult<Option<R>> {
        let Some(number) = self.resolve_subject_number(subject)? else { return Ok(None) };
        rows::load_row(self.db, number, id, revision)
    }

    fn load_rows<R: RevisionedRow>(
        &self,
        subject: &MemorySubject,
        limit: usize,
    ) -> MemoryResult<Vec<(String, R)>> {
        let Some(number) = self.resolve_subject_number(subject)? else { return Ok(Vec::new()) };
        rows::load_latest_rows(self.db, number, limit)
    }

    fn load_rows_between<R: RevisionedRow>(
        &self,
        subject: &MemorySubject,
        period: RowPeriod,
        limit: usize,
    ) -> MemoryResult<Vec<R>> {
        let Some(number) = self.resolve_subject_number(subject)? else { return Ok(Vec::new()) };
        rows::load_rows_between(self.db, number, period, limit)
    }

    fn load_task_procedures(
        &self,
        subject: &MemorySubject,
        task_type: &str,
        limit: usize,
    ) -> MemoryResult<Vec<MemoryProcedure>> {
        let Some(number) = self.resolve_subject_number(subject)? else { return Ok(Vec::new()) };
        rows::load_task_procedures(self.db, number, task_type, limit)
    }

    fn load_expired_insights(
        &self,
        subject: &MemorySubject,
        filter: ExpiryFilter<'_>,
    ) -> MemoryResult<Vec<(String, MemoryInsight)>> {
        let Some(number) = self.resolve_subject_number(subject)? else { return Ok(Vec::new()) };
        rows::load_expired_insights(self.db, number, filter)
    }

    fn put_row<R: RevisionedRow>(
        &mut self,
        subject: &MemorySubject,
        id: &str,
        row: &R,
    ) -> MemoryResult<()> {
        rows::put_row(self.db, subjects::ensure_subject_number(self.db, subject)?, id, row)
    }

    fn remove_row<R: RevisionedRow>(
        &mut self,
        subject: &MemorySubject,
        id: &str,
    ) -> MemoryResult<()> {
        let Some(number) = self.resolve_subject_number(subject)? else { return Ok(()) };
        rows::remove_row::<R>(self.db, number, id)
    }
}

impl BuildRows for SqliteMemoryTransaction<'_> {
    fn put_build(&mut self, subject: &MemorySubject, build: &PacketBuild) -> MemoryResult<()> {
        builds::put_build(self.db, subjects::ensure_subject_number(self.db, subject)?, build)
    }

    fn load_build(&self, subject: &MemorySubject, id: &str) -> MemoryResult<Option<PacketBuild>> {
        let Some(number) = self.resolve_subject_number(subject)? else { return Ok(None) };
        builds::load_build(self.db, number, id)
    }

    fn load_earlier_build_ids(
        &self,
        subject: &MemorySubject,
        build: &PacketBuild,
        limit: usize,
    ) -> MemoryResult<Vec<String>> {
        let Some(number) = self.resolve_subject_number(subject)? else { return Ok(Vec::new()) };
        builds::load_earlier_build_ids(self.db, number, build, limit)
    }

    fn load_selected_ids(
        &self,
        subject: &MemorySubject,
    ) -> MemoryResult<BTreeSet<(BuildRowKind, String)>> {
        let Some(number) = self.resolve_subject_number(subject)? else {
            return Ok(BTreeSet::new());
        };
        builds::load_selected_ids(self.db, number)
    }

    fn find_used_ids(
        &self,
        subject: &MemorySubject,
        ids: &[&str],
    ) -> MemoryResult<BTreeSet<String>> {
        let Some(number) = self.resolve_subject_number(subject)? else {
            return Ok(BTreeSet::new());
        };
        builds::find_used_ids(self.db, number, ids)
    }
}
