//! SQL statements for facts and their evidence.

use std::collections::BTreeMap;

use countersign_shipped_contracts::memory::long_term::FactStatus;
use countersign_store::SqlStatement;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::super::row_codec::{decode_row, encode_row};
use super::super::row_store::{FactFilter, MemoryResult};
use super::subject_rows::{SubjectRows, is_storable_text, read_column, read_count, to_sql_limit};
use crate::MemorySubject;
use crate::record::{FactEvidence, MemoryFact};
use crate::rules::FactRevision;

/// Includes the subject that claimed each fact.
const COLUMNS: &str = "SELECT fact.id, fact.revision, fact.origin, by.user_id, by.agent, fact.body
    FROM countersign.memory_facts AS fact
        JOIN countersign.memory_subjects AS by ON by.tenant = $1 AND by.number = fact.claimed_by
    WHERE fact.tenant = $1 AND fact.subject = $2";
const ONE: &str = "AND fact.id = $3 AND ($4::bigint IS NULL OR fact.revision = $4)
    ORDER BY fact.revision DESC LIMIT 1";
const BY_KEY: &str =
    "AND md5(fact.key) = md5($3) AND fact.key = $3 AND fact.current AND fact.in_force
    ORDER BY fact.recorded_at DESC, fact.id";
const IN_FORCE: &str = "AND fact.current AND fact.in_force
    ORDER BY fact.recorded_at DESC, fact.id LIMIT $3";
const SUPERSEDED: &str = "AND fact.current AND NOT fact.in_force
    ORDER BY fact.recorded_at DESC, fact.id LIMIT $3";
const ALL: &str = "AND fact.current ORDER BY fact.recorded_at DESC, fact.id";
/// `OFFSET 0` keeps the server from joining the tables in another way.
pub(super) const EVIDENCE: &str = "SELECT piece.fact, piece.revision, source.user_id, source.agent,
        piece.event, piece.quote
    FROM unnest($3::text[], $4::bigint[]) AS asked (fact, revision)
        CROSS JOIN LATERAL (SELECT * FROM countersign.memory_fact_evidence AS piece
            WHERE piece.tenant = $1 AND piece.subject = $2
                AND piece.fact = asked.fact AND piece.revision = asked.revision OFFSET 0) AS piece
        JOIN countersign.memory_subjects AS source
            ON source.tenant = $1 AND source.number = piece.source
    ORDER BY piece.fact, piece.revision, piece.piece";
const RETIRE: &str = "UPDATE countersign.memory_facts SET current = false
    WHERE tenant = $1 AND subject = $2 AND id = $3 AND current";
const PUT: &str = "INSERT INTO countersign.memory_facts (tenant, subject, id, revision, current,
        in_force, key, recorded_at, origin, claimed_by, body)
    VALUES ($1, $2, $3, $4, true, $5, $6, $7, $8, $9, $10)";
const PUT_EVIDENCE: &str = "INSERT INTO countersign.memory_fact_evidence
        (tenant, subject, fact, revision, piece, source, event, quote)
    SELECT $1, $2, $3, $4, new.piece - 1, new.source, new.event, new.quote
    FROM unnest($5::bigint[], $6::text[], $7::text[])
        WITH ORDINALITY AS new (source, event, quote, piece)";
const REVISIONS: &str = "SELECT id, revision, body FROM countersign.memory_facts
    WHERE tenant = $1 AND subject = $2";
const REWRITE: &str = "UPDATE countersign.memory_facts SET body = $5
    WHERE tenant = $1 AND subject = $2 AND id = $3 AND revision = $4";

pub(super) fn load_fact(
    shelf: &SubjectRows<'_>,
    tenant: &str,
    id: &str,
    revision: Option<u32>,
) -> MemoryResult<Option<FactRevision>> {
    if !is_storable_text(id) {
        return Ok(None);
    }
    let (sql, revision) = (format!("{COLUMNS} {ONE}"), revision.map(i64::from));
    Ok(query_facts(shelf, tenant, shelf.build_statement(&sql).bind_text(&id).bind_int8(&revision))?
        .pop())
}

pub(super) fn load_facts(
    shelf: &SubjectRows<'_>,
    tenant: &str,
    which: FactFilter<'_>,
) -> MemoryResult<Vec<FactRevision>> {
    let rest = match which {
        FactFilter::ByKey(key) if !is_storable_text(key) => return Ok(Vec::new()),
        FactFilter::ByKey(_) => BY_KEY,
        FactFilter::InForce(_) => IN_FORCE,
        FactFilter::Superseded(_) => SUPERSEDED,
        FactFilter::All => ALL,
    };
    let sql = format!("{COLUMNS} {rest}");
    let call = shelf.build_statement(&sql);
    match which {
        FactFilter::ByKey(key) => query_facts(shelf, tenant, call.bind_text(&key)),
        FactFilter::InForce(limit) | FactFilter::Superseded(limit) => {
            query_facts(shelf, tenant, call.bind_int8(&to_sql_limit(limit)))
        }
        FactFilter::All => query_facts(shelf, tenant, call),
    }
}

/// Stores a revision. The claiming subject and the owners of the evidence are given by number.
pub(super) fn put_fact(
    shelf: &SubjectRows<'_>,
    standing: &FactRevision,
    claimed_by: i64,
    sources: &[i64],
) -> MemoryResult<()> {
    let FactRevision { fact, origin, .. } = standing;
    let body = encode_row(&MemoryFact { evidence: Vec::new(), ..fact.clone() })?;
    let (stands, origin) = (fact.status != FactStatus::Deprecated, encode_row(origin)?);
    let revision = i64::from(fact.revision);
    let events: Vec<&str> = fact.evidence.iter().map(|piece| &*piece.event).collect();
    let quotes: MemoryResult<Vec<String>> =
        fact.evidence.iter().map(|piece| encode_row(&piece.quote)).collect();
    let quotes = quotes?;
    let put = shelf
        .build_statement(PUT)
        .bind_text(&fact.id)
        .bind_int8(&revision)
        .bind(&stands, Type::BOOL);
    let put = put.bind_text(&fact.key).bind_int8(&fact.recorded_at.0).bind_text(&origin);
    let put = put.bind_int8(&claimed_by).bind_text(&body);
    let evidence = shelf.build_statement(PUT_EVIDENCE).bind_text(&fact.id).bind_int8(&revision);
    let evidence = evidence.bind(&sources, Type::INT8_ARRAY).bind(&events, Type::TEXT_ARRAY);
    let evidence = evidence.bind(&quotes, Type::TEXT_ARRAY);
    shelf.query_all(&[shelf.build_statement(RETIRE).bind_text(&fact.id), put, evidence]).map(drop)
}

/// Removes references to these facts as successors from all revisions of an owner's facts.
pub(super) fn redact_ids(shelf: &SubjectRows<'_>, ids: &[&str]) -> MemoryResult<()> {
    for row in shelf.query(shelf.build_statement(REVISIONS))? {
        let fact: MemoryFact = decode_row(read_column(&row, 2)?)?;
        if fact.superseded_by.as_deref().is_some_and(|by| ids.contains(&by)) {
            let (id, revision): (String, i64) = (read_column(&row, 0)?, read_column(&row, 1)?);
            let body = encode_row(&MemoryFact { superseded_by: None, ..fact })?;
            shelf.query(
                shelf.build_statement(REWRITE).bind_text(&id).bind_int8(&revision).bind_text(&body),
            )?;
        }
    }
    Ok(())
}

fn query_facts(
    shelf: &SubjectRows<'_>,
    tenant: &str,
    call: SqlStatement<'_>,
) -> MemoryResult<Vec<FactRevision>> {
    let rows = shelf.query(call)?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let whose = |row: &Row, at: usize| -> MemoryResult<MemorySubject> {
        let tenant = tenant.to_owned();
        Ok(MemorySubject { tenant, user: read_column(row, at)?, agent: read_column(row, at + 1)? })
    };
    let ids = rows.iter().map(|row| read_column(row, 0)).collect::<MemoryResult<Vec<&str>>>()?;
    let revisions =
        rows.iter().map(|row| read_column(row, 1)).collect::<MemoryResult<Vec<i64>>>()?;
    let call = shelf.build_statement(EVIDENCE).bind(&ids, Type::TEXT_ARRAY);
    let pieces = shelf.query(call.bind(&revisions, Type::INT8_ARRAY))?;
    let mut evidence: BTreeMap<(&str, u32), Vec<&Row>> = BTreeMap::new();
    for piece in &pieces {
        evidence.entry((read_column(piece, 0)?, read_count(piece, 1)?)).or_default().push(piece);
    }
    let mut facts = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut fact: MemoryFact = decode_row(read_column(row, 5)?)?;
        let mut sources = Vec::new();
        for piece in
            evidence.get(&(read_column(row, 0)?, read_count(row, 1)?)).into_iter().flatten()
        {
            sources.push(whose(piece, 2)?);
            let (event, quote) = (read_column(piece, 4)?, decode_row(read_column(piece, 5)?)?);
            fact.evidence.push(FactEvidence { event, quote });
        }
        let (origin, by) = (decode_row(read_column(row, 2)?)?, whose(row, 3)?);
        facts.push(FactRevision { fact, origin, claimed_by: by, sources });
    }
    Ok(facts)
}
