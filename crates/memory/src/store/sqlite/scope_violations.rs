//! Checks that every row is stored under its own scope.

use rusqlite::Connection;

use super::super::revisioned_row::REVISED_TABLES;
use super::super::row_codec::decode_row;
use super::super::row_store::MemoryResult;
use super::super::scope_violation::{
    CROSSES_LEVEL, NO_OWNER, NO_SUBJECT, WRONG_OWNER, WRONG_SESSION, is_owner_at_level,
};
use super::super::{PacketBuild, ScopeViolation};
use super::subjects::read_subject;
use super::transaction::SqliteMemoryTransaction;
use crate::MemorySubject;
use crate::record::{MemoryEvent, MemoryFact};

/// Tables whose rows must belong to a subject; facts may belong to an agent or a tenant.
const SUBJECT_TABLES: [&str; 7] =
    ["sessions", "events", "vectors", "terms", "postings", "context_builds", "build_rows"];

const FOREIGN_EVIDENCE: &str = "SELECT piece.fact FROM fact_evidence AS piece
    JOIN subjects AS holder ON holder.number = piece.subject
    JOIN subjects AS source ON source.number = piece.source
    WHERE holder.tenant <> source.tenant OR source.user = ''
        OR (holder.agent <> '' AND holder.agent <> source.agent)
        OR (holder.user <> '' AND holder.user <> source.user)";
const FOREIGN_SESSION: &str = "SELECT events.id FROM events LEFT JOIN sessions
    ON sessions.subject = events.subject AND sessions.number = events.session
    WHERE sessions.id IS NOT json_extract(events.body, '$.scope.session')";

pub(super) fn find_scope_violations(
    row_store: &SqliteMemoryTransaction<'_>,
) -> MemoryResult<Vec<ScopeViolation>> {
    let db = row_store.db;
    let mut found = Vec::new();
    let revised = REVISED_TABLES.iter().map(|(table, _)| *table);
    for table in SUBJECT_TABLES.into_iter().chain(revised) {
        let sql = format!(
            "SELECT {table}.subject FROM {table} LEFT JOIN subjects ON subjects.number = {table}.subject
            WHERE subjects.number IS NULL OR user = '' OR agent = ''"
        );
        collect_violations(db, &sql, table, NO_SUBJECT, &mut found)?;
    }
    for table in ["facts", "fact_evidence"] {
        let sql = format!(
            "SELECT {table}.subject FROM {table} LEFT JOIN subjects ON subjects.number = {table}.subject
            WHERE subjects.number IS NULL"
        );
        collect_violations(db, &sql, table, NO_OWNER, &mut found)?;
    }
    collect_violations(db, FOREIGN_EVIDENCE, "fact_evidence", CROSSES_LEVEL, &mut found)?;
    collect_violations(db, FOREIGN_SESSION, "events", WRONG_SESSION, &mut found)?;
    check_bodies(db, "events", &mut found, |body, subject| {
        Ok(decode_row::<MemoryEvent>(body)?.scope.subject() == *subject)
    })?;
    check_bodies(db, "context_builds", &mut found, |body, subject| {
        Ok(decode_row::<PacketBuild>(body)?.request.scope.subject() == *subject)
    })?;
    check_bodies(db, "facts", &mut found, |body, subject| {
        Ok(is_owner_at_level(subject, decode_row::<MemoryFact>(body)?.level))
    })?;
    Ok(found)
}

fn collect_violations(
    db: &Connection,
    sql: &str,
    table: &str,
    what: &str,
    found: &mut Vec<ScopeViolation>,
) -> MemoryResult<()> {
    let mut query = db.prepare(sql)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let name = match row.get_ref(0)? {
            rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
            other => format!("{other:?}"),
        };
        found.push(ScopeViolation { table: table.to_owned(), row: name, problem: what.to_owned() });
    }
    Ok(())
}

fn check_bodies(
    db: &Connection,
    table: &str,
    found: &mut Vec<ScopeViolation>,
    fits: impl Fn(&str, &MemorySubject) -> MemoryResult<bool>,
) -> MemoryResult<()> {
    let sql = format!(
        "SELECT tenant, user, agent, id, body FROM {table} JOIN subjects ON subjects.number = subject"
    );
    let mut query = db.prepare(&sql)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let (subject, row, body) = (read_subject(row)?, row.get(3)?, row.get::<_, String>(4)?);
        if !fits(&body, &subject)? {
            let (table, what) = (table.to_owned(), WRONG_OWNER.to_owned());
            found.push(ScopeViolation { table, row, problem: what });
        }
    }
    Ok(())
}
