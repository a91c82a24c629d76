//! SQL statements for facts and their evidence.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use countersign_shipped_contracts::memory::long_term::FactStatus;
use rusqlite::{Connection, params};

use super::super::memory_error::MemoryError;
use super::super::row_codec::{decode_row, encode_row};
use super::super::row_store::{FactFilter, MemoryResult};
use super::subjects::{ensure_subject_number, load_subject, read_text};
use crate::MemorySubject;
use crate::record::{FactEvidence, MemoryFact};
use crate::rules::FactRevision;

const LATEST: &str = "SELECT id, revision, origin, claimed_by, body FROM facts
    WHERE subject = ?1 AND id = ?2 ORDER BY revision DESC LIMIT 1";
const REVISION: &str = "SELECT id, revision, origin, claimed_by, body FROM facts
    WHERE subject = ?1 AND id = ?2 AND revision = ?3";
const BY_KEY: &str = "SELECT id, revision, origin, claimed_by, body FROM facts
    WHERE subject = ?1 AND key = ?2 AND current = 1 AND in_force = 1
    ORDER BY recorded_at DESC, id";
// Two separate statements: with a parameter for a value that a partial index names, `SQLite` would
// plan the statement again each time.
const IN_FORCE: &str = "SELECT id, revision, origin, claimed_by, body FROM facts
    WHERE subject = ?1 AND in_force = 1 AND current = 1
    ORDER BY recorded_at DESC, id LIMIT ?2";
const SUPERSEDED: &str = "SELECT id, revision, origin, claimed_by, body FROM facts
    WHERE subject = ?1 AND in_force = 0 AND current = 1
    ORDER BY recorded_at DESC, id LIMIT ?2";
const ALL: &str = "SELECT id, revision, origin, claimed_by, body FROM facts
    WHERE subject = ?1 AND current = 1 ORDER BY recorded_at DESC, id";
const EVIDENCE: &str = "SELECT source, event, quote FROM fact_evidence
    WHERE subject = ?1 AND fact = ?2 AND revision = ?3 ORDER BY piece";
const RETIRE: &str = "UPDATE facts SET current = 0 WHERE subject = ?1 AND id = ?2 AND current = 1";
const PUT: &str = "INSERT INTO facts (subject, id, revision, current, in_force, key, recorded_at,
        origin, claimed_by, body)
    VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8, ?9)";
const PUT_EVIDENCE: &str =
    "INSERT INTO fact_evidence (subject, fact, revision, piece, source, event, quote)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const REVISIONS: &str = "SELECT revision, body, id FROM facts WHERE subject = ?1";
const REWRITE: &str = "UPDATE facts SET body = ?4 WHERE subject = ?1 AND id = ?2 AND revision = ?3";

pub(super) fn load_fact(
    db: &Connection,
    holder: i64,
    id: &str,
    revision: Option<u32>,
) -> MemoryResult<Option<FactRevision>> {
    let mut found = match revision {
        None => query_facts(db, holder, LATEST, params![holder, id])?,
        Some(revision) => query_facts(db, holder, REVISION, params![holder, id, revision])?,
    };
    Ok(found.pop())
}

pub(super) fn load_facts(
    db: &Connection,
    holder: i64,
    which: FactFilter<'_>,
) -> MemoryResult<Vec<FactRevision>> {
    let most = |limit: usize| i64::try_from(limit).unwrap_or(i64::MAX);
    match which {
        FactFilter::ByKey(key) => query_facts(db, holder, BY_KEY, params![holder, key]),
        FactFilter::InForce(limit) => {
            query_facts(db, holder, IN_FORCE, params![holder, most(limit)])
        }
        FactFilter::Superseded(limit) => {
            query_facts(db, holder, SUPERSEDED, params![holder, most(limit)])
        }
        FactFilter::All => query_facts(db, holder, ALL, params![holder]),
    }
}

pub(super) fn put_fact(db: &Connection, holder: i64, standing: &FactRevision) -> MemoryResult<()> {
    let FactRevision { fact, origin, claimed_by: by, sources } = standing;
    db.prepare_cached(RETIRE)?.execute(params![holder, fact.id])?;
    let body = encode_row(&MemoryFact { evidence: Vec::new(), ..fact.clone() })?;
    let stands = fact.status != FactStatus::Deprecated;
    let claimed_by = ensure_subject_number(db, by)?;
    db.prepare_cached(PUT)?.execute(params![
        holder,
        fact.id,
        fact.revision,
        stands,
        fact.key,
        fact.recorded_at.0,
        encode_row(origin)?,
        claimed_by,
        body
    ])?;
    let mut put = db.prepare_cached(PUT_EVIDENCE)?;
    for (piece, (evidence, source)) in fact.evidence.iter().zip(sources).enumerate() {
        let source = ensure_subject_number(db, source)?;
        let FactEvidence { event, quote } = evidence;
        let piece = piece as i64;
        put.execute(params![holder, fact.id, fact.revision, piece, source, event, quote])?;
    }
    Ok(())
}

/// Removes references to these facts as successors from all revisions of an owner's facts.
pub(super) fn redact_ids(db: &Connection, holder: i64, ids: &[&str]) -> MemoryResult<()> {
    let mut query = db.prepare_cached(REVISIONS)?;
    let rows = query.query_map([holder], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    for (revision, body, id) in rows.collect::<Result<Vec<(u32, String, String)>, _>>()? {
        let fact: MemoryFact = decode_row(&body)?;
        if fact.superseded_by.as_deref().is_some_and(|by| ids.contains(&by)) {
            let body = encode_row(&MemoryFact { superseded_by: None, ..fact })?;
            db.prepare_cached(REWRITE)?.execute(params![holder, id, revision, body])?;
        }
    }
    Ok(())
}

fn query_facts(
    db: &Connection,
    holder: i64,
    sql: &str,
    params: impl rusqlite::Params,
) -> MemoryResult<Vec<FactRevision>> {
    let mut query = db.prepare_cached(sql)?;
    let mut evidence = db.prepare_cached(EVIDENCE)?;
    let mut rows = query.query(params)?;
    // Nearly all facts of an owner come from the same few subjects, so cache them.
    let mut known: BTreeMap<i64, MemorySubject> = BTreeMap::new();
    let mut whose = |number: i64| match known.entry(number) {
        Entry::Occupied(known) => Ok::<_, MemoryError>(known.get().clone()),
        Entry::Vacant(new) => Ok(new.insert(load_subject(db, number)?).clone()),
    };
    let mut facts = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, revision): (&str, u32) = (read_text(row, 0)?, row.get(1)?);
        let mut fact: MemoryFact = decode_row(read_text(row, 4)?)?;
        let mut sources = Vec::new();
        let mut pieces = evidence.query(params![holder, id, revision])?;
        while let Some(piece) = pieces.next()? {
            sources.push(whose(piece.get(0)?)?);
            fact.evidence.push(FactEvidence { event: piece.get(1)?, quote: piece.get(2)? });
        }
        let (origin, by) = (decode_row(read_text(row, 2)?)?, whose(row.get(3)?)?);
        facts.push(FactRevision { fact, origin, claimed_by: by, sources });
    }
    Ok(facts)
}
