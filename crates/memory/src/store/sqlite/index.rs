//! The index: which events of a subject a term stands in. Written in the transaction of its events, and
//! counted by subject, so that no score tells anything of others.
//!
//! The postings of a term ascend by place: full blocks, each under the key of its first place, and behind
//! them the tail, which stands beside the term. Sessions run side by side, so that a posting may belong
//! before the tail; it then goes into the block where it belongs. What is read of a term depends on its
//! postings alone, not on how they came.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::super::error::{MemoryError, corrupt};
use super::super::shelves::{Answer, Ranked};
use crate::rank::{
    BLOCK, BlockError, Posting, Query, Read, Stats, TermPostings, decode_block, encode_block,
    in_order, indexed, plan, rank,
};
use crate::record::{Event, Place};

const TERM: &str = "SELECT df, blocks, tail FROM terms WHERE subject = ?1 AND term = ?2";
const PUT_TERM: &str =
    "INSERT INTO terms (subject, term, df, blocks, tail) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (subject, term) DO UPDATE
    SET df = excluded.df, blocks = excluded.blocks, tail = excluded.tail";
const DROP_TERM: &str = "DELETE FROM terms WHERE subject = ?1 AND term = ?2";
const PUT_BLOCK: &str = "INSERT INTO postings (subject, term, block, body) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (subject, term, block) DO UPDATE SET body = excluded.body";
const DROP_BLOCK: &str = "DELETE FROM postings WHERE subject = ?1 AND term = ?2 AND block = ?3";
/// The newest places first.
const BLOCKS: &str =
    "SELECT block, body FROM postings WHERE subject = ?1 AND term = ?2 ORDER BY block DESC";
const BLOCK_OF: &str = "SELECT block, body FROM postings
    WHERE subject = ?1 AND term = ?2 AND block <= ?3 ORDER BY block DESC LIMIT 1";
const FIRST_BLOCK: &str =
    "SELECT block, body FROM postings WHERE subject = ?1 AND term = ?2 ORDER BY block LIMIT 1";
const COUNT: &str =
    "UPDATE subjects SET events = events + ?2, terms = terms + ?3 WHERE number = ?1";
const STATS: &str = "SELECT events, terms FROM subjects WHERE number = ?1";

/// What is kept of a term beside its full blocks. The tail is empty only where there is no block.
#[derive(Default)]
struct Term {
    df: u32,
    blocks: u32,
    tail: Vec<Posting>,
}

/// A full block.
struct Block {
    key: i64,
    postings: Vec<Posting>,
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
        add_postings(db, subject, &term, postings)?;
    }
    db.prepare_cached(COUNT)?.execute(params![subject, events.len() as i64, length])?;
    Ok(())
}

fn add_postings(
    db: &Connection,
    subject: i64,
    term: &str,
    mut postings: Vec<Posting>,
) -> Answer<()> {
    in_order(&mut postings);
    let mut kept = term_of(db, subject, term)?.unwrap_or_default();
    kept.df += postings.len() as u32;
    let before = match kept.tail.first() {
        Some(first) if kept.blocks > 0 => {
            postings.partition_point(|posting| posting.place < first.place)
        }
        _ => 0,
    };
    for posting in postings.drain(..before) {
        let block = block_of(db, subject, term, posting.place)?;
        let Some(Block { key, mut postings }) = block else { return Err(missing(term)) };
        let at = postings.partition_point(|there| there.place < posting.place);
        postings.insert(at, posting);
        let all = postings.len();
        let (one, other) = postings.split_at(if all > BLOCK { all / 2 } else { all });
        change_block(db, subject, term, key, one)?;
        if !other.is_empty() {
            put_block(db, subject, term, other)?;
            kept.blocks += 1;
        }
    }
    kept.tail.append(&mut postings);
    in_order(&mut kept.tail);
    while kept.tail.len() > BLOCK {
        let rest = kept.tail.split_off(BLOCK);
        put_block(db, subject, term, &kept.tail)?;
        kept.blocks += 1;
        kept.tail = rest;
    }
    put_term(db, subject, term, &kept)
}

/// Takes events out of the index.
pub(super) fn remove(db: &Connection, subject: i64, events: &[Event]) -> Answer<()> {
    let mut length = 0_i64;
    for event in events {
        let found = indexed(event);
        length += i64::from(found.length);
        for term in found.terms.keys() {
            remove_posting(db, subject, term, event.place)?;
        }
    }
    db.prepare_cached(COUNT)?.execute(params![subject, -(events.len() as i64), -length])?;
    Ok(())
}

fn remove_posting(db: &Connection, subject: i64, term: &str, place: Place) -> Answer<()> {
    let Some(mut kept) = term_of(db, subject, term)? else { return Ok(()) };
    if let Ok(at) = kept.tail.binary_search_by_key(&place, |posting| posting.place) {
        kept.tail.remove(at);
    } else if kept.blocks == 0 {
        return Ok(());
    } else {
        let block = block_of(db, subject, term, place)?;
        let Some(Block { key, mut postings }) = block else { return Err(missing(term)) };
        let at = postings.binary_search_by_key(&place, |posting| posting.place);
        let Ok(at) = at else { return Ok(()) };
        postings.remove(at);
        change_block(db, subject, term, key, &postings)?;
        kept.blocks -= u32::from(postings.is_empty());
    }
    kept.df -= 1;
    if kept.tail.is_empty() && kept.blocks > 0 {
        let last = block_of(db, subject, term, Place { session: u32::MAX, position: u32::MAX })?;
        let Some(Block { key, postings }) = last else { return Err(missing(term)) };
        change_block(db, subject, term, key, &[])?;
        (kept.tail, kept.blocks) = (postings, kept.blocks - 1);
    }
    if kept.df == 0 {
        db.prepare_cached(DROP_TERM)?.execute(params![subject, term])?;
        return Ok(());
    }
    put_term(db, subject, term, &kept)
}

/// The places that answer a question, best first.
pub(super) fn ranked(db: &Connection, subject: i64, query: &Query, limit: usize) -> Answer<Ranked> {
    let mut known: BTreeMap<&str, Term> = BTreeMap::new();
    for (term, _) in query.terms() {
        if let Some(kept) = term_of(db, subject, term)? {
            known.insert(term, kept);
        }
    }
    let reads = plan(known.iter().map(|(term, kept)| (*term, kept.df)));
    let mut lists = Vec::with_capacity(reads.len());
    for read in reads.iter().filter(|read| read.newest > 0) {
        let kept = known.remove(read.term.as_str()).unwrap_or_default();
        lists.push(postings(db, subject, read, kept)?);
    }
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Stats { events: row.get::<_, i64>(0)? as u64, terms: row.get::<_, i64>(1)? as u64 })
    };
    let stats = db.prepare_cached(STATS)?.query_row([subject], read)?;
    Ok(Ranked { hits: rank(query, &lists, stats, limit), reads })
}

/// The newest postings of a term, as many as are to be read.
fn postings(db: &Connection, subject: i64, read: &Read, kept: Term) -> Answer<TermPostings> {
    let Read { term, df, newest } = read;
    // Blocks come with the newest first; inside, postings ascend.
    let (mut newest_first, mut ends) = (kept.tail, Vec::new());
    ends.push(newest_first.len());
    if kept.blocks > 0 && newest_first.len() < *newest {
        let mut query = db.prepare_cached(BLOCKS)?;
        let mut blocks = query.query(params![subject, term])?;
        while newest_first.len() < *newest
            && let Some(row) = blocks.next()?
        {
            let body = row.get_ref(1)?.as_blob().map_err(|error| corrupt(error.to_string()))?;
            decode_block(body, &mut newest_first).map_err(damaged)?;
            ends.push(newest_first.len());
        }
    }
    let mut postings = Vec::with_capacity(newest_first.len());
    for block in (0..ends.len()).rev() {
        let from = if block == 0 { 0 } else { ends[block - 1] };
        postings.extend_from_slice(&newest_first[from..ends[block]]);
    }
    postings.drain(..postings.len().saturating_sub(*newest));
    Ok(TermPostings { term: term.clone(), df: *df, postings })
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

/// The block that a place belongs to: the last that begins no later, or the first.
fn block_of(db: &Connection, subject: i64, term: &str, place: Place) -> Answer<Option<Block>> {
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
    let mut query = db.prepare_cached(BLOCK_OF)?;
    let found = query.query_row(params![subject, term, key(place)], read).optional()?;
    let found = match found {
        Some(found) => Some(found),
        None => {
            let mut query = db.prepare_cached(FIRST_BLOCK)?;
            query.query_row(params![subject, term], read).optional()?
        }
    };
    let Some((key, body)) = found else { return Ok(None) };
    let mut postings = Vec::new();
    decode_block(&body, &mut postings).map_err(damaged)?;
    Ok(Some(Block { key, postings }))
}

/// Puts other postings in the place of a block; none where there are none.
fn change_block(
    db: &Connection,
    subject: i64,
    term: &str,
    before: i64,
    postings: &[Posting],
) -> Answer<()> {
    if postings.first().map(|first| key(first.place)) != Some(before) {
        db.prepare_cached(DROP_BLOCK)?.execute(params![subject, term, before])?;
    }
    put_block(db, subject, term, postings)
}

fn put_block(db: &Connection, subject: i64, term: &str, postings: &[Posting]) -> Answer<()> {
    let Some(first) = postings.first() else { return Ok(()) };
    let body = encode_block(postings);
    db.prepare_cached(PUT_BLOCK)?.execute(params![subject, term, key(first.place), body])?;
    Ok(())
}

/// A place as a number in the same order.
fn key(place: Place) -> i64 {
    let packed = u64::from(place.session) << 32 | u64::from(place.position);
    (packed ^ (1 << 63)) as i64
}

fn damaged(error: BlockError) -> MemoryError {
    corrupt(format!("an index block: {error}"))
}

/// The term itself stays unsaid: it is somebody's word.
fn missing(term: &str) -> MemoryError {
    corrupt(format!("a block of a term of {} bytes is missing from the index", term.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERM: &str = "heron";

    fn empty() -> Connection {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("migrations/0001_memory.sql")).unwrap();
        db.execute_batch("INSERT INTO subjects (tenant, user, agent) VALUES ('t', 'u', 'a')")
            .unwrap();
        db
    }

    fn posting(session: u32, position: u32) -> Posting {
        Posting { place: Place { session, position }, tf: 1, length: 9, prose: false }
    }

    /// Three sessions of four hundred, the second of which goes on when the third has begun.
    fn all() -> Vec<Posting> {
        (1..=3).flat_map(|session| (1..=400).map(move |at| posting(session, at))).collect()
    }

    fn read(db: &Connection, newest: usize) -> Vec<Posting> {
        let kept = term_of(db, 1, TERM).unwrap().unwrap_or_default();
        let read = Read { term: TERM.to_owned(), df: kept.df, newest };
        postings(db, 1, &read, kept).unwrap().postings
    }

    /// In an order that is no order, but the same each time.
    fn mixed(mut postings: Vec<Posting>) -> Vec<Posting> {
        postings.sort_by_key(|posting| {
            let Place { session, position } = posting.place;
            (session * 7_919 + position * 104_729) % 1_009
        });
        postings
    }

    #[test]
    fn the_newest_are_read_however_they_came() {
        let orders: [(&str, usize, Vec<Posting>); 4] = [
            ("as they stand", 1, all()),
            ("many at once", 300, all()),
            ("mixed", 1, mixed(all())),
            ("mixed, some at once", 37, mixed(all())),
        ];
        for (order, at_once, postings) in orders {
            let db = empty();
            for some in postings.chunks(at_once) {
                add_postings(&db, 1, TERM, some.to_vec()).unwrap();
            }
            for newest in [1, 100, 128, 500, 1_199, 1_200] {
                assert_eq!(read(&db, newest), all()[1_200 - newest..], "{order}: {newest}");
            }
            let largest = "SELECT max(length(body)) FROM postings";
            let largest: u32 = db.query_row(largest, [], |row| row.get(0)).unwrap();
            assert!(largest as usize <= BLOCK * 5, "{order}: a block of {largest} bytes");
        }
    }

    #[test]
    fn what_is_taken_out_is_out() {
        let db = empty();
        add_postings(&db, 1, TERM, all()).unwrap();
        let (mut left, gone) = (mixed(all()), mixed(all()).split_off(300));
        left.truncate(300);
        in_order(&mut left);
        for posting in gone {
            remove_posting(&db, 1, TERM, posting.place).unwrap();
            remove_posting(&db, 1, TERM, posting.place).unwrap();
        }
        assert_eq!(read(&db, 1_200), left);
        assert_eq!(read(&db, 7), left[293..]);
        for posting in left {
            remove_posting(&db, 1, TERM, posting.place).unwrap();
        }
        let rows = "SELECT (SELECT count(*) FROM terms) + (SELECT count(*) FROM postings)";
        assert_eq!(db.query_row(rows, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    }
}
