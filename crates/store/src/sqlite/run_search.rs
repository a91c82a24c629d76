//! The words that runs are found by: one row per word and run, in the order of run lists, and one
//! row per run with all its words, so that a change writes only the words that differ.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{RunId, StoreError, TenantId};

pub(super) const TERMS: &str = "SELECT terms FROM run_search
    WHERE run = (SELECT number FROM runs WHERE tenant = ?1 AND id = ?2)";
const TERMS_BY_NUMBER: &str = "SELECT terms FROM run_search WHERE run = ?1";
const PUT_TERMS: &str = "INSERT INTO run_search (run, terms) VALUES (?1, ?2)
    ON CONFLICT (run) DO UPDATE SET terms = excluded.terms";
const DROP_TERMS: &str = "DELETE FROM run_search WHERE run = ?1";
const CREATED_AT: &str = "SELECT created_at FROM runs WHERE number = ?1";
const ADD_TERM: &str =
    "INSERT INTO run_terms (tenant, term, created_at, run) VALUES (?1, ?2, ?3, ?4)";
const DROP_TERM: &str =
    "DELETE FROM run_terms WHERE tenant = ?1 AND term = ?2 AND created_at = ?3 AND run = ?4";
/// Counts up to a limit: it is enough to know which word is rare.
pub(super) const TERM_COUNT: &str = "SELECT count(*) FROM
    (SELECT 1 FROM run_terms WHERE tenant = ?1 AND term = ?2 LIMIT 1000)";

pub(super) fn load_terms(db: &Connection, run: &RunId) -> Result<Vec<String>, StoreError> {
    let mut statement = db.prepare_cached(TERMS)?;
    let packed: Option<String> =
        statement.query_row((run.tenant.as_str(), &run.id), |row| row.get(0)).optional()?;
    Ok(split_terms(packed.as_deref().unwrap_or_default()).map(str::to_owned).collect())
}

/// Replaces the words of a run, and writes only what differs; without words, nothing is left.
pub(super) fn replace_terms(
    db: &Connection,
    run: &RunId,
    number: i64,
    terms: &[String],
) -> Result<(), StoreError> {
    let mut statement = db.prepare_cached(TERMS_BY_NUMBER)?;
    let packed: Option<String> = statement.query_row([number], |row| row.get(0)).optional()?;
    let old: BTreeSet<&str> = split_terms(packed.as_deref().unwrap_or_default()).collect();
    let new: BTreeSet<&str> = terms.iter().map(String::as_str).collect();
    if old == new {
        return Ok(());
    }
    let created_at: i64 = db.prepare_cached(CREATED_AT)?.query_row([number], |row| row.get(0))?;
    let owner = run.tenant.as_str();
    for (sql, changed) in [(DROP_TERM, old.difference(&new)), (ADD_TERM, new.difference(&old))] {
        let mut statement = db.prepare_cached(sql)?;
        for term in changed {
            statement.execute(params![owner, term, created_at, run.id])?;
        }
    }
    if terms.is_empty() {
        db.prepare_cached(DROP_TERMS)?.execute([number])?;
    } else {
        db.prepare_cached(PUT_TERMS)?.execute(params![number, terms.join(" ")])?;
    }
    Ok(())
}

/// Moves the rarest word to the front: it decides which rows a search reads.
pub(super) fn order_terms(
    db: &Connection,
    tenant: &TenantId,
    terms: &[String],
) -> Result<Vec<String>, StoreError> {
    let mut ordered = terms.to_vec();
    if terms.len() > 1 {
        let mut statement = db.prepare_cached(TERM_COUNT)?;
        let counts = terms
            .iter()
            .map(|term| statement.query_row((tenant.as_str(), term), |row| row.get::<_, i64>(0)));
        let counts: Vec<i64> = counts.collect::<Result<_, _>>()?;
        let rarest = (0..terms.len()).min_by_key(|at| counts[*at]).unwrap_or(0);
        ordered.swap(0, rarest);
    }
    Ok(ordered)
}

fn split_terms(packed: &str) -> impl Iterator<Item = &str> {
    packed.split(' ').filter(|term| !term.is_empty())
}
