//! Erases every row of a subject and keeps hashes of the ids.
//!
//! Shared facts that also have evidence of other subjects keep it; facts that have only evidence of
//! the erased subject are removed.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::Timestamp;
use rusqlite::{Connection, params};

use super::super::repair_facts::repair_facts;
use super::super::revisioned_row::REVISED_TABLES;
use super::super::row_store::MemoryResult;
use super::super::tombstone::compute_tombstone_hash;
use super::super::{EraseReport, EraseTarget};
use super::transaction::SqliteMemoryTransaction;
use super::{facts, subjects};
use crate::MemorySubject;
use crate::record::MemoryFact;

/// Tables whose rows are removed without a tombstone, in an order that violates no foreign key.
const PLAIN_TABLES: [&str; 6] =
    ["build_rows", "fact_evidence", "vectors", "postings", "terms", "sessions"];

const SHARED_FACTS: &str = "SELECT DISTINCT subject, fact FROM fact_evidence
        WHERE source = ?1 AND subject <> ?1
    UNION SELECT DISTINCT subject, id FROM facts WHERE claimed_by = ?1 AND subject <> ?1";
const LAST_EVIDENCE: &str = "SELECT count(*) FROM fact_evidence
    WHERE subject = ?1 AND fact = ?2
        AND revision = (SELECT max(revision) FROM facts WHERE subject = ?1 AND id = ?2)";
const REASSIGN: &str = "UPDATE facts SET claimed_by = ifnull(
        (SELECT source FROM fact_evidence AS piece
            WHERE piece.subject = facts.subject AND piece.fact = facts.id
                AND piece.revision = facts.revision ORDER BY piece LIMIT 1), claimed_by)
    WHERE subject = ?1 AND id = ?2 AND claimed_by = ?3";

pub(super) fn forget(
    row_store: &mut SqliteMemoryTransaction<'_>,
    whom: &EraseTarget,
    now: Timestamp,
) -> MemoryResult<EraseReport> {
    whom.check()?;
    let db = row_store.db;
    let mut erased = EraseReport::default();
    let mut marks = BTreeSet::new();
    let mut gone = BTreeMap::new();
    let (tenant, user) = match whom {
        EraseTarget::Subject(MemorySubject { tenant, user, .. })
        | EraseTarget::User { tenant, user } => (tenant, user),
    };
    let all = subjects::list_user_subjects(db, tenant, user)?;
    for subject in all.iter().filter(|subject| whom.matches_subject(subject)) {
        let Some(number) = subjects::find_subject_number(db, subject)? else { continue };
        forget_shared_facts(db, number, &mut erased, &mut marks, &mut gone)?;
        forget_own_rows(db, number, subject, &mut erased, &mut marks)?;
    }
    for (holder, facts) in gone {
        repair_facts(row_store, &holder, &facts, now)?;
    }
    let mut put =
        db.prepare_cached("INSERT OR IGNORE INTO tombstones (hash, erased_at) VALUES (?1, ?2)")?;
    for mark in &marks {
        put.execute(params![mark, now.0])?;
    }
    erased.tombstones = marks.len() as u64;
    erased.shared_facts.sort();
    erased.shared_facts.dedup();
    Ok(erased)
}

fn forget_own_rows(
    db: &Connection,
    number: i64,
    subject: &MemorySubject,
    erased: &mut EraseReport,
    marks: &mut BTreeSet<String>,
) -> MemoryResult<()> {
    for table in PLAIN_TABLES {
        let sql = format!("DELETE FROM {table} WHERE subject = ?1");
        let rows = db.execute(&sql, [number])?;
        erased.add_rows(table, rows);
    }
    let marked = [("events", "event"), ("facts", "fact"), ("context_builds", "build")];
    for (table, kind) in marked.into_iter().chain(REVISED_TABLES) {
        let mut ids = db.prepare(&format!("SELECT DISTINCT id FROM {table} WHERE subject = ?1"))?;
        for id in ids.query_map([number], |row| row.get::<_, String>(0))? {
            marks.insert(compute_tombstone_hash(subject, kind, &id?));
        }
        let rows = db.execute(&format!("DELETE FROM {table} WHERE subject = ?1"), [number])?;
        erased.add_rows(table, rows);
    }
    db.execute("DELETE FROM subjects WHERE number = ?1", [number])?;
    Ok(())
}

/// Erases a subject's part of the facts of an agent or a tenant that cite its events or were
/// claimed by it.
fn forget_shared_facts(
    db: &Connection,
    number: i64,
    erased: &mut EraseReport,
    marks: &mut BTreeSet<String>,
    gone: &mut BTreeMap<MemorySubject, Vec<MemoryFact>>,
) -> MemoryResult<()> {
    let mut query = db.prepare(SHARED_FACTS)?;
    let touched = query.query_map([number], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let touched = touched.collect::<Result<Vec<(i64, String)>, _>>()?;
    for (holder, fact) in touched {
        let pieces = "DELETE FROM fact_evidence WHERE subject = ?1 AND fact = ?2 AND source = ?3";
        let rows = db.execute(pieces, params![holder, fact, number])?;
        erased.add_rows("fact_evidence", rows);
        let left: i64 = db.query_row(LAST_EVIDENCE, params![holder, fact], |row| row.get(0))?;
        if left == 0 {
            let whose = subjects::load_subject(db, holder)?;
            if let Some(last) = facts::load_fact(db, holder, &fact, None)? {
                gone.entry(whose.clone()).or_default().push(last.fact);
            }
            let pieces = "DELETE FROM fact_evidence WHERE subject = ?1 AND fact = ?2";
            erased.add_rows("fact_evidence", db.execute(pieces, params![holder, fact])?);
            let revisions = "DELETE FROM facts WHERE subject = ?1 AND id = ?2";
            erased.add_rows("facts", db.execute(revisions, params![holder, fact])?);
            marks.insert(compute_tombstone_hash(&whose, "fact", &fact));
            continue;
        }
        db.execute(REASSIGN, params![holder, fact, number])?;
        // Revisions that only the erased subject claimed are removed.
        let alone = "DELETE FROM facts WHERE subject = ?1 AND id = ?2 AND claimed_by = ?3";
        erased.add_rows("facts", db.execute(alone, params![holder, fact, number])?);
        erased.shared_facts.push(fact);
    }
    Ok(())
}
