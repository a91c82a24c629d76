//! SQL statements for rows with revisions. Their tables differ only in name and lookup columns.

use super::super::expired_rows::ExpiryFilter;
use super::super::revisioned_row::{LookupValue, RevisionedRow, compute_task_digest};
use super::super::row_codec::{decode_row, encode_row};
use super::super::row_store::{MemoryResult, RowPeriod};
use super::subject_rows::{SubjectRows, is_storable_text, read_column, to_sql_limit};
use crate::record::{MemoryInsight, MemoryProcedure};

/// The index has the order of the rows, so that no more of them are read than are returned.
pub(super) const PROCEDURES_OF_TASK: &str = "SELECT body FROM countersign.memory_procedures
    WHERE tenant = $1 AND subject = $2 AND task_digest = $3 AND current
    ORDER BY ordering DESC, id LIMIT $4";
pub(super) const EXPIRED_INSIGHTS: &str = "SELECT id, body FROM countersign.memory_insights
    WHERE tenant = $1 AND subject = $2 AND expires_at < $3 AND current";
pub(super) const INSIGHTS_ENDED_WITH_RUN: &str = "SELECT id, body FROM countersign.memory_insights
    WHERE tenant = $1 AND subject = $2 AND expires_with_run = $3 AND current";

pub(super) fn build_remove_sql<R: RevisionedRow>() -> String {
    format!(
        "DELETE FROM countersign.memory_{} WHERE tenant = $1 AND subject = $2 AND id = $3",
        R::TABLE
    )
}

pub(super) fn load_row<R: RevisionedRow>(
    shelf: &SubjectRows<'_>,
    id: &str,
    revision: Option<u64>,
) -> MemoryResult<Option<R>> {
    if !is_storable_text(id) {
        return Ok(None);
    }
    let revision = revision.map(|revision| i64::try_from(revision).unwrap_or(i64::MAX));
    let sql = format!(
        "SELECT body FROM countersign.memory_{} WHERE tenant = $1 AND subject = $2 AND id = $3
            AND ($4::bigint IS NULL OR revision = $4) ORDER BY revision DESC LIMIT 1",
        R::TABLE
    );
    let rows = shelf.query(shelf.build_statement(&sql).bind_text(&id).bind_int8(&revision))?;
    rows.first().map(|row| decode_row(read_column(row, 0)?)).transpose()
}

pub(super) fn load_latest_rows<R: RevisionedRow>(
    shelf: &SubjectRows<'_>,
    limit: usize,
) -> MemoryResult<Vec<(String, R)>> {
    let limit = to_sql_limit(limit);
    let sql = format!(
        "SELECT id, body FROM countersign.memory_{} WHERE tenant = $1 AND subject = $2 AND current
        ORDER BY ordering DESC, id LIMIT $3",
        R::TABLE
    );
    let rows = shelf.query(shelf.build_statement(&sql).bind_int8(&limit))?;
    rows.iter().map(|row| Ok((read_column(row, 0)?, decode_row(read_column(row, 1)?)?))).collect()
}

pub(super) fn build_period_sql<R: RevisionedRow>(earliest_first: bool) -> String {
    let (table, order) = (R::TABLE, if earliest_first { "ASC, id DESC" } else { "DESC, id ASC" });
    format!(
        "SELECT body FROM countersign.memory_{table}
        WHERE tenant = $1 AND subject = $2 AND current AND ordering >= $3 AND ordering <= $4
        ORDER BY ordering {order} LIMIT $5"
    )
}

pub(super) fn load_rows_between<R: RevisionedRow>(
    shelf: &SubjectRows<'_>,
    period: RowPeriod,
    limit: usize,
) -> MemoryResult<Vec<R>> {
    let (sql, limit) = (build_period_sql::<R>(period.earliest_first), to_sql_limit(limit));
    let call = shelf
        .build_statement(&sql)
        .bind_int8(&period.from.0)
        .bind_int8(&period.until.0)
        .bind_int8(&limit);
    shelf.query(call)?.iter().map(|row| decode_row(read_column(row, 0)?)).collect()
}

pub(super) fn load_task_procedures(
    shelf: &SubjectRows<'_>,
    task_type: &str,
    limit: usize,
) -> MemoryResult<Vec<MemoryProcedure>> {
    let (digest, limit) = (compute_task_digest(task_type), to_sql_limit(limit));
    let call = shelf.build_statement(PROCEDURES_OF_TASK).bind_text(&digest).bind_int8(&limit);
    shelf.query(call)?.iter().map(|row| decode_row(read_column(row, 0)?)).collect()
}

pub(super) fn load_expired_insights(
    shelf: &SubjectRows<'_>,
    filter: ExpiryFilter<'_>,
) -> MemoryResult<Vec<(String, MemoryInsight)>> {
    let rows = shelf.query_expired(EXPIRED_INSIGHTS, INSIGHTS_ENDED_WITH_RUN, filter)?;
    rows.iter().map(|row| Ok((read_column(row, 0)?, decode_row(read_column(row, 1)?)?))).collect()
}

pub(super) fn put_row<R: RevisionedRow>(
    shelf: &SubjectRows<'_>,
    id: &str,
    row: &R,
) -> MemoryResult<()> {
    let table = R::TABLE;
    let retire = format!(
        "UPDATE countersign.memory_{table} SET current = false
        WHERE tenant = $1 AND subject = $2 AND id = $3 AND current"
    );
    let mut columns = String::new();
    let mut places = String::new();
    for (place, column) in (7..).zip(R::LOOKUP_COLUMNS) {
        columns.push_str(&format!(", {column}"));
        places.push_str(&format!(", ${place}"));
    }
    let put = format!(
        "INSERT INTO countersign.memory_{table}
            (tenant, subject, id, revision, current, ordering, body{columns})
        VALUES ($1, $2, $3, $4, true, $5, $6{places})"
    );
    let (body, ordering) = (encode_row(row)?, row.ordering().0);
    let revision = i64::try_from(row.revision()).unwrap_or(i64::MAX);
    let lookups = row.lookup_values();
    let mut put = shelf
        .build_statement(&put)
        .bind_text(&id)
        .bind_int8(&revision)
        .bind_int8(&ordering)
        .bind_text(&body);
    for value in &lookups {
        put = match value {
            LookupValue::Text(text) => put.bind_text(text),
            LookupValue::Integer(number) => put.bind_int8(number),
        };
    }
    shelf.query_all(&[shelf.build_statement(&retire).bind_text(&id), put]).map(drop)
}

pub(super) fn remove_row<R: RevisionedRow>(shelf: &SubjectRows<'_>, id: &str) -> MemoryResult<()> {
    shelf.query(shelf.build_statement(&build_remove_sql::<R>()).bind_text(&id)).map(drop)
}
