//! The statements on facts and their evidence.

use countersign_contracts::memory::long_term::FactStatus;
use rusqlite::{Connection, params};

use super::super::shelves::{Answer, Which};
use super::subjects::{from_body, number_or_new, subject, to_body};
use crate::record::{Evidence, Fact};
use crate::rules::Standing;

const ONE: &str = "SELECT id, revision, origin, claimed_by, body FROM facts
    WHERE subject = ?1 AND id = ?2 AND CASE WHEN ?3 IS NULL THEN current = 1 ELSE revision = ?3 END";
const UNDER: &str = "SELECT id, revision, origin, claimed_by, body FROM facts
    WHERE subject = ?1 AND key = ?2 AND current = 1 AND standing = 1
    ORDER BY recorded_at DESC, id";
const SOME: &str = "SELECT id, revision, origin, claimed_by, body FROM facts
    WHERE subject = ?1 AND standing = ?2 AND current = 1
    ORDER BY recorded_at DESC, id LIMIT ?3";
const ALL: &str = "SELECT id, revision, origin, claimed_by, body FROM facts
    WHERE subject = ?1 AND current = 1 ORDER BY recorded_at DESC, id";
const EVIDENCE: &str = "SELECT source, event, quote FROM fact_evidence
    WHERE subject = ?1 AND fact = ?2 AND revision = ?3 ORDER BY piece";
const RETIRE: &str = "UPDATE facts SET current = 0 WHERE subject = ?1 AND id = ?2 AND current = 1";
const PUT: &str = "INSERT INTO facts (subject, id, revision, current, standing, key, recorded_at,
        origin, claimed_by, body)
    VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8, ?9)";
const PUT_EVIDENCE: &str =
    "INSERT INTO fact_evidence (subject, fact, revision, piece, source, event, quote)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

pub(super) fn one(
    db: &Connection,
    holder: i64,
    id: &str,
    revision: Option<u32>,
) -> Answer<Option<Standing>> {
    Ok(many(db, holder, ONE, params![holder, id, revision])?.pop())
}

pub(super) fn some(db: &Connection, holder: i64, which: Which<'_>) -> Answer<Vec<Standing>> {
    let most = |limit: usize| i64::try_from(limit).unwrap_or(i64::MAX);
    match which {
        Which::Under(key) => many(db, holder, UNDER, params![holder, key]),
        Which::Standing(limit) => many(db, holder, SOME, params![holder, 1, most(limit)]),
        Which::Superseded(limit) => many(db, holder, SOME, params![holder, 0, most(limit)]),
        Which::All => many(db, holder, ALL, params![holder]),
    }
}

pub(super) fn put(db: &Connection, holder: i64, standing: &Standing) -> Answer<()> {
    let Standing { fact, origin, by, sources } = standing;
    db.prepare_cached(RETIRE)?.execute(params![holder, fact.id])?;
    let body = to_body(&Fact { evidence: Vec::new(), ..fact.clone() })?;
    let stands = fact.status != FactStatus::Deprecated;
    let claimed_by = number_or_new(db, by)?;
    db.prepare_cached(PUT)?.execute(params![
        holder,
        fact.id,
        fact.revision,
        stands,
        fact.key,
        fact.recorded_at.0,
        to_body(origin)?,
        claimed_by,
        body
    ])?;
    let mut put = db.prepare_cached(PUT_EVIDENCE)?;
    for (piece, (evidence, source)) in fact.evidence.iter().zip(sources).enumerate() {
        let source = number_or_new(db, source)?;
        let Evidence { event, quote } = evidence;
        let piece = piece as i64;
        put.execute(params![holder, fact.id, fact.revision, piece, source, event, quote])?;
    }
    Ok(())
}

fn many(
    db: &Connection,
    holder: i64,
    sql: &str,
    params: impl rusqlite::Params,
) -> Answer<Vec<Standing>> {
    let mut query = db.prepare_cached(sql)?;
    let mut rows = query.query(params)?;
    let mut facts = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, revision): (String, u32) = (row.get(0)?, row.get(1)?);
        let (origin, by, body): (String, i64, String) = (row.get(2)?, row.get(3)?, row.get(4)?);
        let mut fact: Fact = from_body(&body)?;
        let mut sources = Vec::new();
        let mut pieces = db.prepare_cached(EVIDENCE)?;
        let mut pieces = pieces.query(params![holder, id, revision])?;
        while let Some(piece) = pieces.next()? {
            sources.push(subject(db, piece.get(0)?)?);
            fact.evidence.push(Evidence { event: piece.get(1)?, quote: piece.get(2)? });
        }
        let (origin, by) = (from_body(&origin)?, subject(db, by)?);
        facts.push(Standing { fact, origin, by, sources });
    }
    Ok(facts)
}
