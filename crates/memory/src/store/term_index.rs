//! The term index: which events of a subject contain a term. It is written in the transaction of
//! the events, and its statistics are per subject, so that no score reveals anything about others.
//!
//! The postings of a term ascend by location: full blocks, each with its first location as key, and
//! after them the tail, which is stored with the term. Sessions are concurrent, so a new posting
//! may belong before the tail; it then goes into the block where it belongs. The result of a read
//! depends on the postings only, not on the order in which they were written. [`TermIndex`] decides
//! where terms and blocks are stored.

use std::collections::BTreeMap;

use super::memory_error::{MemoryError, corrupt_error};
use super::row_store::{MemoryResult, RankedHits};
use crate::rank::{
    BLOCK_CAPACITY, IndexStats, PieceScorer, Posting, PostingBlockError, PostingRead,
    TERM_ANALYZER, TermPostings, WeightedQuery, analyze_event, decode_block, encode_block,
    plan_reads, rank_hits, sort_postings,
};
use crate::record::{EventLocation, MemoryEvent};

/// The version of the storage layout of postings; raised when the layout changes.
const LAYOUT: u32 = 3;

/// Returns the version of the index: text analysis and layout.
pub(super) fn index_version() -> String {
    format!("{TERM_ANALYZER}/{LAYOUT}")
}

/// The terms of one subject and their blocks.
pub(super) trait TermIndex {
    /// Loads these terms; terms that no event contains are left out.
    fn load_terms(&self, terms: &[&str]) -> MemoryResult<BTreeMap<String, TermEntry>>;

    /// Stores terms; a term that no event contains any more is removed.
    fn put_terms(&self, terms: &BTreeMap<String, TermEntry>) -> MemoryResult<()>;

    /// Finds the block that a key belongs to: the last one that begins no later, or else the first.
    fn find_block(&self, term: &str, key: i64) -> MemoryResult<Option<PostingBlock>>;

    /// Loads the last blocks of each term, newest first.
    fn load_newest_blocks(
        &self,
        wanted: &[BlockRequest<'_>],
    ) -> MemoryResult<Vec<Vec<PostingBlock>>>;

    /// Stores a block and replaces an existing one with the same key.
    fn put_block(&self, term: &str, block: &PostingBlock) -> MemoryResult<()>;

    /// Removes a block by its key.
    fn drop_block(&self, term: &str, key: i64) -> MemoryResult<()>;

    /// Adds to the number of events and terms; negative values subtract.
    fn add_counts(&self, events: i64, length: i64) -> MemoryResult<()>;

    /// Loads the statistics of the subject.
    fn load_stats(&self) -> MemoryResult<IndexStats>;
}

/// A term without its full blocks. The tail is empty only if there is no block.
#[derive(Debug, Default)]
pub(super) struct TermEntry {
    pub(super) df: u32,
    pub(super) blocks: u32,
    pub(super) tail: Vec<Posting>,
}

impl TermEntry {
    /// Decodes a stored term.
    pub(super) fn decode(df: u32, blocks: u32, tail: &[u8]) -> MemoryResult<Self> {
        Ok(Self { df, blocks, tail: decode_postings(tail)? })
    }

    /// Encodes the tail for storage.
    pub(super) fn encode_tail(&self) -> Vec<u8> {
        encode_block(&self.tail)
    }
}

/// A stored full block: its key and its bytes.
pub(super) type PostingBlock = (i64, Vec<u8>);

/// A request for up to `limit` blocks of a term before a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockRequest<'a> {
    pub(super) term: &'a str,
    pub(super) before: i64,
    pub(super) limit: usize,
}

/// Adds events to the index.
pub(super) fn index_events(index: &impl TermIndex, events: &[MemoryEvent]) -> MemoryResult<()> {
    let mut new: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
    let mut length = 0_i64;
    for event in events {
        let found = analyze_event(event);
        length += i64::from(found.length);
        for (term, posting) in found.build_postings(event.location) {
            match new.get_mut(term) {
                Some(postings) => postings.push(posting),
                None => drop(new.insert(term.to_owned(), vec![posting])),
            }
        }
    }
    add_postings(index, new)?;
    index.add_counts(events.len() as i64, length)
}

/// Adds postings by term.
pub(super) fn add_postings(
    index: &impl TermIndex,
    new: BTreeMap<String, Vec<Posting>>,
) -> MemoryResult<()> {
    let terms: Vec<&str> = new.keys().map(String::as_str).collect();
    let mut kept = index.load_terms(&terms)?;
    for (term, postings) in new {
        let one = kept.entry(term.clone()).or_default();
        add_term_postings(index, &term, one, postings)?;
    }
    index.put_terms(&kept)
}

fn add_term_postings(
    index: &impl TermIndex,
    term: &str,
    kept: &mut TermEntry,
    mut postings: Vec<Posting>,
) -> MemoryResult<()> {
    sort_postings(&mut postings);
    kept.df += postings.len() as u32;
    let before = match kept.tail.first() {
        Some(first) if kept.blocks > 0 => {
            postings.partition_point(|posting| posting.location < first.location)
        }
        _ => 0,
    };
    for posting in postings.drain(..before) {
        let (begin, mut postings) = load_block(index, term, posting.location)?;
        let at = postings.partition_point(|there| there.location < posting.location);
        postings.insert(at, posting);
        let all = postings.len();
        let (one, other) = postings.split_at(if all > BLOCK_CAPACITY { all / 2 } else { all });
        replace_block(index, term, begin, one)?;
        if !other.is_empty() {
            put_block(index, term, other)?;
            kept.blocks += 1;
        }
    }
    kept.tail.append(&mut postings);
    sort_postings(&mut kept.tail);
    while kept.tail.len() > BLOCK_CAPACITY {
        let rest = kept.tail.split_off(BLOCK_CAPACITY);
        put_block(index, term, &kept.tail)?;
        kept.blocks += 1;
        kept.tail = rest;
    }
    Ok(())
}

/// Removes events from the index.
pub(super) fn unindex_events(index: &impl TermIndex, events: &[MemoryEvent]) -> MemoryResult<()> {
    let mut gone: BTreeMap<String, Vec<EventLocation>> = BTreeMap::new();
    let mut length = 0_i64;
    for event in events {
        let found = analyze_event(event);
        length += i64::from(found.length);
        for term in found.terms.keys() {
            gone.entry(term.clone()).or_default().push(event.location);
        }
    }
    remove_postings(index, &gone)?;
    index.add_counts(-(events.len() as i64), -length)
}

/// Removes postings by term. Missing postings are ignored.
pub(super) fn remove_postings(
    index: &impl TermIndex,
    gone: &BTreeMap<String, Vec<EventLocation>>,
) -> MemoryResult<()> {
    let terms: Vec<&str> = gone.keys().map(String::as_str).collect();
    let mut kept = index.load_terms(&terms)?;
    for (term, kept) in &mut kept {
        for place in gone.get(term).into_iter().flatten() {
            remove_posting(index, term, kept, *place)?;
        }
    }
    index.put_terms(&kept)
}

fn remove_posting(
    index: &impl TermIndex,
    term: &str,
    kept: &mut TermEntry,
    place: EventLocation,
) -> MemoryResult<()> {
    if let Ok(at) = kept.tail.binary_search_by_key(&place, |posting| posting.location) {
        kept.tail.remove(at);
    } else if kept.blocks == 0 {
        return Ok(());
    } else {
        let (begin, mut postings) = load_block(index, term, place)?;
        let at = postings.binary_search_by_key(&place, |posting| posting.location);
        let Ok(at) = at else { return Ok(()) };
        postings.remove(at);
        replace_block(index, term, begin, &postings)?;
        kept.blocks -= u32::from(postings.is_empty());
    }
    kept.df -= 1;
    if kept.tail.is_empty() && kept.blocks > 0 {
        let last = EventLocation { session: u32::MAX, position: u32::MAX };
        let (begin, postings) = load_block(index, term, last)?;
        index.drop_block(term, begin)?;
        (kept.tail, kept.blocks) = (postings, kept.blocks - 1);
    }
    Ok(())
}

/// Ranks the locations that match a query, best first.
pub(super) fn rank_events(
    index: &impl TermIndex,
    query: &WeightedQuery,
    limit: usize,
) -> MemoryResult<RankedHits> {
    let terms: Vec<&str> = query.terms().map(|(term, _)| term).collect();
    let mut known = index.load_terms(&terms)?;
    let reads = plan_reads(known.iter().map(|(term, kept)| (term.as_str(), kept.df)));
    let wanted = reads.iter().filter(|read| read.newest > 0);
    let wanted: Vec<(&PostingRead, TermEntry)> =
        wanted.map(|read| (read, known.remove(&read.term).unwrap_or_default())).collect();
    let lists = load_newest_postings(index, wanted)?;
    let stats = index.load_stats()?;
    let hits = rank_hits(query, &lists, stats, limit);
    Ok(RankedHits { hits, reads, pieces: PieceScorer::new(query, &lists, stats) })
}

/// Loads the newest postings of each term, as many as planned.
pub(super) fn load_newest_postings(
    index: &impl TermIndex,
    terms: Vec<(&PostingRead, TermEntry)>,
) -> MemoryResult<Vec<TermPostings>> {
    // Blocks are loaded newest first; postings within a block ascend.
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
        let ask = |(at, missing, before): &(usize, usize, i64)| BlockRequest {
            term: &terms[*at].0.term,
            before: *before,
            limit: missing.div_ceil(BLOCK_CAPACITY),
        };
        let wanted: Vec<BlockRequest<'_>> = left.iter().map(ask).collect();
        let answers = index.load_newest_blocks(&wanted)?;
        let mut still = Vec::new();
        for ((&(at, mut missing, _), wanted), bodies) in left.iter().zip(&wanted).zip(answers) {
            let all = bodies.len() < wanted.limit;
            let Some((last, _)) = bodies.last() else { continue };
            let last = *last;
            for (_, body) in &bodies {
                let postings = decode_postings(body)?;
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

/// Loads the postings of the block that a location belongs to, with its key.
fn load_block(
    index: &impl TermIndex,
    term: &str,
    place: EventLocation,
) -> MemoryResult<(i64, Vec<Posting>)> {
    let (begin, body) = index
        .find_block(term, encode_block_key(place))?
        .ok_or_else(|| missing_block_error(term))?;
    Ok((begin, decode_postings(&body)?))
}

/// Replaces the postings of a block; removes the block if there are none.
fn replace_block(
    index: &impl TermIndex,
    term: &str,
    begin: i64,
    postings: &[Posting],
) -> MemoryResult<()> {
    if postings.first().map(|first| encode_block_key(first.location)) != Some(begin) {
        index.drop_block(term, begin)?;
    }
    put_block(index, term, postings)
}

fn put_block(index: &impl TermIndex, term: &str, postings: &[Posting]) -> MemoryResult<()> {
    let Some(first) = postings.first() else { return Ok(()) };
    index.put_block(term, &(encode_block_key(first.location), encode_block(postings)))
}

/// Encodes a location as an integer with the same order.
fn encode_block_key(place: EventLocation) -> i64 {
    let packed = u64::from(place.session) << 32 | u64::from(place.position);
    (packed ^ (1 << 63)) as i64
}

fn decode_postings(body: &[u8]) -> MemoryResult<Vec<Posting>> {
    // An encoded posting has at least four bytes.
    let mut postings = Vec::with_capacity((body.len() / 4).min(BLOCK_CAPACITY));
    decode_block(body, &mut postings).map_err(damaged_block_error)?;
    Ok(postings)
}

fn damaged_block_error(error: PostingBlockError) -> MemoryError {
    corrupt_error(format!("cannot read an index block: {error}"))
}

/// The message does not contain the term itself, because it is a user's word.
fn missing_block_error(term: &str) -> MemoryError {
    corrupt_error(format!("a block of a term of {} bytes is missing from the index", term.len()))
}
