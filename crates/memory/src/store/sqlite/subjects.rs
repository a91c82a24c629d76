//! Numbers that stand for subjects. A number never stands for two.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::super::error::corrupt;
use super::super::shelves::Answer;
use crate::Subject;

const NUMBER: &str = "SELECT number FROM subjects WHERE tenant = ?1 AND user = ?2 AND agent = ?3";
const ADD: &str = "INSERT INTO subjects (tenant, user, agent) VALUES (?1, ?2, ?3)";
const SUBJECT: &str = "SELECT tenant, user, agent FROM subjects WHERE number = ?1";
const OF_USER: &str = "SELECT tenant, user, agent FROM subjects WHERE tenant = ?1 AND user = ?2";

pub(super) fn number(db: &Connection, subject: &Subject) -> Answer<Option<i64>> {
    let Subject { tenant, user, agent } = subject;
    let mut query = db.prepare_cached(NUMBER)?;
    Ok(query.query_row([tenant, user, agent], |row| row.get(0)).optional()?)
}

pub(super) fn number_or_new(db: &Connection, subject: &Subject) -> Answer<i64> {
    if let Some(number) = number(db, subject)? {
        return Ok(number);
    }
    let Subject { tenant, user, agent } = subject;
    db.prepare_cached(ADD)?.execute(params![tenant, user, agent])?;
    Ok(db.last_insert_rowid())
}

pub(super) fn subject(db: &Connection, number: i64) -> Answer<Subject> {
    let mut query = db.prepare_cached(SUBJECT)?;
    query
        .query_row([number], read)
        .optional()?
        .ok_or_else(|| corrupt(format!("no subject with number {number}")))
}

/// A user with every agent.
pub(super) fn of_user(db: &Connection, tenant: &str, user: &str) -> Answer<Vec<Subject>> {
    let mut query = db.prepare_cached(OF_USER)?;
    let rows = query.query_map([tenant, user], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Subject> {
    Ok(Subject { tenant: row.get(0)?, user: row.get(1)?, agent: row.get(2)? })
}

/// A text of a row, read where it lies.
pub(super) fn text<'r>(row: &'r Row<'_>, column: usize) -> Answer<&'r str> {
    row.get_ref(column)?.as_str().map_err(|error| corrupt(error.to_string()))
}
