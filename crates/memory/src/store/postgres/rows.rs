//! SQL statements for rows with revisions. Their tables differ only in name.

use super::super::revisioned_row::RevisionedRow;
use super::super::row_codec::{decode_row, encode_row};
use super::super::row_store::MemoryResult;
use super::subject_rows::{SubjectRows, is_storable_text, read_column, to_sql_limit};

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

/// Loads rows whose body contains a text, after skipping the first `skip`.
pub(super) fn load_latest_rows_containing<R: RevisionedRow>(
    shelf: &SubjectRows<'_>,
    text: &str,
    skip: usize,
    limit: usize,
) -> MemoryResult<Vec<(String, R)>> {
    if !is_storable_text(text) {
        return Ok(Vec::new());
    }
    let (limit, skip) = (to_sql_limit(limit), to_sql_limit(skip));
    let sql = format!(
        "SELECT id, body FROM countersign.memory_{} WHERE tenant = $1 AND subject = $2 AND current
            AND strpos(body, $3) > 0 ORDER BY ordering DESC, id LIMIT $4 OFFSET $5",
        R::TABLE
    );
    let rows = shelf
        .query(shelf.build_statement(&sql).bind_text(&text).bind_int8(&limit).bind_int8(&skip))?;
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
    let put = format!(
        "INSERT INTO countersign.memory_{table}
            (tenant, subject, id, revision, current, ordering, body)
        VALUES ($1, $2, $3, $4, true, $5, $6)"
    );
    let (body, ordering) = (encode_row(row)?, row.ordering().0);
    let revision = i64::try_from(row.revision()).unwrap_or(i64::MAX);
    let put = shelf
        .build_statement(&put)
        .bind_text(&id)
        .bind_int8(&revision)
        .bind_int8(&ordering)
        .bind_text(&body);
    shelf.query_all(&[shelf.build_statement(&retire).bind_text(&id), put]).map(drop)
}

pub(super) fn remove_row<R: RevisionedRow>(shelf: &SubjectRows<'_>, id: &str) -> MemoryResult<()> {
    let sql = format!(
        "DELETE FROM countersign.memory_{} WHERE tenant = $1 AND subject = $2 AND id = $3",
        R::TABLE
    );
    shelf.query(shelf.build_statement(&sql).bind_text(&id)).map(drop)
}
