//! Countersign's own ranking, over an index in memory that is written and read in blocks as a store's is.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use countersign_memory::Score;
use countersign_memory::rank::{
    BLOCK, Posting, Query, Stats, TermPostings, decode_block, encode_block, indexed, plan, rank,
    refine,
};
use countersign_memory::record::{Event, Place};

/// How many hits are looked at with their events.
const LOOKED_AT: usize = 512;

/// A conversation in the index.
pub(crate) struct Ours<'e> {
    events: &'e [Event],
    by_place: BTreeMap<Place, usize>,
    blocks: BTreeMap<String, (u32, Vec<Vec<u8>>)>,
    stats: Stats,
}

impl<'e> Ours<'e> {
    pub(crate) fn index(events: &'e [Event]) -> Self {
        let mut postings: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
        let mut stats = Stats { events: events.len() as u64, terms: 0 };
        for event in events {
            let indexed = indexed(event);
            stats.terms += u64::from(indexed.length);
            for (term, posting) in indexed.postings(event.place) {
                postings.entry(term.to_owned()).or_default().push(posting);
            }
        }
        let blocks = postings.into_iter().map(|(term, list)| {
            (term, (list.len() as u32, list.chunks(BLOCK).map(encode_block).collect()))
        });
        let by_place = events.iter().enumerate().map(|(at, event)| (event.place, at));
        Self { by_place: by_place.collect(), blocks: blocks.collect(), stats, events }
    }

    /// The turns that answer, with their scores, best first.
    pub(crate) fn ask(&self, question: &str) -> Vec<(usize, Score)> {
        let query = Query::of_texts(&[question]);
        let df = |term: &str| self.blocks.get(term).map_or(0, |(df, _)| *df);
        let reads = plan(query.terms().map(|(term, _)| (term, df(term))));
        let lists: Vec<TermPostings> = reads
            .into_iter()
            .map(|read| {
                let mut postings = Vec::new();
                for block in &self.blocks[&read.term].1 {
                    decode_block(block, &mut postings).expect("the blocks were written above");
                }
                TermPostings { term: read.term, df: read.df, postings }
            })
            .collect();
        let hits = rank(&query, &lists, self.stats, LOOKED_AT);
        let mut scored: Vec<(usize, Score)> = hits
            .iter()
            .filter_map(|hit| {
                let at = *self.by_place.get(&hit.place)?;
                Some((at, refine(&query, hit, &self.events[at])))
            })
            .filter(|(_, score)| score.total > 0)
            .collect();
        scored.sort_by_key(|(at, score)| (Reverse(score.total), Reverse(*at)));
        scored
    }
}
