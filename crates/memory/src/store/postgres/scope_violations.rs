//! Checks that every row is stored under its own scope.

use countersign_store::{SqlStatement, TenantScope};
use tokio_postgres::Row;

use super::super::revisioned_row::REVISED_TABLES;
use super::super::row_codec::decode_row;
use super::super::row_store::MemoryResult;
use super::super::scope_violation::{
    CROSSES_LEVEL, NO_OWNER, NO_SUBJECT, WRONG_OWNER, WRONG_SESSION, is_owner_at_level,
};
use super::super::{PacketBuild, ScopeViolation};
use super::subject_rows::read_column;
use super::transaction::{PgMemoryTransaction, read_subject};
use crate::MemorySubject;
use crate::record::{MemoryEvent, MemoryFact};

/// Tables whose rows must belong to a subject; facts may belong to an agent or a tenant.
const SUBJECT_TABLES: [&str; 7] =
    ["sessions", "events", "vectors", "terms", "postings", "context_builds", "build_rows"];

const FOREIGN_EVIDENCE: &str = "SELECT piece.fact FROM countersign.memory_fact_evidence AS piece
    JOIN countersign.memory_subjects AS holder
        ON holder.tenant = piece.tenant AND holder.number = piece.subject
    LEFT JOIN countersign.memory_subjects AS source
        ON source.tenant = piece.tenant AND source.number = piece.source
    WHERE source.number IS NULL OR source.user_id = ''
        OR (holder.agent <> '' AND holder.agent <> source.agent)
        OR (holder.user_id <> '' AND holder.user_id <> source.user_id)";

/// Fetches 1,000 rows at a time.
const FETCH: &str = "FETCH 1000 FROM walk";

pub(super) fn find_scope_violations(
    row_store: &PgMemoryTransaction<'_>,
) -> MemoryResult<Vec<ScopeViolation>> {
    let mut found = Vec::new();
    let revised = REVISED_TABLES.iter().map(|(table, _)| *table);
    for table in SUBJECT_TABLES.into_iter().chain(revised) {
        let wrong = "owner.number IS NULL OR user_id = '' OR agent = ''";
        collect_violations(
            row_store,
            &build_unowned_sql(table, wrong),
            table,
            NO_SUBJECT,
            &mut found,
        )?;
    }
    for table in ["facts", "fact_evidence"] {
        let wrong = "owner.number IS NULL";
        collect_violations(
            row_store,
            &build_unowned_sql(table, wrong),
            table,
            NO_OWNER,
            &mut found,
        )?;
    }
    collect_violations(row_store, FOREIGN_EVIDENCE, "fact_evidence", CROSSES_LEVEL, &mut found)?;
    walk_table(row_store, "events", &mut found, |row, subject| {
        let event: MemoryEvent = decode_row(read_column(row, 4)?)?;
        if event.scope.subject() != *subject {
            return Ok(Some(WRONG_OWNER));
        }
        let session: Option<&str> = read_column(row, 5)?;
        Ok((session != Some(event.scope.session())).then_some(WRONG_SESSION))
    })?;
    walk_table(row_store, "context_builds", &mut found, |row, subject| {
        let build: PacketBuild = decode_row(read_column(row, 4)?)?;
        Ok((build.request.scope.subject() != *subject).then_some(WRONG_OWNER))
    })?;
    walk_table(row_store, "facts", &mut found, |row, subject| {
        let fact: MemoryFact = decode_row(read_column(row, 4)?)?;
        Ok((!is_owner_at_level(subject, fact.level)).then_some(WRONG_OWNER))
    })?;
    Ok(found)
}

fn build_unowned_sql(table: &str, wrong: &str) -> String {
    format!(
        "SELECT row.subject::text FROM countersign.memory_{table} AS row
            LEFT JOIN countersign.memory_subjects AS owner
                ON owner.tenant = row.tenant AND owner.number = row.subject
        WHERE {wrong}"
    )
}

fn collect_violations(
    row_store: &PgMemoryTransaction<'_>,
    sql: &str,
    table: &str,
    what: &str,
    found: &mut Vec<ScopeViolation>,
) -> MemoryResult<()> {
    for row in &row_store.dialogue.query(TenantScope::Audit, SqlStatement::new(sql))? {
        let (table, what) = (table.to_owned(), what.to_owned());
        found.push(ScopeViolation { table, row: read_column(row, 0)?, problem: what });
    }
    Ok(())
}

/// Checks a table whose rows have a body: owner, id, body and, for events, the session of their
/// location.
fn walk_table(
    row_store: &PgMemoryTransaction<'_>,
    table: &str,
    found: &mut Vec<ScopeViolation>,
    wrong: impl Fn(&Row, &MemorySubject) -> MemoryResult<Option<&'static str>>,
) -> MemoryResult<()> {
    let (session, join) = if table == "events" {
        let join = "LEFT JOIN countersign.memory_sessions AS session ON session.tenant = row.tenant
            AND session.subject = row.subject AND session.number = row.session";
        ("session.id", join)
    } else {
        ("NULL::text", "")
    };
    let sql = format!(
        "DECLARE walk NO SCROLL CURSOR FOR
        SELECT owner.tenant, owner.user_id, owner.agent, row.id, row.body, {session}
        FROM countersign.memory_{table} AS row JOIN countersign.memory_subjects AS owner
            ON owner.tenant = row.tenant AND owner.number = row.subject {join}"
    );
    row_store.dialogue.query(TenantScope::Audit, SqlStatement::new(&sql))?;
    loop {
        let rows = row_store.dialogue.query(TenantScope::Audit, SqlStatement::new(FETCH))?;
        if rows.is_empty() {
            break;
        }
        for row in &rows {
            if let Some(what) = wrong(row, &read_subject(row)?)? {
                let (table, what) = (table.to_owned(), what.to_owned());
                found.push(ScopeViolation { table, row: read_column(row, 3)?, problem: what });
            }
        }
    }
    row_store.dialogue.query(TenantScope::Audit, SqlStatement::new("CLOSE walk"))?;
    Ok(())
}
