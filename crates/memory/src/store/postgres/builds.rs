//! The statements on builds and their rows.

use std::collections::BTreeSet;

use tokio_postgres::types::Type;

use super::super::body::{from_body, to_body};
use super::super::error::corrupt;
use super::super::gone::kind_of;
use super::super::shelves::Answer;
use super::super::{Build, BuildRow, RowKind};
use super::shelf::{Shelf, get, is_text, most};
use crate::Subject;

const PUT: &str = "INSERT INTO countersign.memory_context_builds
    (tenant, subject, id, session, built_at, body) VALUES ($1, $2, $3, $4, $5, $6)";
const PUT_ROWS: &str = "INSERT INTO countersign.memory_build_rows
        (tenant, subject, build, number, kind, id, revision, selected, score)
    SELECT $1, $2, $3, new.place, new.kind, new.id, new.revision, new.selected, new.score
    FROM unnest($4::text[], $5::text[], $6::bigint[], $7::boolean[], $8::text[])
        WITH ORDINALITY AS new (kind, id, revision, selected, score, place)";
const ONE: &str = "SELECT body FROM countersign.memory_context_builds
    WHERE tenant = $1 AND subject = $2 AND id = $3";
const ROWS: &str = "SELECT kind, id, revision, selected, score FROM countersign.memory_build_rows
    WHERE tenant = $1 AND subject = $2 AND build = $3 ORDER BY number";
const EARLIER: &str = "SELECT id FROM countersign.memory_context_builds
    WHERE tenant = $1 AND subject = $2 AND session = $3 AND (built_at, id) < ($4, $5)
    ORDER BY built_at DESC, id DESC LIMIT $6";
const SELECTED: &str = "SELECT DISTINCT kind, id FROM countersign.memory_build_rows
    WHERE tenant = $1 AND subject = $2 AND selected";
const USED: &str = "SELECT DISTINCT id FROM countersign.memory_build_rows
    WHERE tenant = $1 AND subject = $2 AND id = ANY ($3)";
const UNNAME: &str = "UPDATE countersign.memory_build_rows SET id = ''
    WHERE tenant = $1 AND kind = $3 AND id = ANY ($4) AND subject IN (
        SELECT number FROM countersign.memory_subjects
        WHERE tenant = $1 AND $5 IN ('', user_id) AND $6 IN ('', agent))";

pub(super) fn put(shelf: &Shelf<'_>, build: &Build) -> Answer<()> {
    let body = to_body(&Build { rows: Vec::new(), ..build.clone() })?;
    let (session, built_at) = (build.request.scope.session(), build.built_at.0);
    let kinds: Vec<&str> = build.rows.iter().map(|row| row.kind.name()).collect();
    let ids: Vec<&str> = build.rows.iter().map(|row| &*row.id).collect();
    let revision = |row: &BuildRow| i64::try_from(row.revision).unwrap_or(i64::MAX);
    let revisions: Vec<i64> = build.rows.iter().map(revision).collect();
    let selected: Vec<bool> = build.rows.iter().map(|row| row.selected).collect();
    let scores: Answer<Vec<String>> = build.rows.iter().map(|row| to_body(&row.score)).collect();
    let scores = scores?;
    let put = shelf.call(PUT).text(&build.id).text(&session).number(&built_at).text(&body);
    let rows = shelf.call(PUT_ROWS).text(&build.id).with(&kinds, Type::TEXT_ARRAY);
    let rows = rows.with(&ids, Type::TEXT_ARRAY).with(&revisions, Type::INT8_ARRAY);
    let rows = rows.with(&selected, Type::BOOL_ARRAY).with(&scores, Type::TEXT_ARRAY);
    shelf.ask_all(&[put, rows]).map(drop)
}

pub(super) fn one(shelf: &Shelf<'_>, id: &str) -> Answer<Option<Build>> {
    if !is_text(id) {
        return Ok(None);
    }
    let answers = shelf.ask_all(&[shelf.call(ONE).text(&id), shelf.call(ROWS).text(&id)])?;
    let [found, rows] = &answers[..] else { return Ok(None) };
    let Some(row) = found.first() else { return Ok(None) };
    let mut build: Build = from_body(get(row, 0)?)?;
    for row in rows {
        build.rows.push(BuildRow {
            kind: kind(get(row, 0)?)?,
            id: get(row, 1)?,
            revision: get::<i64>(row, 2)? as u64,
            selected: get(row, 3)?,
            score: from_body(get(row, 4)?)?,
        });
    }
    Ok(Some(build))
}

/// The builds of a session before one of them, the latest first.
pub(super) fn earlier(shelf: &Shelf<'_>, build: &Build, limit: usize) -> Answer<Vec<String>> {
    let (session, built_at) = (build.request.scope.session(), build.built_at.0);
    let limit = most(limit);
    let call = shelf.call(EARLIER).text(&session).number(&built_at).text(&build.id);
    shelf.ask(call.number(&limit))?.iter().map(|row| get(row, 0)).collect()
}

pub(super) fn selected(shelf: &Shelf<'_>) -> Answer<BTreeSet<(RowKind, String)>> {
    let rows = shelf.ask(shelf.call(SELECTED))?;
    rows.iter().map(|row| Ok((kind(get(row, 0)?)?, get(row, 1)?))).collect()
}

/// Which of these ids were looked at for a build.
pub(super) fn used(shelf: &Shelf<'_>, ids: &[&str]) -> Answer<BTreeSet<String>> {
    let rows = shelf.ask(shelf.call(USED).with(&ids, Type::TEXT_ARRAY))?;
    rows.iter().map(|row| get(row, 0)).collect()
}

/// Takes the ids of a holder's facts out of every build of those who see them.
pub(super) fn unname(shelf: &Shelf<'_>, holder: &Subject, ids: &[&str]) -> Answer<()> {
    let kind = kind_of(holder).name();
    let call = shelf.call(UNNAME).text(&kind).with(&ids, Type::TEXT_ARRAY);
    shelf.ask(call.text(&holder.user).text(&holder.agent)).map(drop)
}

fn kind(name: &str) -> Answer<RowKind> {
    RowKind::named(name).ok_or_else(|| corrupt(format!("no kind of row `{name}`")))
}
