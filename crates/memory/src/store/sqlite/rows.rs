//! The statements on rows that are kept by revision. Their tables are alike; only the name differs.

use rusqlite::{Connection, OptionalExtension as _, Rows, params};

use super::super::body::{from_body, to_body};
use super::super::revised::Revised;
use super::super::shelves::Answer;
use super::subjects::text;
use crate::record::{Episode, Insight, Procedure, Summary, Working};

fn last<R: Revised>() -> String {
    let table = R::TABLE;
    format!(
        "SELECT body FROM {table} WHERE subject = ?1 AND id = ?2 ORDER BY revision DESC LIMIT 1"
    )
}

fn current<R: Revised>() -> String {
    let table = R::TABLE;
    format!(
        "SELECT id, body FROM {table} WHERE subject = ?1 AND current = 1
        ORDER BY ordering DESC, id LIMIT ?2"
    )
}

fn current_with<R: Revised>() -> String {
    let table = R::TABLE;
    format!(
        "SELECT id, body FROM {table} WHERE subject = ?1 AND current = 1 AND instr(body, ?2) > 0
        ORDER BY ordering DESC, id LIMIT ?3 OFFSET ?4"
    )
}

/// Makes the statements that a packet asks.
pub(super) fn make_ready(db: &Connection) -> Answer<()> {
    for sql in [last::<Working>(), last::<Summary>()] {
        db.prepare_cached(&sql)?;
    }
    for sql in [current_with::<Procedure>(), current::<Episode>(), current::<Insight>()] {
        db.prepare_cached(&sql)?;
    }
    Ok(())
}

pub(super) fn one<R: Revised>(
    db: &Connection,
    subject: i64,
    id: &str,
    revision: Option<u64>,
) -> Answer<Option<R>> {
    let table = R::TABLE;
    let body: Option<String> = match revision {
        None => db
            .prepare_cached(&last::<R>())?
            .query_row(params![subject, id], |row| row.get(0))
            .optional()?,
        Some(revision) => {
            let sql = format!(
                "SELECT body FROM {table} WHERE subject = ?1 AND id = ?2 AND revision = ?3"
            );
            let params = params![subject, id, i64::try_from(revision).unwrap_or(i64::MAX)];
            db.prepare_cached(&sql)?.query_row(params, |row| row.get(0)).optional()?
        }
    };
    body.as_deref().map(from_body).transpose()
}

pub(super) fn latest<R: Revised>(
    db: &Connection,
    subject: i64,
    limit: usize,
) -> Answer<Vec<(String, R)>> {
    let mut query = db.prepare_cached(&current::<R>())?;
    read(query.query(params![subject, i64::try_from(limit).unwrap_or(i64::MAX)])?)
}

/// Those in whose body a text stands, without the first so many.
pub(super) fn latest_with<R: Revised>(
    db: &Connection,
    subject: i64,
    text: &str,
    skip: usize,
    limit: usize,
) -> Answer<Vec<(String, R)>> {
    let [limit, skip] = [limit, skip].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
    let mut query = db.prepare_cached(&current_with::<R>())?;
    read(query.query(params![subject, text, limit, skip])?)
}

fn read<R: Revised>(mut rows: Rows<'_>) -> Answer<Vec<(String, R)>> {
    let mut read = Vec::new();
    while let Some(row) = rows.next()? {
        read.push((row.get(0)?, from_body(text(row, 1)?)?));
    }
    Ok(read)
}

pub(super) fn put<R: Revised>(db: &Connection, subject: i64, id: &str, row: &R) -> Answer<()> {
    let table = R::TABLE;
    let retire =
        format!("UPDATE {table} SET current = 0 WHERE subject = ?1 AND id = ?2 AND current = 1");
    db.prepare_cached(&retire)?.execute(params![subject, id])?;
    let put = format!(
        "INSERT INTO {table} (subject, id, revision, current, ordering, body)
        VALUES (?1, ?2, ?3, 1, ?4, ?5)"
    );
    let revision = i64::try_from(row.revision()).unwrap_or(i64::MAX);
    let ordering = row.ordering().0;
    db.prepare_cached(&put)?.execute(params![subject, id, revision, ordering, to_body(row)?])?;
    Ok(())
}

pub(super) fn remove<R: Revised>(db: &Connection, subject: i64, id: &str) -> Answer<()> {
    let sql = format!("DELETE FROM {} WHERE subject = ?1 AND id = ?2", R::TABLE);
    db.prepare_cached(&sql)?.execute(params![subject, id])?;
    Ok(())
}
