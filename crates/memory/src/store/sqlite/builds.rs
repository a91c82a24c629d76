//! SQL statements for builds and their rows.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::super::memory_error::corrupt_error;
use super::super::repair_facts::fact_row_kind;
use super::super::row_codec::{decode_row, encode_row};
use super::super::row_store::MemoryResult;
use super::super::{BuildRow, BuildRowKind, PacketBuild};
use crate::MemorySubject;

const PUT: &str = "INSERT INTO context_builds (subject, id, body, session, built_at)
    VALUES (?1, ?2, ?3, ?4, ?5)";
const PUT_ROW: &str =
    "INSERT INTO build_rows (subject, build, number, kind, id, revision, selected, score)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
pub(super) const ONE: &str = "SELECT body FROM context_builds WHERE subject = ?1 AND id = ?2";
pub(super) const ROWS: &str = "SELECT kind, id, revision, selected, score FROM build_rows
    WHERE subject = ?1 AND build = ?2 ORDER BY number";
const EARLIER: &str = "SELECT id FROM context_builds
    WHERE subject = ?1 AND session = ?2 AND (built_at, id) < (?3, ?4)
    ORDER BY built_at DESC, id DESC LIMIT ?5";
const SELECTED: &str =
    "SELECT DISTINCT kind, id FROM build_rows WHERE subject = ?1 AND selected = 1";
pub(super) const USED: &str = "SELECT 1 FROM build_rows WHERE id = ?1 AND subject = ?2 LIMIT 1";
pub(super) const REDACT_ID: &str = "UPDATE build_rows SET id = '' WHERE id = ?1 AND kind = ?2
    AND EXISTS (SELECT 1 FROM subjects WHERE number = build_rows.subject
        AND tenant = ?3 AND ?4 IN ('', user) AND ?5 IN ('', agent))";

pub(super) fn put_build(db: &Connection, subject: i64, build: &PacketBuild) -> MemoryResult<()> {
    let body = encode_row(&PacketBuild { rows: Vec::new(), ..build.clone() })?;
    let (session, built_at) = (build.request.scope.session(), build.built_at.0);
    db.prepare_cached(PUT)?.execute(params![subject, build.id, body, session, built_at])?;
    let mut put = db.prepare_cached(PUT_ROW)?;
    for (number, row) in (0_i64..).zip(&build.rows) {
        let BuildRow { kind, id, revision, score, selected } = row;
        let revision = i64::try_from(*revision).unwrap_or(i64::MAX);
        let score = encode_row(score)?;
        put.execute(params![
            subject,
            build.id,
            number,
            kind.name(),
            id,
            revision,
            selected,
            score
        ])?;
    }
    Ok(())
}

pub(super) fn load_build(
    db: &Connection,
    subject: i64,
    id: &str,
) -> MemoryResult<Option<PacketBuild>> {
    let body: Option<String> =
        db.prepare_cached(ONE)?.query_row(params![subject, id], |row| row.get(0)).optional()?;
    let Some(body) = body else { return Ok(None) };
    let mut build: PacketBuild = decode_row(&body)?;
    let mut query = db.prepare_cached(ROWS)?;
    let mut rows = query.query(params![subject, id])?;
    while let Some(row) = rows.next()? {
        let (kind_name, score): (String, String) = (row.get(0)?, row.get(4)?);
        build.rows.push(BuildRow {
            kind: parse_row_kind(&kind_name)?,
            id: row.get(1)?,
            revision: row.get::<_, i64>(2)? as u64,
            selected: row.get(3)?,
            score: decode_row(&score)?,
        });
    }
    Ok(Some(build))
}

/// Returns the ids of earlier builds of the same session, latest first.
pub(super) fn load_earlier_build_ids(
    db: &Connection,
    subject: i64,
    build: &PacketBuild,
    limit: usize,
) -> MemoryResult<Vec<String>> {
    let (session, built_at) = (build.request.scope.session(), build.built_at.0);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut query = db.prepare_cached(EARLIER)?;
    let rows =
        query.query_map(params![subject, session, built_at, build.id, limit], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn load_selected_ids(
    db: &Connection,
    subject: i64,
) -> MemoryResult<BTreeSet<(BuildRowKind, String)>> {
    let mut query = db.prepare_cached(SELECTED)?;
    let mut rows = query.query([subject])?;
    let mut selected = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        selected.insert((parse_row_kind(&name)?, row.get(1)?));
    }
    Ok(selected)
}

/// Returns which of these ids a build has used.
pub(super) fn find_used_ids(
    db: &Connection,
    subject: i64,
    ids: &[&str],
) -> MemoryResult<BTreeSet<String>> {
    let mut query = db.prepare_cached(USED)?;
    let mut used = BTreeSet::new();
    for id in ids {
        if query.exists(params![id, subject])? {
            used.insert((*id).to_owned());
        }
    }
    Ok(used)
}

/// Removes the ids of an owner's facts from the builds of every subject that can see them.
pub(super) fn redact_ids(
    db: &Connection,
    holder: &MemorySubject,
    ids: &[&str],
) -> MemoryResult<()> {
    let MemorySubject { tenant, user, agent } = holder;
    let kind = fact_row_kind(holder).name();
    let mut redact = db.prepare_cached(REDACT_ID)?;
    for id in ids {
        redact.execute(params![id, kind, tenant, user, agent])?;
    }
    Ok(())
}

fn parse_row_kind(name: &str) -> MemoryResult<BuildRowKind> {
    BuildRowKind::from_name(name).ok_or_else(|| corrupt_error(format!("unknown row kind `{name}`")))
}
