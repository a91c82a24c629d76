//! The index: which events of a subject a term stands in. Written in the transaction of its events, and
//! counted by subject, so that no score tells anything of others.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::super::error::{MemoryError, corrupt};
use super::super::shelves::Answer;
use crate::rank::{
    BLOCK, BlockError, Hit, Posting, Query, Read, Stats, TermPostings, decode_block, encode_block,
    in_order, indexed, plan, rank,
};
use crate::record::Event;

const TERM: &str = "SELECT df, blocks, tail FROM terms WHERE subject = ?1 AND term = ?2";
const DF: &str = "SELECT df FROM terms WHERE subject = ?1 AND term = ?2";
const PUT_TERM: &str =
    "INSERT INTO terms (subject, term, df, blocks, tail) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (subject, term) DO UPDATE
    SET df = excluded.df, blocks = excluded.blocks, tail = excluded.tail";
const DROP_TERM: &str = "DELETE FROM terms WHERE subject = ?1 AND term = ?2";
const PUT_BLOCK: &str = "INSERT INTO postings (subject, term, block, body) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (subject, term, block) DO UPDATE SET body = excluded.body";
const DROP_BLOCK: &str = "DELETE FROM postings WHERE subject = ?1 AND term = ?2 AND block = ?3";
const BLOCKS: &str =
    "SELECT block, body FROM postings WHERE subject = ?1 AND term = ?2 ORDER BY block DESC";
const COUNT: &str =
    "UPDATE subjects SET events = events + ?2, terms = terms + ?3 WHERE number = ?1";
const STATS: &str = "SELECT events, terms FROM subjects WHERE number = ?1";

/// What is kept of a term beside its full blocks.
struct Term {
    df: u32,
    blocks: i64,
    tail: Vec<Posting>,
}

/// Writes events into the index, term by term.
pub(super) fn add(db: &Connection, subject: i64, events: &[Event]) -> Answer<()> {
    let mut new: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
    let mut length = 0_i64;
    for event in events {
        let found = indexed(event);
        length += i64::from(found.length);
        for (term, posting) in found.postings(event.place) {
            match new.get_mut(term) {
                Some(postings) => postings.push(posting),
                None => drop(new.insert(term.to_owned(), vec![posting])),
            }
        }
    }
    for (term, postings) in new {
        let kept = term_of(db, subject, &term)?;
        let mut kept = kept.unwrap_or(Term { df: 0, blocks: 0, tail: Vec::new() });
        kept.df += postings.len() as u32;
        kept.tail.extend(postings);
        while kept.tail.len() >= BLOCK {
            let rest = kept.tail.split_off(BLOCK);
            kept.blocks += 1;
            let body = encode_block(&kept.tail);
            db.prepare_cached(PUT_BLOCK)?.execute(params![subject, term, kept.blocks, body])?;
            kept.tail = rest;
        }
        put_term(db, subject, &term, &kept)?;
    }
    db.prepare_cached(COUNT)?.execute(params![subject, events.len() as i64, length])?;
    Ok(())
}

/// Takes events out of the index.
pub(super) fn remove(db: &Connection, subject: i64, events: &[Event]) -> Answer<()> {
    let mut length = 0_i64;
    for event in events {
        let found = indexed(event);
        length += i64::from(found.length);
        for term in found.terms.keys() {
            remove_posting(db, subject, term, event)?;
        }
    }
    db.prepare_cached(COUNT)?.execute(params![subject, -(events.len() as i64), -length])?;
    Ok(())
}

fn remove_posting(db: &Connection, subject: i64, term: &str, event: &Event) -> Answer<()> {
    let Some(mut kept) = term_of(db, subject, term)? else { return Ok(()) };
    let before = kept.tail.len();
    kept.tail.retain(|posting| posting.place != event.place);
    let in_tail = kept.tail.len() < before;
    if !in_tail && !remove_from_blocks(db, subject, term, event)? {
        return Ok(());
    }
    kept.df -= 1;
    if kept.df == 0 {
        db.prepare_cached(DROP_TERM)?.execute(params![subject, term])?;
        return Ok(());
    }
    put_term(db, subject, term, &kept)
}

fn remove_from_blocks(db: &Connection, subject: i64, term: &str, event: &Event) -> Answer<bool> {
    let mut query = db.prepare_cached(BLOCKS)?;
    let mut blocks = query.query(params![subject, term])?;
    while let Some(row) = blocks.next()? {
        let (block, body): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
        let mut postings = Vec::new();
        decode_block(&body, &mut postings).map_err(damaged)?;
        let before = postings.len();
        postings.retain(|posting| posting.place != event.place);
        if postings.len() == before {
            continue;
        }
        if postings.is_empty() {
            db.prepare_cached(DROP_BLOCK)?.execute(params![subject, term, block])?;
        } else {
            let body = encode_block(&postings);
            db.prepare_cached(PUT_BLOCK)?.execute(params![subject, term, block, body])?;
        }
        return Ok(true);
    }
    Ok(false)
}

/// The places that answer a question, best first.
pub(super) fn ranked(
    db: &Connection,
    subject: i64,
    query: &Query,
    limit: usize,
) -> Answer<Vec<Hit>> {
    let mut df = db.prepare_cached(DF)?;
    let mut known: Vec<(&str, u32)> = Vec::new();
    for (term, _) in query.terms() {
        let found = df.query_row(params![subject, term], |row| row.get(0)).optional()?;
        known.extend(found.map(|df| (term, df)));
    }
    let lists = plan(known).into_iter().map(|read| postings(db, subject, read));
    let lists = lists.collect::<Answer<Vec<TermPostings>>>()?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Stats { events: row.get::<_, i64>(0)? as u64, terms: row.get::<_, i64>(1)? as u64 })
    };
    let stats = db.prepare_cached(STATS)?.query_row([subject], read)?;
    Ok(rank(query, &lists, stats, limit))
}

fn postings(db: &Connection, subject: i64, read: Read) -> Answer<TermPostings> {
    let Read { term, df, newest } = read;
    let mut postings = Vec::new();
    if let Some(kept) = term_of(db, subject, &term)? {
        postings = kept.tail;
        let mut query = db.prepare_cached(BLOCKS)?;
        let mut blocks = query.query(params![subject, term])?;
        while postings.len() < newest
            && let Some(row) = blocks.next()?
        {
            let body = row.get_ref(1)?.as_blob().map_err(|error| corrupt(error.to_string()))?;
            decode_block(body, &mut postings).map_err(damaged)?;
        }
    }
    in_order(&mut postings);
    Ok(TermPostings { term, df, postings })
}

fn term_of(db: &Connection, subject: i64, term: &str) -> Answer<Option<Term>> {
    let mut query = db.prepare_cached(TERM)?;
    let mut rows = query.query(params![subject, term])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let mut tail = Vec::new();
    let body = row.get_ref(2)?.as_blob().map_err(|error| corrupt(error.to_string()))?;
    decode_block(body, &mut tail).map_err(damaged)?;
    Ok(Some(Term { df: row.get(0)?, blocks: row.get(1)?, tail }))
}

fn put_term(db: &Connection, subject: i64, term: &str, kept: &Term) -> Answer<()> {
    let tail = encode_block(&kept.tail);
    db.prepare_cached(PUT_TERM)?.execute(params![subject, term, kept.df, kept.blocks, tail])?;
    Ok(())
}

fn damaged(error: BlockError) -> MemoryError {
    corrupt(format!("an index block: {error}"))
}
