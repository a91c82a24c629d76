//! The statements on facts and their evidence.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use countersign_contracts::memory::long_term::FactStatus;
use rusqlite::{Connection, params};

use super::super::body::{from_body, to_body};
use super::super::error::MemoryError;
use super::super::shelves::{Answer, Which};
use super::subjects::{number_or_new, subject, text};
use crate::Subject;
use crate::record::{Evidence, Fact};
use crate::rules::Standing;

const LATEST: &str = "SELECT id, revision, origin, claimed_by, body FROM facts
    WHERE subject = ?1 AND id = ?2 ORDER BY revision DESC LIMIT 1";
const REVISION: &str = "SELECT id, revision, origin, claimed_by, body FROM facts
    WHERE subject = ?1 AND id = ?2 AND revision = ?3";
const UNDER: &str = "SELECT id, revision, origin, claimed_by, body FROM facts
    WHERE subject = ?1 AND key = ?2 AND current = 1 AND standing = 1
    ORDER BY recorded_at DESC, id";
// Written out twice: `SQLite` would plan a statement anew each time for a value that an index names.
const STANDING: &str = "SELECT id, revision, origin, claimed_by, body FROM facts
    WHERE subject = ?1 AND standing = 1 AND current = 1
    ORDER BY recorded_at DESC, id LIMIT ?2";
const SUPERSEDED: &str = "SELECT id, revision, origin, claimed_by, body FROM facts
    WHERE subject = ?1 AND standing = 0 AND current = 1
    ORDER BY recorded_at DESC, id LIMIT ?2";
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
const REVISIONS: &str = "SELECT revision, body, id FROM facts WHERE subject = ?1";
const REWRITE: &str = "UPDATE facts SET body = ?4 WHERE subject = ?1 AND id = ?2 AND revision = ?3";

/// Makes the statements that a packet asks.
pub(super) fn make_ready(db: &Connection) -> Answer<()> {
    for sql in [STANDING, SUPERSEDED, EVIDENCE] {
        db.prepare_cached(sql)?;
    }
    Ok(())
}

pub(super) fn one(
    db: &Connection,
    holder: i64,
    id: &str,
    revision: Option<u32>,
) -> Answer<Option<Standing>> {
    let mut found = match revision {
        None => many(db, holder, LATEST, params![holder, id])?,
        Some(revision) => many(db, holder, REVISION, params![holder, id, revision])?,
    };
    Ok(found.pop())
}

pub(super) fn some(db: &Connection, holder: i64, which: Which<'_>) -> Answer<Vec<Standing>> {
    let most = |limit: usize| i64::try_from(limit).unwrap_or(i64::MAX);
    match which {
        Which::Under(key) => many(db, holder, UNDER, params![holder, key]),
        Which::Standing(limit) => many(db, holder, STANDING, params![holder, most(limit)]),
        Which::Superseded(limit) => many(db, holder, SUPERSEDED, params![holder, most(limit)]),
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

/// Lets no revision of a holder's facts say any more that one of these took its place.
pub(super) fn unname(db: &Connection, holder: i64, ids: &[&str]) -> Answer<()> {
    let mut query = db.prepare_cached(REVISIONS)?;
    let rows = query.query_map([holder], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    for (revision, body, id) in rows.collect::<Result<Vec<(u32, String, String)>, _>>()? {
        let fact: Fact = from_body(&body)?;
        if fact.superseded_by.as_deref().is_some_and(|by| ids.contains(&by)) {
            let body = to_body(&Fact { superseded_by: None, ..fact })?;
            db.prepare_cached(REWRITE)?.execute(params![holder, id, revision, body])?;
        }
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
    let mut evidence = db.prepare_cached(EVIDENCE)?;
    let mut rows = query.query(params)?;
    // Nearly all that a holder has was claimed and said by the same few.
    let mut known: BTreeMap<i64, Subject> = BTreeMap::new();
    let mut whose = |number: i64| match known.entry(number) {
        Entry::Occupied(known) => Ok::<_, MemoryError>(known.get().clone()),
        Entry::Vacant(new) => Ok(new.insert(subject(db, number)?).clone()),
    };
    let mut facts = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, revision): (&str, u32) = (text(row, 0)?, row.get(1)?);
        let mut fact: Fact = from_body(text(row, 4)?)?;
        let mut sources = Vec::new();
        let mut pieces = evidence.query(params![holder, id, revision])?;
        while let Some(piece) = pieces.next()? {
            sources.push(whose(piece.get(0)?)?);
            fact.evidence.push(Evidence { event: piece.get(1)?, quote: piece.get(2)? });
        }
        let (origin, by) = (from_body(text(row, 2)?)?, whose(row.get(3)?)?);
        facts.push(Standing { fact, origin, by, sources });
    }
    Ok(facts)
}
