//! SQL statements for rows with revisions. Their tables differ only in name.

use rusqlite::{Connection, OptionalExtension as _, Rows, params};

use super::super::revisioned_row::RevisionedRow;
use super::super::row_codec::{decode_row, encode_row};
use super::super::row_store::MemoryResult;
use super::subjects::read_text;

fn build_last_revision_sql<R: RevisionedRow>() -> String {
    let table = R::TABLE;
    format!(
        "SELECT body FROM {table} WHERE subject = ?1 AND id = ?2 ORDER BY revision DESC LIMIT 1"
    )
}

fn build_current_rows_sql<R: RevisionedRow>() -> String {
    let table = R::TABLE;
    format!(
        "SELECT id, body FROM {table} WHERE subject = ?1 AND current = 1
        ORDER BY ordering DESC, id LIMIT ?2"
    )
}

fn build_rows_containing_sql<R: RevisionedRow>() -> String {
    let table = R::TABLE;
    format!(
        "SELECT id, body FROM {table} WHERE subject = ?1 AND current = 1 AND instr(body, ?2) > 0
        ORDER BY ordering DESC, id LIMIT ?3 OFFSET ?4"
    )
}

pub(super) fn load_row<R: RevisionedRow>(
    db: &Connection,
    subject: i64,
    id: &str,
    revision: Option<u64>,
) -> MemoryResult<Option<R>> {
    let table = R::TABLE;
    let body: Option<String> = match revision {
        None => db
            .prepare_cached(&build_last_revision_sql::<R>())?
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
    body.as_deref().map(decode_row).transpose()
}

pub(super) fn load_latest_rows<R: RevisionedRow>(
    db: &Connection,
    subject: i64,
    limit: usize,
) -> MemoryResult<Vec<(String, R)>> {
    let mut query = db.prepare_cached(&build_current_rows_sql::<R>())?;
    decode_rows(query.query(params![subject, i64::try_from(limit).unwrap_or(i64::MAX)])?)
}

/// Loads rows whose body contains a text, after skipping the first `skip`.
pub(super) fn load_latest_rows_containing<R: RevisionedRow>(
    db: &Connection,
    subject: i64,
    text: &str,
    skip: usize,
    limit: usize,
) -> MemoryResult<Vec<(String, R)>> {
    let [limit, skip] = [limit, skip].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
    let mut query = db.prepare_cached(&build_rows_containing_sql::<R>())?;
    decode_rows(query.query(params![subject, text, limit, skip])?)
}

fn decode_rows<R: RevisionedRow>(mut rows: Rows<'_>) -> MemoryResult<Vec<(String, R)>> {
    let mut read = Vec::new();
    while let Some(row) = rows.next()? {
        read.push((row.get(0)?, decode_row(read_text(row, 1)?)?));
    }
    Ok(read)
}

pub(super) fn put_row<R: RevisionedRow>(
    db: &Connection,
    subject: i64,
    id: &str,
    row: &R,
) -> MemoryResult<()> {
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
    db.prepare_cached(&put)?.execute(params![subject, id, revision, ordering, encode_row(row)?])?;
    Ok(())
}

pub(super) fn remove_row<R: RevisionedRow>(
    db: &Connection,
    subject: i64,
    id: &str,
) -> MemoryResult<()> {
    let sql = format!("DELETE FROM {} WHERE subject = ?1 AND id = ?2", R::TABLE);
    db.prepare_cached(&sql)?.execute(params![subject, id])?;
    Ok(())
}
