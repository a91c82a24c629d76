//! What ranking costs by the number of postings: decoding them, and ranking what was decoded.
//!
//! A question of five words, each in as many places as the rest; 32,768 in all is what is read at most.

use countersign_memory::rank::{
    BLOCK_CAPACITY, IndexStats, Posting, TermPostings, WeightedQuery, decode_block, encode_block,
    rank_hits,
};
use countersign_memory::record::EventLocation;
use divan::{Bencher, black_box};

const WORDS: [&str; 5] = ["oven", "flight", "piano", "garden", "lawyer"];
const POSTINGS: [u32; 3] = [512, 4_096, 32_768];
const STATS: IndexStats = IndexStats { events: 1_000_000, terms: 12_000_000 };

fn main() {
    divan::main();
}

/// Postings of the words, spread over sessions of 30 events; every word at places of its own.
fn lists(postings: u32) -> Vec<TermPostings> {
    let each = postings / WORDS.len() as u32;
    let list = |(number, word): (usize, &&str)| {
        let at = |place: u32| {
            let event = place * (1_000_000 / each) + (place % 7) * number as u32;
            let place = EventLocation { session: event / 30 + 1, position: event % 30 + 1 };
            Posting { location: place, tf: 1, length: 12, prose: false, assistant: false }
        };
        TermPostings { term: (*word).to_owned(), df: each, postings: (0..each).map(at).collect() }
    };
    WORDS.iter().enumerate().map(list).collect()
}

#[divan::bench(args = POSTINGS)]
fn ranks(bencher: Bencher<'_, '_>, postings: u32) {
    let (query, lists) = (WeightedQuery::from_texts(&WORDS), lists(postings));
    bencher.bench_local(|| rank_hits(&query, black_box(&lists), STATS, 512));
}

#[divan::bench(args = POSTINGS)]
fn decodes(bencher: Bencher<'_, '_>, postings: u32) {
    let blocks: Vec<Vec<u8>> = lists(postings)
        .iter()
        .flat_map(|list| list.postings.chunks(BLOCK_CAPACITY).map(encode_block).collect::<Vec<_>>())
        .collect();
    bencher.bench_local(|| {
        let mut postings = Vec::new();
        for block in black_box(&blocks) {
            postings.clear();
            decode_block(block, &mut postings).expect("the blocks were written above");
        }
        postings.len()
    });
}

#[divan::bench]
fn reads_a_question() -> WeightedQuery {
    WeightedQuery::from_texts(black_box(&["What pets did Nate's daughter adopt in November 2022?"]))
}
