//! The statements on facts and their evidence.

use std::collections::BTreeMap;

use countersign_contracts::memory::long_term::FactStatus;
use countersign_store::Call;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::super::body::{from_body, to_body};
use super::super::shelves::{Answer, Which};
use super::shelf::{Shelf, count, get, is_text, most};
use crate::Subject;
use crate::record::{Evidence, Fact};
use crate::rules::Standing;

/// Who claimed it comes with each.
const COLUMNS: &str = "SELECT fact.id, fact.revision, fact.origin, by.user_id, by.agent, fact.body
    FROM countersign.memory_facts AS fact
        JOIN countersign.memory_subjects AS by ON by.tenant = $1 AND by.number = fact.claimed_by
    WHERE fact.tenant = $1 AND fact.subject = $2";
const ONE: &str = "AND fact.id = $3 AND ($4::bigint IS NULL OR fact.revision = $4)
    ORDER BY fact.revision DESC LIMIT 1";
const UNDER: &str =
    "AND md5(fact.key) = md5($3) AND fact.key = $3 AND fact.current AND fact.standing
    ORDER BY fact.recorded_at DESC, fact.id";
const STANDING: &str = "AND fact.current AND fact.standing
    ORDER BY fact.recorded_at DESC, fact.id LIMIT $3";
const SUPERSEDED: &str = "AND fact.current AND NOT fact.standing
    ORDER BY fact.recorded_at DESC, fact.id LIMIT $3";
const ALL: &str = "AND fact.current ORDER BY fact.recorded_at DESC, fact.id";
const EVIDENCE: &str = "SELECT piece.fact, piece.revision, source.user_id, source.agent,
        piece.event, piece.quote
    FROM unnest($3::text[], $4::bigint[]) AS asked (fact, revision)
        JOIN countersign.memory_fact_evidence AS piece ON piece.tenant = $1 AND piece.subject = $2
            AND piece.fact = asked.fact AND piece.revision = asked.revision
        JOIN countersign.memory_subjects AS source
            ON source.tenant = $1 AND source.number = piece.source
    ORDER BY piece.fact, piece.revision, piece.piece";
const RETIRE: &str = "UPDATE countersign.memory_facts SET current = false
    WHERE tenant = $1 AND subject = $2 AND id = $3 AND current";
const PUT: &str = "INSERT INTO countersign.memory_facts (tenant, subject, id, revision, current,
        standing, key, recorded_at, origin, claimed_by, body)
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

pub(super) fn one(
    shelf: &Shelf<'_>,
    tenant: &str,
    id: &str,
    revision: Option<u32>,
) -> Answer<Option<Standing>> {
    if !is_text(id) {
        return Ok(None);
    }
    let (sql, revision) = (format!("{COLUMNS} {ONE}"), revision.map(i64::from));
    Ok(many(shelf, tenant, shelf.call(&sql).text(&id).number(&revision))?.pop())
}

pub(super) fn some(shelf: &Shelf<'_>, tenant: &str, which: Which<'_>) -> Answer<Vec<Standing>> {
    let rest = match which {
        Which::Under(key) if !is_text(key) => return Ok(Vec::new()),
        Which::Under(_) => UNDER,
        Which::Standing(_) => STANDING,
        Which::Superseded(_) => SUPERSEDED,
        Which::All => ALL,
    };
    let sql = format!("{COLUMNS} {rest}");
    let call = shelf.call(&sql);
    match which {
        Which::Under(key) => many(shelf, tenant, call.text(&key)),
        Which::Standing(limit) | Which::Superseded(limit) => {
            many(shelf, tenant, call.number(&most(limit)))
        }
        Which::All => many(shelf, tenant, call),
    }
}

/// Keeps a revision; whoever claimed it and said what it rests on have these numbers.
pub(super) fn put(
    shelf: &Shelf<'_>,
    standing: &Standing,
    claimed_by: i64,
    sources: &[i64],
) -> Answer<()> {
    let Standing { fact, origin, .. } = standing;
    let body = to_body(&Fact { evidence: Vec::new(), ..fact.clone() })?;
    let (stands, origin) = (fact.status != FactStatus::Deprecated, to_body(origin)?);
    let revision = i64::from(fact.revision);
    let events: Vec<&str> = fact.evidence.iter().map(|piece| &*piece.event).collect();
    let quotes: Answer<Vec<String>> =
        fact.evidence.iter().map(|piece| to_body(&piece.quote)).collect();
    let quotes = quotes?;
    let put = shelf.call(PUT).text(&fact.id).number(&revision).with(&stands, Type::BOOL);
    let put = put.text(&fact.key).number(&fact.recorded_at.0).text(&origin);
    let put = put.number(&claimed_by).text(&body);
    let evidence = shelf.call(PUT_EVIDENCE).text(&fact.id).number(&revision);
    let evidence = evidence.with(&sources, Type::INT8_ARRAY).with(&events, Type::TEXT_ARRAY);
    let evidence = evidence.with(&quotes, Type::TEXT_ARRAY);
    shelf.ask_all(&[shelf.call(RETIRE).text(&fact.id), put, evidence]).map(drop)
}

/// Lets no revision of a holder's facts say any more that one of these took its place.
pub(super) fn unname(shelf: &Shelf<'_>, ids: &[&str]) -> Answer<()> {
    for row in shelf.ask(shelf.call(REVISIONS))? {
        let fact: Fact = from_body(get(&row, 2)?)?;
        if fact.superseded_by.as_deref().is_some_and(|by| ids.contains(&by)) {
            let (id, revision): (String, i64) = (get(&row, 0)?, get(&row, 1)?);
            let body = to_body(&Fact { superseded_by: None, ..fact })?;
            shelf.ask(shelf.call(REWRITE).text(&id).number(&revision).text(&body))?;
        }
    }
    Ok(())
}

fn many(shelf: &Shelf<'_>, tenant: &str, call: Call<'_>) -> Answer<Vec<Standing>> {
    let rows = shelf.ask(call)?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let whose = |row: &Row, at: usize| -> Answer<Subject> {
        let tenant = tenant.to_owned();
        Ok(Subject { tenant, user: get(row, at)?, agent: get(row, at + 1)? })
    };
    let ids = rows.iter().map(|row| get(row, 0)).collect::<Answer<Vec<&str>>>()?;
    let revisions = rows.iter().map(|row| get(row, 1)).collect::<Answer<Vec<i64>>>()?;
    let call = shelf.call(EVIDENCE).with(&ids, Type::TEXT_ARRAY);
    let pieces = shelf.ask(call.with(&revisions, Type::INT8_ARRAY))?;
    let mut evidence: BTreeMap<(&str, u32), Vec<&Row>> = BTreeMap::new();
    for piece in &pieces {
        evidence.entry((get(piece, 0)?, count(piece, 1)?)).or_default().push(piece);
    }
    let mut facts = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut fact: Fact = from_body(get(row, 5)?)?;
        let mut sources = Vec::new();
        for piece in evidence.get(&(get(row, 0)?, count(row, 1)?)).into_iter().flatten() {
            sources.push(whose(piece, 2)?);
            let (event, quote) = (get(piece, 4)?, from_body(get(piece, 5)?)?);
            fact.evidence.push(Evidence { event, quote });
        }
        let (origin, by) = (from_body(get(row, 2)?)?, whose(row, 3)?);
        facts.push(Standing { fact, origin, by, sources });
    }
    Ok(facts)
}
