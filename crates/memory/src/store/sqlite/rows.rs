//! SQL statements for rows with revisions. Their tables differ only in name and lookup columns.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Rows, params, params_from_iter};

use super::super::expired_rows::ExpiryFilter;
use super::super::revisioned_row::{LookupValue, RevisionedRow, compute_task_digest};
use super::super::row_codec::{decode_row, encode_row};
use super::super::row_store::{MemoryResult, RowPeriod};
use super::subjects::read_text;
use crate::record::{MemoryInsight, MemoryProcedure};

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

pub(super) fn build_period_sql<R: RevisionedRow>(earliest_first: bool) -> String {
    let (table, order) = (R::TABLE, if earliest_first { "ASC, id DESC" } else { "DESC, id ASC" });
    format!(
        "SELECT id, body FROM {table} WHERE subject = ?1 AND current = 1
            AND ordering >= ?2 AND ordering <= ?3
        ORDER BY ordering {order} LIMIT ?4"
    )
}

/// The index has the order of the rows, so that no more of them are read than are returned.
pub(super) const PROCEDURES_OF_TASK: &str = "SELECT id, body FROM procedures
    WHERE subject = ?1 AND task_digest = ?2 AND current = 1
    ORDER BY ordering DESC, id LIMIT ?3";
pub(super) const EXPIRED_INSIGHTS: &str = "SELECT id, body FROM insights
    WHERE subject = ?1 AND expires_at < ?2 AND current = 1";
pub(super) const INSIGHTS_ENDED_WITH_RUN: &str = "SELECT id, body FROM insights
    WHERE subject = ?1 AND expires_with_run = ?2 AND current = 1";

pub(super) fn build_remove_sql<R: RevisionedRow>() -> String {
    format!("DELETE FROM {} WHERE subject = ?1 AND id = ?2", R::TABLE)
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

pub(super) fn load_rows_between<R: RevisionedRow>(
    db: &Connection,
    subject: i64,
    period: RowPeriod,
    limit: usize,
) -> MemoryResult<Vec<R>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut query = db.prepare_cached(&build_period_sql::<R>(period.earliest_first))?;
    let params = params![subject, period.from.0, period.until.0, limit];
    let rows: Vec<(String, R)> = decode_rows(query.query(params)?)?;
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

pub(super) fn load_task_procedures(
    db: &Connection,
    subject: i64,
    task_type: &str,
    limit: usize,
) -> MemoryResult<Vec<MemoryProcedure>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut query = db.prepare_cached(PROCEDURES_OF_TASK)?;
    let rows =
        decode_rows(query.query(params![subject, compute_task_digest(task_type), limit])?)?;
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

pub(super) fn load_expired_insights(
    db: &Connection,
    subject: i64,
    filter: ExpiryFilter<'_>,
) -> MemoryResult<Vec<(String, MemoryInsight)>> {
    let mut query = db.prepare_cached(EXPIRED_INSIGHTS)?;
    let mut rows = decode_rows(query.query(params![subject, filter.now.0])?)?;
    if let Some(run) = filter.ended_run {
        let mut query = db.prepare_cached(INSIGHTS_ENDED_WITH_RUN)?;
        rows.extend(decode_rows(query.query(params![subject, run])?)?);
    }
    Ok(rows)
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
    let mut columns = String::new();
    let mut places = String::new();
    for (place, column) in (6..).zip(R::LOOKUP_COLUMNS) {
        columns.push_str(&format!(", {column}"));
        places.push_str(&format!(", ?{place}"));
    }
    let put = format!(
        "INSERT INTO {table} (subject, id, revision, current, ordering, body{columns})
        VALUES (?1, ?2, ?3, 1, ?4, ?5{places})"
    );
    let revision = i64::try_from(row.revision()).unwrap_or(i64::MAX);
    let mut values: Vec<Value> = vec![
        subject.into(),
        id.to_owned().into(),
        revision.into(),
        row.ordering().0.into(),
        encode_row(row)?.into(),
    ];
    values.extend(row.lookup_values().into_iter().map(|value| match value {
        LookupValue::Text(text) => text.into(),
        LookupValue::Integer(number) => number.into(),
    }));
    db.prepare_cached(&put)?.execute(params_from_iter(values))?;
    Ok(())
}

pub(super) fn remove_row<R: RevisionedRow>(
    db: &Connection,
    subject: i64,
    id: &str,
) -> MemoryResult<()> {
    db.prepare_cached(&build_remove_sql::<R>())?.execute(params![subject, id])?;
    Ok(())
}
