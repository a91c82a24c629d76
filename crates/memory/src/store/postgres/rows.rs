//! The statements on rows that are kept by revision. Their tables are alike; only the name differs.

use super::super::body::{from_body, to_body};
use super::super::revised::Revised;
use super::super::shelves::Answer;
use super::shelf::{Shelf, get, is_text, most};

pub(super) fn one<R: Revised>(
    shelf: &Shelf<'_>,
    id: &str,
    revision: Option<u64>,
) -> Answer<Option<R>> {
    if !is_text(id) {
        return Ok(None);
    }
    let revision = revision.map(|revision| i64::try_from(revision).unwrap_or(i64::MAX));
    let sql = format!(
        "SELECT body FROM countersign.memory_{} WHERE tenant = $1 AND subject = $2 AND id = $3
            AND ($4::bigint IS NULL OR revision = $4) ORDER BY revision DESC LIMIT 1",
        R::TABLE
    );
    let rows = shelf.ask(shelf.call(&sql).text(&id).number(&revision))?;
    rows.first().map(|row| from_body(get(row, 0)?)).transpose()
}

pub(super) fn latest<R: Revised>(shelf: &Shelf<'_>, limit: usize) -> Answer<Vec<(String, R)>> {
    let limit = most(limit);
    let sql = format!(
        "SELECT id, body FROM countersign.memory_{} WHERE tenant = $1 AND subject = $2 AND current
        ORDER BY ordering DESC, id LIMIT $3",
        R::TABLE
    );
    let rows = shelf.ask(shelf.call(&sql).number(&limit))?;
    rows.iter().map(|row| Ok((get(row, 0)?, from_body(get(row, 1)?)?))).collect()
}

/// Those in whose body a text stands, without the first so many.
pub(super) fn latest_with<R: Revised>(
    shelf: &Shelf<'_>,
    text: &str,
    skip: usize,
    limit: usize,
) -> Answer<Vec<(String, R)>> {
    if !is_text(text) {
        return Ok(Vec::new());
    }
    let (limit, skip) = (most(limit), most(skip));
    let sql = format!(
        "SELECT id, body FROM countersign.memory_{} WHERE tenant = $1 AND subject = $2 AND current
            AND strpos(body, $3) > 0 ORDER BY ordering DESC, id LIMIT $4 OFFSET $5",
        R::TABLE
    );
    let rows = shelf.ask(shelf.call(&sql).text(&text).number(&limit).number(&skip))?;
    rows.iter().map(|row| Ok((get(row, 0)?, from_body(get(row, 1)?)?))).collect()
}

pub(super) fn put<R: Revised>(shelf: &Shelf<'_>, id: &str, row: &R) -> Answer<()> {
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
    let (body, ordering) = (to_body(row)?, row.ordering().0);
    let revision = i64::try_from(row.revision()).unwrap_or(i64::MAX);
    let put = shelf.call(&put).text(&id).number(&revision).number(&ordering).text(&body);
    shelf.ask_all(&[shelf.call(&retire).text(&id), put]).map(drop)
}

pub(super) fn remove<R: Revised>(shelf: &Shelf<'_>, id: &str) -> Answer<()> {
    let sql = format!(
        "DELETE FROM countersign.memory_{} WHERE tenant = $1 AND subject = $2 AND id = $3",
        R::TABLE
    );
    shelf.ask(shelf.call(&sql).text(&id)).map(drop)
}
