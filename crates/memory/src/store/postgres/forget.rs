//! Erases every row of a subject and keeps hashes of the ids.
//!
//! Shared facts that also have evidence of other subjects keep it; facts that have only evidence of
//! the erased subject are removed.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::Timestamp;
use countersign_store::{SqlStatement, TenantScope};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::super::repair_facts::repair_facts;
use super::super::revisioned_row::REVISED_TABLES;
use super::super::row_store::{EventRows as _, MemoryResult};
use super::super::tombstone::compute_tombstone_hash;
use super::super::{EraseReport, EraseTarget};
use super::facts;
use super::subject_rows::{SubjectRows, read_column};
use super::transaction::{PgMemoryTransaction, read_subject};
use crate::MemorySubject;
use crate::record::MemoryFact;

/// Tables whose rows are removed without a tombstone.
const PLAIN_TABLES: [&str; 6] =
    ["build_rows", "fact_evidence", "vectors", "postings", "terms", "sessions"];

/// Tables whose rows leave a tombstone for their id.
const TOMBSTONED_TABLES: [(&str, &str); 3] =
    [("events", "event"), ("facts", "fact"), ("context_builds", "build")];

const OF_USER: &str = "SELECT tenant, user_id, agent FROM countersign.memory_subjects
    WHERE tenant = $1 AND user_id = $2 ORDER BY agent";
const SHARED_FACTS: &str = "SELECT holder.tenant, holder.user_id, holder.agent, shared.fact
    FROM (SELECT subject, fact FROM countersign.memory_fact_evidence
            WHERE tenant = $1 AND source = $2 AND subject <> $2
        UNION SELECT subject, id FROM countersign.memory_facts
            WHERE tenant = $1 AND claimed_by = $2 AND subject <> $2) AS shared
        JOIN countersign.memory_subjects AS holder
            ON holder.tenant = $1 AND holder.number = shared.subject
    ORDER BY 3 DESC, 4";
const DROP_PIECES: &str = "DELETE FROM countersign.memory_fact_evidence
    WHERE tenant = $1 AND subject = $2 AND fact = $3 AND source = $4 RETURNING 1";
const DROP_EVIDENCE: &str = "DELETE FROM countersign.memory_fact_evidence
    WHERE tenant = $1 AND subject = $2 AND fact = $3 RETURNING 1";
const DROP_FACT: &str = "DELETE FROM countersign.memory_facts
    WHERE tenant = $1 AND subject = $2 AND id = $3 RETURNING 1";
const DROP_ALONE: &str = "DELETE FROM countersign.memory_facts
    WHERE tenant = $1 AND subject = $2 AND id = $3 AND claimed_by = $4 RETURNING 1";
const LAST_EVIDENCE: &str = "SELECT 1 FROM countersign.memory_fact_evidence
    WHERE tenant = $1 AND subject = $2 AND fact = $3 AND revision = (SELECT max(revision)
        FROM countersign.memory_facts WHERE tenant = $1 AND subject = $2 AND id = $3) LIMIT 1";
const REASSIGN: &str = "UPDATE countersign.memory_facts AS fact SET claimed_by = coalesce(
        (SELECT source FROM countersign.memory_fact_evidence AS piece
            WHERE piece.tenant = $1 AND piece.subject = $2 AND piece.fact = $3
                AND piece.revision = fact.revision ORDER BY piece LIMIT 1), claimed_by)
    WHERE tenant = $1 AND subject = $2 AND id = $3 AND claimed_by = $4";
const DROP_SUBJECT: &str =
    "DELETE FROM countersign.memory_subjects WHERE tenant = $1 AND number = $2";
const PUT_TOMBSTONES: &str = "INSERT INTO countersign.memory_tombstones (tenant, hash, erased_at)
    SELECT $1, hash, $3 FROM unnest($2::text[]) AS hash ON CONFLICT DO NOTHING";

/// Lists every table with erased rows, for the vacuum afterwards.
pub(super) fn list_erased_tables() -> impl Iterator<Item = &'static str> {
    let marked = TOMBSTONED_TABLES.into_iter().chain(REVISED_TABLES).map(|(table, _)| table);
    PLAIN_TABLES.into_iter().chain(marked).chain(["subjects"])
}

pub(super) fn forget(
    row_store: &mut PgMemoryTransaction<'_>,
    whom: &EraseTarget,
    now: Timestamp,
) -> MemoryResult<EraseReport> {
    whom.check()?;
    let mut erased = EraseReport::default();
    let mut marks = BTreeSet::new();
    let mut gone = BTreeMap::new();
    let (tenant, user) = match whom {
        EraseTarget::Subject(MemorySubject { tenant, user, .. })
        | EraseTarget::User { tenant, user } => (tenant, user),
    };
    let sight = TenantScope::Tenant(tenant);
    let rows = row_store
        .dialogue
        .query(sight, SqlStatement::new(OF_USER).bind_text(tenant).bind_text(user))?;
    let all = rows.iter().map(read_subject).collect::<MemoryResult<Vec<MemorySubject>>>()?;
    let mut own = Vec::new();
    for subject in all.iter().filter(|subject| whom.matches_subject(subject)) {
        own.extend(row_store.open_subject_rows(subject)?.map(|shelf| (subject, shelf)));
    }
    for (subject, shelf) in &own {
        forget_own_rows(shelf, subject, &mut erased, &mut marks)?;
    }
    // Shared facts come last, because other transactions wait for them.
    let mut shared = Vec::new();
    for (_, shelf) in &own {
        for (holder, fact) in load_shared_facts(shelf)? {
            shared.push((holder, fact, shelf.number()));
        }
    }
    let holders: BTreeSet<&MemorySubject> = shared.iter().map(|(holder, ..)| holder).collect();
    for holder in holders.into_iter().rev() {
        row_store.lock_subject(holder)?;
    }
    for (holder, fact, number) in &shared {
        forget_shared_fact(row_store, holder, fact, *number, &mut erased, &mut marks, &mut gone)?;
    }
    for (_, shelf) in &own {
        shelf.query(shelf.build_statement(DROP_SUBJECT))?;
    }
    for (holder, facts) in gone {
        repair_facts(row_store, &holder, &facts, now)?;
    }
    erased.tombstones = marks.len() as u64;
    let marks: Vec<String> = marks.into_iter().collect();
    let bury = SqlStatement::new(PUT_TOMBSTONES)
        .bind_text(tenant)
        .bind(&marks, Type::TEXT_ARRAY)
        .bind_int8(&now.0);
    row_store.dialogue.query(sight, bury)?;
    erased.shared_facts.sort();
    erased.shared_facts.dedup();
    Ok(erased)
}

fn forget_own_rows(
    shelf: &SubjectRows<'_>,
    subject: &MemorySubject,
    erased: &mut EraseReport,
    marks: &mut BTreeSet<String>,
) -> MemoryResult<()> {
    for table in PLAIN_TABLES {
        let sql = format!(
            "WITH gone AS (DELETE FROM countersign.memory_{table}
                WHERE tenant = $1 AND subject = $2 RETURNING 1) SELECT count(*) FROM gone"
        );
        let rows = shelf.query(shelf.build_statement(&sql))?;
        let gone: i64 = rows.first().map_or(Ok(0), |row| read_column(row, 0))?;
        erased.add_rows(table, gone as usize);
    }
    for (table, kind) in TOMBSTONED_TABLES.into_iter().chain(REVISED_TABLES) {
        let sql = format!(
            "DELETE FROM countersign.memory_{table} WHERE tenant = $1 AND subject = $2 RETURNING id"
        );
        let rows = shelf.query(shelf.build_statement(&sql))?;
        for row in &rows {
            marks.insert(compute_tombstone_hash(subject, kind, read_column(row, 0)?));
        }
        erased.add_rows(table, rows.len());
    }
    Ok(())
}

/// Loads the facts of an agent or a tenant that cite this subject's events or were claimed by it,
/// with their owners.
fn load_shared_facts(own: &SubjectRows<'_>) -> MemoryResult<Vec<(MemorySubject, String)>> {
    let read = |row: &Row| Ok((read_subject(row)?, read_column(row, 3)?));
    own.query(own.build_statement(SHARED_FACTS))?.iter().map(read).collect()
}

/// Erases a subject's part of a shared fact, by the subject's number.
fn forget_shared_fact(
    row_store: &PgMemoryTransaction<'_>,
    holder: &MemorySubject,
    fact: &String,
    number: i64,
    erased: &mut EraseReport,
    marks: &mut BTreeSet<String>,
    gone: &mut BTreeMap<MemorySubject, Vec<MemoryFact>>,
) -> MemoryResult<()> {
    let Some(shelf) = row_store.open_subject_rows(holder)? else { return Ok(()) };
    let pieces =
        shelf.query(shelf.build_statement(DROP_PIECES).bind_text(fact).bind_int8(&number))?;
    erased.add_rows("fact_evidence", pieces.len());
    if shelf.query(shelf.build_statement(LAST_EVIDENCE).bind_text(fact))?.is_empty() {
        if let Some(last) = facts::load_fact(&shelf, &holder.tenant, fact, None)? {
            gone.entry(holder.clone()).or_default().push(last.fact);
        }
        let pieces = shelf.query(shelf.build_statement(DROP_EVIDENCE).bind_text(fact))?;
        erased.add_rows("fact_evidence", pieces.len());
        erased.add_rows(
            "facts",
            shelf.query(shelf.build_statement(DROP_FACT).bind_text(fact))?.len(),
        );
        marks.insert(compute_tombstone_hash(holder, "fact", fact));
        return Ok(());
    }
    shelf.query(shelf.build_statement(REASSIGN).bind_text(fact).bind_int8(&number))?;
    // Revisions that only the erased subject claimed are removed.
    let alone =
        shelf.query(shelf.build_statement(DROP_ALONE).bind_text(fact).bind_int8(&number))?;
    erased.add_rows("facts", alone.len());
    erased.shared_facts.push(fact.clone());
    Ok(())
}
