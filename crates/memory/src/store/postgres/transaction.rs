//! The row store of a `PostgreSQL` transaction; each method calls the module of its table.
//!
//! A writing transaction locks a subject before it reads any of its rows, until the transaction
//! ends. So each subject has one writer at a time, and the rows that a decision is based on do not
//! change before the write.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::json::to_canonical_json;
use countersign_store::{PgTransaction, PgTransactionMode, SqlStatement, TenantScope};
use serde_json::json;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::super::expired_rows::ExpiryFilter;
use super::super::memory_error::corrupt_error;
use super::super::revisioned_row::RevisionedRow;
use super::super::row_store::{
    BuildRows, CitedEventRow, EventRows, FactFilter, FactRows, MemoryResult, RankedHits,
    RecordRows, RowPeriod, VectorRows,
};
use super::super::term_index;
use super::super::{BuildRowKind, PacketBuild, UnembeddedEvents};
use super::subject_rows::{SubjectRows, is_storable_text, read_column};
use super::{builds, events, facts, rows, vectors};
use crate::rank::{SimilarEvents, WeightedQuery};
use crate::record::{EventLocation, MemoryEvent, MemoryInsight, MemoryProcedure};
use crate::rules::FactRevision;
use crate::{EmbeddingVector, MemoryScope, MemorySubject};

/// Locks a subject. The seed, the bytes "CNTM", separates these locks from others.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended($1, 1129206861))";
/// A shared lock for transactions that only reference rows of a subject; it blocks writers only.
const LOCK_SHARED: &str = "SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 1129206861))";
const NUMBER: &str = "SELECT number FROM countersign.memory_subjects
    WHERE tenant = $1 AND user_id = $2 AND agent = $3";
const ADD: &str = "INSERT INTO countersign.memory_subjects (tenant, user_id, agent, index_version)
    VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
pub(super) const FIND_TOMBSTONES: &str = "SELECT found.hash FROM unnest($2::text[]) AS asked (hash)
    CROSS JOIN LATERAL (SELECT hash FROM countersign.memory_tombstones
        WHERE tenant = $1 AND hash = asked.hash LIMIT 1) AS found";

/// Returns the name that the lock of a subject is computed from.
fn build_lock_name(subject: &MemorySubject) -> String {
    let MemorySubject { tenant, user, agent } = subject;
    to_canonical_json(&json!([tenant, user, agent]))
}

/// A memory transaction.
pub(in crate::store) struct PgMemoryTransaction<'a> {
    pub(super) dialogue: &'a PgTransaction<'a>,
    writes: bool,
    /// The numbers of the subjects that were requested; in a writing transaction these are locked.
    numbers: RefCell<BTreeMap<MemorySubject, Option<i64>>>,
}

impl<'a> PgMemoryTransaction<'a> {
    pub(super) fn new(dialogue: &'a PgTransaction<'a>, purpose: PgTransactionMode) -> Self {
        Self {
            dialogue,
            writes: purpose != PgTransactionMode::ReadOnly,
            numbers: RefCell::default(),
        }
    }

    /// Returns the number of a subject. In a writing transaction it is locked against other writers
    /// from here on.
    pub(super) fn resolve_subject_number(
        &self,
        subject: &MemorySubject,
    ) -> MemoryResult<Option<i64>> {
        if let Some(number) = self.numbers.borrow().get(subject) {
            return Ok(*number);
        }
        let MemorySubject { tenant, user, agent } = subject;
        if ![tenant, user, agent].into_iter().all(|name| is_storable_text(name)) {
            return Ok(None);
        }
        let name = build_lock_name(subject);
        let mut calls =
            vec![SqlStatement::new(NUMBER).bind_text(tenant).bind_text(user).bind_text(agent)];
        if self.writes {
            calls.insert(0, SqlStatement::new(LOCK).bind_text(&name));
        }
        let answers = self.dialogue.query_all(TenantScope::Tenant(tenant), &calls)?;
        let row = answers.last().and_then(|rows| rows.first());
        let number = row.map(|row| read_column(row, 0)).transpose()?;
        self.numbers.borrow_mut().insert(subject.clone(), number);
        Ok(number)
    }

    fn ensure_subject_number(&self, subject: &MemorySubject) -> MemoryResult<i64> {
        if let Some(number) = self.resolve_subject_number(subject)? {
            return Ok(number);
        }
        let number = self.ensure_unlocked_number(subject)?;
        self.numbers.borrow_mut().insert(subject.clone(), Some(number));
        Ok(number)
    }

    /// Returns the number of a subject that is only referenced. None of its rows are read or
    /// written, so it is not locked.
    fn ensure_unlocked_number(&self, subject: &MemorySubject) -> MemoryResult<i64> {
        if let Some(Some(number)) = self.numbers.borrow().get(subject) {
            return Ok(*number);
        }
        let MemorySubject { tenant, user, agent } = subject;
        let version = term_index::index_version();
        let add = SqlStatement::new(ADD)
            .bind_text(tenant)
            .bind_text(user)
            .bind_text(agent)
            .bind_text(&version);
        let find = SqlStatement::new(NUMBER).bind_text(tenant).bind_text(user).bind_text(agent);
        let answers = self.dialogue.query_all(TenantScope::Tenant(tenant), &[add, find])?;
        let row = answers.last().and_then(|rows| rows.first());
        read_column(row.ok_or_else(|| corrupt_error("a subject was created but is missing"))?, 0)
    }

    /// Returns the rows of a subject; `None` if it has none.
    pub(super) fn open_subject_rows<'s>(
        &'s self,
        subject: &'s MemorySubject,
    ) -> MemoryResult<Option<SubjectRows<'s>>> {
        let number = self.resolve_subject_number(subject)?;
        Ok(number.map(|number| SubjectRows::new(self.dialogue, &subject.tenant, number)))
    }

    fn ensure_subject_rows<'s>(
        &'s self,
        subject: &'s MemorySubject,
    ) -> MemoryResult<SubjectRows<'s>> {
        Ok(SubjectRows::new(self.dialogue, &subject.tenant, self.ensure_subject_number(subject)?))
    }
}

/// Reads a subject from the first three columns.
pub(super) fn read_subject(row: &Row) -> MemoryResult<MemorySubject> {
    Ok(MemorySubject {
        tenant: read_column(row, 0)?,
        user: read_column(row, 1)?,
        agent: read_column(row, 2)?,
    })
}

impl EventRows for PgMemoryTransaction<'_> {
    fn find_tombstones(
        &self,
        subject: &MemorySubject,
        marks: &[String],
    ) -> MemoryResult<BTreeSet<String>> {
        // Lock first: an erasure must not come between the check and the write.
        self.resolve_subject_number(subject)?;
        let call = SqlStatement::new(FIND_TOMBSTONES)
            .bind_text(&subject.tenant)
            .bind(&marks, Type::TEXT_ARRAY);
        let rows = self.dialogue.query(TenantScope::Tenant(&subject.tenant), call)?;
        rows.iter().map(|row| read_column(row, 0)).collect()
    }

    fn lock_subject(&self, subject: &MemorySubject) -> MemoryResult<()> {
        self.resolve_subject_number(subject).map(drop)
    }

    fn find_tombstones_shared(
        &self,
        holder: &MemorySubject,
        marks: &[String],
    ) -> MemoryResult<BTreeSet<String>> {
        if self.numbers.borrow().contains_key(holder) {
            return self.find_tombstones(holder, marks);
        }
        let name = build_lock_name(holder);
        let lock = SqlStatement::new(LOCK_SHARED).bind_text(&name);
        let asked = SqlStatement::new(FIND_TOMBSTONES)
            .bind_text(&holder.tenant)
            .bind(&marks, Type::TEXT_ARRAY);
        let answers =
            self.dialogue.query_all(TenantScope::Tenant(&holder.tenant), &[lock, asked])?;
        answers.last().into_iter().flatten().map(|row| read_column(row, 0)).collect()
    }

    fn load_last_location(&self, scope: &MemoryScope) -> MemoryResult<Option<EventLocation>> {
        match self.open_subject_rows(&scope.subject())? {
            Some(own) => events::load_last_location(&own, scope.session()),
            None => Ok(None),
        }
    }

    fn load_last_session_number(&self, subject: &MemorySubject) -> MemoryResult<u32> {
        self.open_subject_rows(subject)?.map_or(Ok(0), |own| events::load_last_session_number(&own))
    }

    fn put_events(&mut self, subject: &MemorySubject, events: &[MemoryEvent]) -> MemoryResult<()> {
        let own = self.ensure_subject_rows(subject)?;
        events::put_events(&own, events)?;
        term_index::index_events(&own, events)
    }

    fn remove_events(
        &mut self,
        subject: &MemorySubject,
        events: &[MemoryEvent],
    ) -> MemoryResult<()> {
        let Some(own) = self.open_subject_rows(subject)? else { return Ok(()) };
        events::remove_events(&own, events)?;
        term_index::unindex_events(&own, events)
    }

    fn load_events_by_id(
        &self,
        subject: &MemorySubject,
        ids: &[&str],
    ) -> MemoryResult<BTreeMap<String, MemoryEvent>> {
        self.open_subject_rows(subject)?
            .map_or(Ok(BTreeMap::new()), |own| events::load_events_by_id(&own, ids))
    }

    fn load_cited_events(
        &self,
        subject: &MemorySubject,
        ids: &[&str],
    ) -> MemoryResult<BTreeMap<String, CitedEventRow>> {
        self.open_subject_rows(subject)?
            .map_or(Ok(BTreeMap::new()), |own| events::load_events_by_id(&own, ids))
    }

    fn load_events_at(
        &self,
        subject: &MemorySubject,
        places: &[EventLocation],
    ) -> MemoryResult<Vec<MemoryEvent>> {
        self.open_subject_rows(subject)?
            .map_or(Ok(Vec::new()), |own| events::load_events_at(&own, places))
    }

    fn load_events(&self, subject: &MemorySubject) -> MemoryResult<Vec<MemoryEvent>> {
        self.open_subject_rows(subject)?
            .map_or(Ok(Vec::new()), |own| events::load_events_after(&own, None, usize::MAX))
    }

    fn load_expired_events(
        &self,
        subject: &MemorySubject,
        filter: ExpiryFilter<'_>,
    ) -> MemoryResult<Vec<MemoryEvent>> {
        self.open_subject_rows(subject)?
            .map_or(Ok(Vec::new()), |own| events::load_expired_events(&own, filter))
    }

    fn load_window(&self, scope: &MemoryScope, limit: usize) -> MemoryResult<Vec<MemoryEvent>> {
        match self.open_subject_rows(&scope.subject())? {
            Some(own) => events::load_window(&own, scope.session(), limit),
            None => Ok(Vec::new()),
        }
    }

    fn rank_events(
        &self,
        subject: &MemorySubject,
        query: &WeightedQuery,
        limit: usize,
    ) -> MemoryResult<RankedHits> {
        self.open_subject_rows(subject)?
            .map_or(Ok(RankedHits::default()), |own| term_index::rank_events(&own, query, limit))
    }
}

impl VectorRows for PgMemoryTransaction<'_> {
    fn find_similar_events(
        &self,
        subject: &MemorySubject,
        vector: &EmbeddingVector,
        newest: usize,
    ) -> MemoryResult<SimilarEvents> {
        self.open_subject_rows(subject)?.map_or(Ok(SimilarEvents::default()), |own| {
            vectors::find_similar_events(&own, vector, newest)
        })
    }

    fn load_dimensions(
        &self,
        subject: &MemorySubject,
        embedder: &str,
    ) -> MemoryResult<Option<usize>> {
        self.open_subject_rows(subject)?
            .map_or(Ok(None), |own| vectors::load_dimensions(&own, embedder))
    }

    fn find_unembedded_events(
        &self,
        subject: &MemorySubject,
        embedder: &str,
        among: usize,
        limit: usize,
    ) -> MemoryResult<UnembeddedEvents> {
        self.open_subject_rows(subject)?.map_or(Ok(UnembeddedEvents::default()), |own| {
            vectors::find_unembedded_events(&own, embedder, among, limit)
        })
    }

    fn put_vectors(
        &mut self,
        subject: &MemorySubject,
        vectors: &[(EventLocation, &EmbeddingVector)],
    ) -> MemoryResult<()> {
        self.open_subject_rows(subject)?.map_or(Ok(()), |own| vectors::put_vectors(&own, vectors))
    }
}

impl FactRows for PgMemoryTransaction<'_> {
    fn load_fact(
        &self,
        holder: &MemorySubject,
        id: &str,
        revision: Option<u32>,
    ) -> MemoryResult<Option<FactRevision>> {
        self.open_subject_rows(holder)?
            .map_or(Ok(None), |own| facts::load_fact(&own, &holder.tenant, id, revision))
    }

    fn load_facts(
        &self,
        holder: &MemorySubject,
        which: FactFilter<'_>,
    ) -> MemoryResult<Vec<FactRevision>> {
        self.open_subject_rows(holder)?
            .map_or(Ok(Vec::new()), |own| facts::load_facts(&own, &holder.tenant, which))
    }

    fn put_fact(&mut self, holder: &MemorySubject, standing: &FactRevision) -> MemoryResult<()> {
        let own = self.ensure_subject_rows(holder)?;
        let claimed_by = self.ensure_unlocked_number(&standing.claimed_by)?;
        let sources = standing.sources.iter().map(|source| self.ensure_unlocked_number(source));
        facts::put_fact(&own, standing, claimed_by, &sources.collect::<MemoryResult<Vec<i64>>>()?)
    }

    fn redact_ids(&mut self, holder: &MemorySubject, ids: &[&str]) -> MemoryResult<()> {
        let Some(own) = self.open_subject_rows(holder)? else { return Ok(()) };
        facts::redact_ids(&own, ids)?;
        builds::redact_ids(&own, holder, ids)
    }
}

impl RecordRows for PgMemoryTransaction<'_> {
    fn load_row<R: RevisionedRow>(
        &self,
        subject: &MemorySubject,
        id: &str,
        revision: Option<u64>,
    ) -> MemoryResult<Option<R>> {
        self.open_subject_rows(subject)?.map_or(Ok(None), |own| rows::load_row(&own, id, revision))
    }

    fn load_rows<R: RevisionedRow>(
        &self,
        subject: &MemorySubject,
        limit: usize,
    ) -> MemoryResult<Vec<(String, R)>> {
        self.open_subject_rows(subject)?
            .map_or(Ok(Vec::new()), |own| rows::load_latest_rows(&own, limit))
    }

    fn load_rows_between<R: RevisionedRow>(
        &self,
        subject: &MemorySubject,
        period: RowPeriod,
        limit: usize,
    ) -> MemoryResult<Vec<R>> {
        self.open_subject_rows(subject)?
            .map_or(Ok(Vec::new()), |own| rows::load_rows_between(&own, period, limit))
    }

    fn load_task_procedures(
        &self,
        subject: &MemorySubject,
        task_type: &str,
        limit: usize,
    ) -> MemoryResult<Vec<MemoryProcedure>> {
        self.open_subject_rows(subject)?
            .map_or(Ok(Vec::new()), |own| rows::load_task_procedures(&own, task_type, limit))
    }

    fn load_expired_insights(
        &self,
        subject: &MemorySubject,
        filter: ExpiryFilter<'_>,
    ) -> MemoryResult<Vec<(String, MemoryInsight)>> {
        self.open_subject_rows(subject)?
            .map_or(Ok(Vec::new()), |own| rows::load_expired_insights(&own, filter))
    }

    fn put_row<R: RevisionedRow>(
        &mut self,
        subject: &MemorySubject,
        id: &str,
        row: &R,
    ) -> MemoryResult<()> {
        rows::put_row(&self.ensure_subject_rows(subject)?, id, row)
    }

    fn remove_row<R: RevisionedRow>(
        &mut self,
        subject: &MemorySubject,
        id: &str,
    ) -> MemoryResult<()> {
        self.open_subject_rows(subject)?.map_or(Ok(()), |own| rows::remove_row::<R>(&own, id))
    }
}

impl BuildRows for PgMemoryTransaction<'_> {
    fn put_build(&mut self, subject: &MemorySubject, build: &PacketBuild) -> MemoryResult<()> {
        builds::put_build(&self.ensure_subject_rows(subject)?, build)
    }

    fn load_build(&self, subject: &MemorySubject, id: &str) -> MemoryResult<Option<PacketBuild>> {
        self.open_subject_rows(subject)?.map_or(Ok(None), |own| builds::load_build(&own, id))
    }

    fn load_earlier_build_ids(
        &self,
        subject: &MemorySubject,
        build: &PacketBuild,
        limit: usize,
    ) -> MemoryResult<Vec<String>> {
        self.open_subject_rows(subject)?
            .map_or(Ok(Vec::new()), |own| builds::load_earlier_build_ids(&own, build, limit))
    }

    fn load_selected_ids(
        &self,
        subject: &MemorySubject,
    ) -> MemoryResult<BTreeSet<(BuildRowKind, String)>> {
        self.open_subject_rows(subject)?
            .map_or(Ok(BTreeSet::new()), |own| builds::load_selected_ids(&own))
    }

    fn find_used_ids(
        &self,
        subject: &MemorySubject,
        ids: &[&str],
    ) -> MemoryResult<BTreeSet<String>> {
        self.open_subject_rows(subject)?
            .map_or(Ok(BTreeSet::new()), |own| builds::find_used_ids(&own, ids))
    }
}
