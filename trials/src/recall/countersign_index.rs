//! Countersign's own ranking, over an in-memory index that is written and read in blocks like that
//! of a store.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use countersign_memory::RelevanceScore;
use countersign_memory::rank::{
    BLOCK_CAPACITY, IndexStats, Posting, TermPostings, WeightedQuery, analyze_event, decode_block,
    encode_block, plan_reads, rank_hits, refine_score,
};
use countersign_memory::record::{EventLocation, MemoryEvent};

/// The maximum number of hits that are refined with their events.
const MAX_REFINED_HITS: usize = 512;

/// A conversation in Countersign's index.
pub(crate) struct CountersignIndex<'e> {
    events: &'e [MemoryEvent],
    by_position: BTreeMap<EventLocation, usize>,
    blocks: BTreeMap<String, (u32, Vec<Vec<u8>>)>,
    stats: IndexStats,
}

impl<'e> CountersignIndex<'e> {
    pub(crate) fn build(events: &'e [MemoryEvent]) -> Self {
        let mut postings: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
        let mut stats = IndexStats { events: events.len() as u64, terms: 0 };
        for event in events {
            let indexed = analyze_event(event);
            stats.terms += u64::from(indexed.length);
            for (term, posting) in indexed.build_postings(event.location) {
                postings.entry(term.to_owned()).or_default().push(posting);
            }
        }
        let blocks = postings.into_iter().map(|(term, list)| {
            (term, (list.len() as u32, list.chunks(BLOCK_CAPACITY).map(encode_block).collect()))
        });
        let by_position = events.iter().enumerate().map(|(at, event)| (event.location, at));
        Self { by_position: by_position.collect(), blocks: blocks.collect(), stats, events }
    }

    /// Returns the matching turns with their scores, best first.
    pub(crate) fn rank_turns(&self, question: &str) -> Vec<(usize, RelevanceScore)> {
        let query = WeightedQuery::from_texts(&[question]);
        let df = |term: &str| self.blocks.get(term).map_or(0, |(df, _)| *df);
        let reads = plan_reads(query.terms().map(|(term, _)| (term, df(term))));
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
        let hits = rank_hits(&query, &lists, self.stats, MAX_REFINED_HITS);
        let mut scored: Vec<(usize, RelevanceScore)> = hits
            .iter()
            .filter_map(|hit| {
                let at = *self.by_position.get(&hit.location)?;
                Some((at, refine_score(&query, hit, &self.events[at])))
            })
            .filter(|(_, score)| score.total > 0)
            .collect();
        scored.sort_by_key(|(at, score)| (Reverse(score.total), Reverse(*at)));
        scored
    }
}
