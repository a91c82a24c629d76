//! SQL statements for builds and their rows.

use std::collections::BTreeSet;

use tokio_postgres::types::Type;

use super::super::memory_error::corrupt_error;
use super::super::repair_facts::fact_row_kind;
use super::super::row_codec::{decode_row, encode_row};
use super::super::row_store::MemoryResult;
use super::super::{BuildRow, BuildRowKind, PacketBuild};
use super::subject_rows::{SubjectRows, is_storable_text, read_column, to_sql_limit};
use crate::MemorySubject;

const PUT: &str = "INSERT INTO countersign.memory_context_builds
    (tenant, subject, id, session, built_at, body) VALUES ($1, $2, $3, $4, $5, $6)";
const PUT_ROWS: &str = "INSERT INTO countersign.memory_build_rows
        (tenant, subject, build, number, kind, id, revision, selected, score)
    SELECT $1, $2, $3, new.place, new.kind, new.id, new.revision, new.selected, new.score
    FROM unnest($4::text[], $5::text[], $6::bigint[], $7::boolean[], $8::text[])
        WITH ORDINALITY AS new (kind, id, revision, selected, score, place)";
pub(super) const ONE: &str = "SELECT body FROM countersign.memory_context_builds
    WHERE tenant = $1 AND subject = $2 AND id = $3";
pub(super) const ROWS: &str =
    "SELECT kind, id, revision, selected, score FROM countersign.memory_build_rows
    WHERE tenant = $1 AND subject = $2 AND build = $3 ORDER BY number";
const EARLIER: &str = "SELECT id FROM countersign.memory_context_builds
    WHERE tenant = $1 AND subject = $2 AND session = $3 AND (built_at, id) < ($4, $5)
    ORDER BY built_at DESC, id DESC LIMIT $6";
const SELECTED: &str = "SELECT DISTINCT kind, id FROM countersign.memory_build_rows
    WHERE tenant = $1 AND subject = $2 AND selected";
pub(super) const USED: &str = "SELECT asked.id FROM unnest($3::text[]) AS asked (id)
    CROSS JOIN LATERAL (SELECT FROM countersign.memory_build_rows AS used
        WHERE used.tenant = $1 AND used.id = asked.id AND used.subject = $2 LIMIT 1) AS found";
pub(super) const REDACT_ID: &str = "UPDATE countersign.memory_build_rows AS used SET id = ''
    WHERE used.tenant = $1 AND used.id = $3 AND used.kind = $4
        AND EXISTS (SELECT FROM countersign.memory_subjects AS owner
            WHERE owner.tenant = $1 AND owner.number = used.subject
                AND $5 IN ('', owner.user_id) AND $6 IN ('', owner.agent))";

pub(super) fn put_build(shelf: &SubjectRows<'_>, build: &PacketBuild) -> MemoryResult<()> {
    let body = encode_row(&PacketBuild { rows: Vec::new(), ..build.clone() })?;
    let (session, built_at) = (build.request.scope.session(), build.built_at.0);
    let kinds: Vec<&str> = build.rows.iter().map(|row| row.kind.name()).collect();
    let ids: Vec<&str> = build.rows.iter().map(|row| &*row.id).collect();
    let revision = |row: &BuildRow| i64::try_from(row.revision).unwrap_or(i64::MAX);
    let revisions: Vec<i64> = build.rows.iter().map(revision).collect();
    let selected: Vec<bool> = build.rows.iter().map(|row| row.selected).collect();
    let scores: MemoryResult<Vec<String>> =
        build.rows.iter().map(|row| encode_row(&row.score)).collect();
    let scores = scores?;
    let put = shelf
        .build_statement(PUT)
        .bind_text(&build.id)
        .bind_text(&session)
        .bind_int8(&built_at)
        .bind_text(&body);
    let rows = shelf.build_statement(PUT_ROWS).bind_text(&build.id).bind(&kinds, Type::TEXT_ARRAY);
    let rows = rows.bind(&ids, Type::TEXT_ARRAY).bind(&revisions, Type::INT8_ARRAY);
    let rows = rows.bind(&selected, Type::BOOL_ARRAY).bind(&scores, Type::TEXT_ARRAY);
    shelf.query_all(&[put, rows]).map(drop)
}

pub(super) fn load_build(shelf: &SubjectRows<'_>, id: &str) -> MemoryResult<Option<PacketBuild>> {
    if !is_storable_text(id) {
        return Ok(None);
    }
    let answers = shelf.query_all(&[
        shelf.build_statement(ONE).bind_text(&id),
        shelf.build_statement(ROWS).bind_text(&id),
    ])?;
    let [found, rows] = &answers[..] else { return Ok(None) };
    let Some(row) = found.first() else { return Ok(None) };
    let mut build: PacketBuild = decode_row(read_column(row, 0)?)?;
    for row in rows {
        build.rows.push(BuildRow {
            kind: parse_row_kind(read_column(row, 0)?)?,
            id: read_column(row, 1)?,
            revision: read_column::<i64>(row, 2)? as u64,
            selected: read_column(row, 3)?,
            score: decode_row(read_column(row, 4)?)?,
        });
    }
    Ok(Some(build))
}

/// Returns the ids of earlier builds of the same session, latest first.
pub(super) fn load_earlier_build_ids(
    shelf: &SubjectRows<'_>,
    build: &PacketBuild,
    limit: usize,
) -> MemoryResult<Vec<String>> {
    let (session, built_at) = (build.request.scope.session(), build.built_at.0);
    let limit = to_sql_limit(limit);
    let call = shelf
        .build_statement(EARLIER)
        .bind_text(&session)
        .bind_int8(&built_at)
        .bind_text(&build.id);
    shelf.query(call.bind_int8(&limit))?.iter().map(|row| read_column(row, 0)).collect()
}

pub(super) fn load_selected_ids(
    shelf: &SubjectRows<'_>,
) -> MemoryResult<BTreeSet<(BuildRowKind, String)>> {
    let rows = shelf.query(shelf.build_statement(SELECTED))?;
    rows.iter()
        .map(|row| Ok((parse_row_kind(read_column(row, 0)?)?, read_column(row, 1)?)))
        .collect()
}

/// Returns which of these ids a build has used.
pub(super) fn find_used_ids(
    shelf: &SubjectRows<'_>,
    ids: &[&str],
) -> MemoryResult<BTreeSet<String>> {
    let rows = shelf.query(shelf.build_statement(USED).bind(&ids, Type::TEXT_ARRAY))?;
    rows.iter().map(|row| read_column(row, 0)).collect()
}

/// Removes the ids of an owner's facts from the builds of every subject that can see them.
pub(super) fn redact_ids(
    shelf: &SubjectRows<'_>,
    holder: &MemorySubject,
    ids: &[&str],
) -> MemoryResult<()> {
    let kind = fact_row_kind(holder).name();
    let calls = ids.iter().map(|id| {
        let call = shelf.build_statement(REDACT_ID).bind_text(id).bind_text(&kind);
        call.bind_text(&holder.user).bind_text(&holder.agent)
    });
    shelf.query_all(&calls.collect::<Vec<_>>()).map(drop)
}

fn parse_row_kind(name: &str) -> MemoryResult<BuildRowKind> {
    BuildRowKind::from_name(name).ok_or_else(|| corrupt_error(format!("unknown row kind `{name}`")))
}
