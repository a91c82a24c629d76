//! From postings to hits: which places answer a question, best first.
//!
//! ```text
//! postings by term ──► Stands by place ──► Sessions, the most promising first ──► Spread ──► Best
//! ```
//!
//! A term gives by its rarity among the subject's own events, and by how often it stands in how long an
//! event (BM25); what it gives reaches the neighbours (see `spread`). A session that has more of the
//! question counts up to twice. Sessions none of whose places can be among the best are not looked at.

use std::collections::BinaryHeap;

use super::bm25::{ONE, TermSaturation, compute_idf, multiply_millionths};
use super::neighbour_boost::{LocationScore, NeighbourBoost, TermOccurrence};
use super::posting::Posting;
use super::query::WeightedQuery;
use super::sessions::score_sessions;
use super::top_hits::TopHits;
use crate::record::EventLocation;

/// What is known of all events of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexStats {
    /// How many.
    pub events: u64,
    /// How many terms they have, days not counted: the sum of [`super::IndexedEvent::length`].
    pub terms: u64,
}

/// What was read of a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermPostings {
    /// The term.
    pub term: String,
    /// In how many events it stands.
    pub df: u32,
    /// Its postings, ascending by place, each place once; fewer than `df` where not all were read.
    pub postings: Vec<Posting>,
}

/// A place that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankedHit {
    /// The event.
    pub location: EventLocation,
    /// What its own terms give, in millionths.
    pub own_score: i64,
    /// What its own and its neighbours' terms give, in millionths.
    pub boosted_score: i64,
    /// How much of the question its session has beside the session that has most: 0 to a million.
    pub session_share: i64,
}

/// The places that answer a question, best first, of equals the newest, at most so many. A place may have
/// no event: beyond the end of its session, or forgotten.
///
/// A term of which only the newest postings were read adds to places that other terms found; where it
/// is the rarest one, it finds them itself.
#[must_use]
pub fn rank_hits(
    query: &WeightedQuery,
    lists: &[TermPostings],
    stats: IndexStats,
    limit: usize,
) -> Vec<RankedHit> {
    let stands = collect_occurrences(query, lists, stats);
    let sessions = score_sessions(&stands, lists.len());
    let most = sessions.iter().map(|session| session.value).max().unwrap_or(0).max(1);
    // By the most that a place of it can be worth; the rest is for telling them apart.
    let promising = sessions.iter().enumerate().map(|(number, session)| {
        let share = session.value * ONE / most;
        (multiply_millionths(session.max_score, ONE + share), number, share)
    });
    let mut promising: BinaryHeap<(i64, usize, i64)> = promising.collect();
    let (mut spread, mut best) = (NeighbourBoost::new(lists.len()), TopHits::new(limit));
    while let Some((worth, number, session)) = promising.pop() {
        if best.excludes_score(worth) {
            break;
        }
        let of_it = &stands[sessions[number].occurrences.clone()];
        spread.score_session(
            of_it,
            |LocationScore { location: place, own_score: own, boosted_score: reach }| {
                best.push_hit(RankedHit {
                    location: place,
                    own_score: own,
                    boosted_score: reach,
                    session_share: session,
                });
            },
        );
    }
    best.into_hits()
}

/// Where the terms stand and what they give there, ascending by place.
fn collect_occurrences(
    query: &WeightedQuery,
    lists: &[TermPostings],
    stats: IndexStats,
) -> Vec<TermOccurrence> {
    let rarest = lists
        .iter()
        .filter(|list| !list.postings.is_empty())
        .min_by_key(|list| (list.df, &list.term))
        .map(|list| &list.term);
    let saturation = TermSaturation::new(stats);
    let mut stands = Vec::with_capacity(lists.iter().map(|list| list.postings.len()).sum());
    for (term, list) in (0..).zip(lists) {
        let opens = Some(&list.term) == rarest || list.postings.len() >= list.df as usize;
        let worth = multiply_millionths(query.weight(&list.term), compute_idf(stats, list.df));
        stands.extend(list.postings.iter().map(|posting| TermOccurrence {
            location: posting.location,
            value: multiply_millionths(worth, saturation.score_posting(posting)),
            term,
            reaches_neighbours: !posting.prose,
            is_seed: opens,
        }));
    }
    // A stable sort finds that each list ascends already, and only merges them.
    stands.sort_by_key(|stand| stand.location);
    stands
}

impl RankedHit {
    /// What counts, before the event itself is looked at.
    #[must_use]
    pub fn total_score(&self) -> i64 {
        multiply_millionths(self.boosted_score, ONE + self.session_share)
    }
}
