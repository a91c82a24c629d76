//! Subject numbers. A number is never assigned to two subjects.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::super::memory_error::corrupt_error;
use super::super::row_store::MemoryResult;
use crate::MemorySubject;

const NUMBER: &str = "SELECT number FROM subjects WHERE tenant = ?1 AND user = ?2 AND agent = ?3";
const ADD: &str = "INSERT INTO subjects (tenant, user, agent) VALUES (?1, ?2, ?3)";
const SUBJECT: &str = "SELECT tenant, user, agent FROM subjects WHERE number = ?1";
const OF_USER: &str = "SELECT tenant, user, agent FROM subjects WHERE tenant = ?1 AND user = ?2";

pub(super) fn find_subject_number(
    db: &Connection,
    subject: &MemorySubject,
) -> MemoryResult<Option<i64>> {
    let MemorySubject { tenant, user, agent } = subject;
    let mut query = db.prepare_cached(NUMBER)?;
    Ok(query.query_row([tenant, user, agent], |row| row.get(0)).optional()?)
}

pub(super) fn ensure_subject_number(db: &Connection, subject: &MemorySubject) -> MemoryResult<i64> {
    if let Some(number) = find_subject_number(db, subject)? {
        return Ok(number);
    }
    let MemorySubject { tenant, user, agent } = subject;
    db.prepare_cached(ADD)?.execute(params![tenant, user, agent])?;
    Ok(db.last_insert_rowid())
}

pub(super) fn load_subject(db: &Connection, number: i64) -> MemoryResult<MemorySubject> {
    let mut query = db.prepare_cached(SUBJECT)?;
    query
        .query_row([number], read_subject)
        .optional()?
        .ok_or_else(|| corrupt_error(format!("no subject with number {number}")))
}

/// Lists a user's subjects, one for each agent.
pub(super) fn list_user_subjects(
    db: &Connection,
    tenant: &str,
    user: &str,
) -> MemoryResult<Vec<MemorySubject>> {
    let mut query = db.prepare_cached(OF_USER)?;
    let rows = query.query_map([tenant, user], read_subject)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn read_subject(row: &Row<'_>) -> rusqlite::Result<MemorySubject> {
    Ok(MemorySubject { tenant: row.get(0)?, user: row.get(1)?, agent: row.get(2)? })
}

/// Reads a text column without copying it.
pub(super) fn read_text<'r>(row: &'r Row<'_>, column: usize) -> MemoryResult<&'r str> {
    row.get_ref(column)?.as_str().map_err(|error| corrupt_error(error.to_string()))
}
