//! The index: which events of a subject a term stands in. Written in the transaction of its events, and
//! counted by subject, so that no score tells anything of others.
//!
//! The postings of a term ascend by place: full blocks, each under the key of its first place, and behind
//! them the tail, which stands beside the term. Sessions run side by side, so that a posting may belong
//! before the tail; it then goes into the block where it belongs. What is read of a term depends on its
//! postings alone, not on how they came. Where terms and blocks lie is the business of [`Terms`].

use std::collections::BTreeMap;

use super::error::{MemoryError, corrupt};
use super::shelves::{Answer, Ranked};
use crate::rank::{
    ANALYSER, BLOCK, BlockError, Posting, Query, Read, Stats, TermPostings, decode_block,
    encode_block, in_order, indexed, plan, rank,
};
use crate::record::{Event, Place};

/// How the postings of a term are laid out; raised when that changes.
const LAYOUT: u32 = 2;

/// By which rules the index is made.
pub(super) fn version() -> String {
    format!("{ANALYSER}/{LAYOUT}")
}

/// The terms of one subject, and the blocks behind them.
pub(super) trait Terms {
    /// What is kept of these terms; those that stand nowhere are left out.
    fn terms(&self, terms: &[&str]) -> Answer<BTreeMap<String, Term>>;

    /// Keeps terms; one that stands in no event any more is taken out.
    fn put_terms(&self, terms: &BTreeMap<String, Term>) -> Answer<()>;

    /// The block that a key belongs to: the last that begins no later, or the first.
    fn block_of(&self, term: &str, key: i64) -> Answer<Option<Body>>;

    /// The last blocks of each of these terms, the newest first.
    fn newest(&self, wanted: &[Wanted<'_>]) -> Answer<Vec<Vec<Body>>>;

    /// Keeps a block in the place of what is under its key.
    fn put_block(&self, term: &str, block: &Body) -> Answer<()>;

    /// Takes a block out.
    fn drop_block(&self, term: &str, key: i64) -> Answer<()>;

    /// Counts events and their lengths, or counts them off.
    fn count(&self, events: i64, length: i64) -> Answer<()>;

    /// What was counted.
    fn stats(&self) -> Answer<Stats>;
}

/// What is kept of a term beside its full blocks. The tail is empty only where there is no block.
#[derive(Debug, Default)]
pub(super) struct Term {
    pub(super) df: u32,
    pub(super) blocks: u32,
    pub(super) tail: Vec<Posting>,
}

impl Term {
    /// A term from what is kept of it.
    pub(super) fn read(df: u32, blocks: u32, tail: &[u8]) -> Answer<Self> {
        Ok(Self { df, blocks, tail: decoded(tail)? })
    }

    /// The tail as it is kept.
    pub(super) fn tail(&self) -> Vec<u8> {
        encode_block(&self.tail)
    }
}

/// A full block as it is kept: its key, and its bytes.
pub(super) type Body = (i64, Vec<u8>);

/// So many blocks of a term, those before a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) term: &'a str,
    pub(super) before: i64,
    pub(super) most: usize,
}

/// Writes events into the index.
pub(super) fn add(index: &impl Terms, events: &[Event]) -> Answer<()> {
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
    add_postings(index, new)?;
    index.count(events.len() as i64, length)
}

/// Adds postings, by term.
pub(super) fn add_postings(index: &impl Terms, new: BTreeMap<String, Vec<Posting>>) -> Answer<()> {
    let terms: Vec<&str> = new.keys().map(String::as_str).collect();
    let mut kept = index.terms(&terms)?;
    for (term, postings) in new {
        let one = kept.entry(term.clone()).or_default();
        add_to(index, &term, one, postings)?;
    }
    index.put_terms(&kept)
}

fn add_to(
    index: &impl Terms,
    term: &str,
    kept: &mut Term,
    mut postings: Vec<Posting>,
) -> Answer<()> {
    in_order(&mut postings);
    kept.df += postings.len() as u32;
    let before = match kept.tail.first() {
        Some(first) if kept.blocks > 0 => {
            postings.partition_point(|posting| posting.place < first.place)
        }
        _ => 0,
    };
    for posting in postings.drain(..before) {
        let (begin, mut postings) = block_of(index, term, posting.place)?;
        let at = postings.partition_point(|there| there.place < posting.place);
        postings.insert(at, posting);
        let all = postings.len();
        let (one, other) = postings.split_at(if all > BLOCK { all / 2 } else { all });
        change_block(index, term, begin, one)?;
        if !other.is_empty() {
            put_block(index, term, other)?;
            kept.blocks += 1;
        }
    }
    kept.tail.append(&mut postings);
    in_order(&mut kept.tail);
    while kept.tail.len() > BLOCK {
        let rest = kept.tail.split_off(BLOCK);
        put_block(index, term, &kept.tail)?;
        kept.blocks += 1;
        kept.tail = rest;
    }
    Ok(())
}

/// Takes events out of the index.
pub(super) fn remove(index: &impl Terms, events: &[Event]) -> Answer<()> {
    let mut gone: BTreeMap<String, Vec<Place>> = BTreeMap::new();
    let mut length = 0_i64;
    for event in events {
        let found = indexed(event);
        length += i64::from(found.length);
        for term in found.terms.keys() {
            gone.entry(term.clone()).or_default().push(event.place);
        }
    }
    remove_postings(index, &gone)?;
    index.count(-(events.len() as i64), -length)
}

/// Takes postings out, by term. What is not there is out already.
pub(super) fn remove_postings(
    index: &impl Terms,
    gone: &BTreeMap<String, Vec<Place>>,
) -> Answer<()> {
    let terms: Vec<&str> = gone.keys().map(String::as_str).collect();
    let mut kept = index.terms(&terms)?;
    for (term, kept) in &mut kept {
        for place in gone.get(term).into_iter().flatten() {
            remove_from(index, term, kept, *place)?;
        }
    }
    index.put_terms(&kept)
}

fn remove_from(index: &impl Terms, term: &str, kept: &mut Term, place: Place) -> Answer<()> {
    if let Ok(at) = kept.tail.binary_search_by_key(&place, |posting| posting.place) {
        kept.tail.remove(at);
    } else if kept.blocks == 0 {
        return Ok(());
    } else {
        let (begin, mut postings) = block_of(index, term, place)?;
        let at = postings.binary_search_by_key(&place, |posting| posting.place);
        let Ok(at) = at else { return Ok(()) };
        postings.remove(at);
        change_block(index, term, begin, &postings)?;
        kept.blocks -= u32::from(postings.is_empty());
    }
    kept.df -= 1;
    if kept.tail.is_empty() && kept.blocks > 0 {
        let last = Place { session: u32::MAX, position: u32::MAX };
        let (begin, postings) = block_of(index, term, last)?;
        index.drop_block(term, begin)?;
        (kept.tail, kept.blocks) = (postings, kept.blocks - 1);
    }
    Ok(())
}

/// The places that answer a question, best first.
pub(super) fn ranked(index: &impl Terms, query: &Query, limit: usize) -> Answer<Ranked> {
    let terms: Vec<&str> = query.terms().map(|(term, _)| term).collect();
    let mut known = index.terms(&terms)?;
    let reads = plan(known.iter().map(|(term, kept)| (term.as_str(), kept.df)));
    let wanted = reads.iter().filter(|read| read.newest > 0);
    let wanted: Vec<(&Read, Term)> =
        wanted.map(|read| (read, known.remove(&read.term).unwrap_or_default())).collect();
    let lists = newest(index, wanted)?;
    Ok(Ranked { hits: rank(query, &lists, index.stats()?, limit), reads })
}

/// The newest postings of terms, as many as are to be read of each.
pub(super) fn newest(index: &impl Terms, terms: Vec<(&Read, Term)>) -> Answer<Vec<TermPostings>> {
    // Blocks come with the newest first; inside, postings ascend.
    let mut blocks: Vec<Vec<Vec<Posting>>> = Vec::with_capacity(terms.len());
    let mut left: Vec<(usize, usize, i64)> = Vec::new();
    for (at, (read, kept)) in terms.iter().enumerate() {
        let missing = read.newest.saturating_sub(kept.tail.len());
        if kept.blocks > 0 && missing > 0 {
            left.push((at, missing, i64::MAX));
        }
        blocks.push(Vec::new());
    }
    while !left.is_empty() {
        let ask = |(at, missing, before): &(usize, usize, i64)| Wanted {
            term: &terms[*at].0.term,
            before: *before,
            most: missing.div_ceil(BLOCK),
        };
        let wanted: Vec<Wanted<'_>> = left.iter().map(ask).collect();
        let answers = index.newest(&wanted)?;
        let mut still = Vec::new();
        for ((&(at, mut missing, _), wanted), bodies) in left.iter().zip(&wanted).zip(answers) {
            let all = bodies.len() < wanted.most;
            let Some((last, _)) = bodies.last() else { continue };
            let last = *last;
            for (_, body) in &bodies {
                let postings = decoded(body)?;
                missing = missing.saturating_sub(postings.len());
                blocks[at].push(postings);
            }
            // A block need not be full.
            if missing > 0 && !all {
                still.push((at, missing, last));
            }
        }
        left = still;
    }
    let mut lists = Vec::with_capacity(terms.len());
    for ((read, kept), blocks) in terms.into_iter().zip(blocks) {
        let all = blocks.iter().map(Vec::len).sum::<usize>() + kept.tail.len();
        let mut postings = Vec::with_capacity(all);
        blocks.iter().rev().for_each(|block| postings.extend_from_slice(block));
        postings.extend(kept.tail);
        postings.drain(..postings.len().saturating_sub(read.newest));
        lists.push(TermPostings { term: read.term.clone(), df: read.df, postings });
    }
    Ok(lists)
}

/// The postings of the block that a place belongs to, under its key.
fn block_of(index: &impl Terms, term: &str, place: Place) -> Answer<(i64, Vec<Posting>)> {
    let (begin, body) = index.block_of(term, key(place))?.ok_or_else(|| missing(term))?;
    Ok((begin, decoded(&body)?))
}

/// Puts other postings in the place of a block; none where there are none.
fn change_block(index: &impl Terms, term: &str, begin: i64, postings: &[Posting]) -> Answer<()> {
    if postings.first().map(|first| key(first.place)) != Some(begin) {
        index.drop_block(term, begin)?;
    }
    put_block(index, term, postings)
}

fn put_block(index: &impl Terms, term: &str, postings: &[Posting]) -> Answer<()> {
    let Some(first) = postings.first() else { return Ok(()) };
    index.put_block(term, &(key(first.place), encode_block(postings)))
}

/// A place as a number in the same order.
fn key(place: Place) -> i64 {
    let packed = u64::from(place.session) << 32 | u64::from(place.position);
    (packed ^ (1 << 63)) as i64
}

fn decoded(body: &[u8]) -> Answer<Vec<Posting>> {
    // No posting is written in fewer bytes.
    let mut postings = Vec::with_capacity((body.len() / 4).min(BLOCK));
    decode_block(body, &mut postings).map_err(damaged)?;
    Ok(postings)
}

fn damaged(error: BlockError) -> MemoryError {
    corrupt(format!("an index block: {error}"))
}

/// The term itself stays unsaid: it is somebody's word.
fn missing(term: &str) -> MemoryError {
    corrupt(format!("a block of a term of {} bytes is missing from the index", term.len()))
}
