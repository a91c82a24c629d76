//! Ranks postings into hits: the event locations that match a query, best first.
//!
//! ```text
//! postings by term ──► TermOccurrence by location ──► SessionScore, most promising first
//!         ──► NeighbourBoost ──► TopHits
//! ```
//!
//! A term scores by its rarity among the subject's own events and by its frequency relative to the
//! length of the event (BM25). The score extends to neighbours (see `neighbour_boost`). A session
//! that covers more of the query counts up to twice as much. Only turns of a conversation count for
//! their neighbours and their session; what an assistant writes at length counts less, unless the
//! request asks for it. Sessions that cannot contain one of the best locations are skipped.

use std::collections::BinaryHeap;

use super::bm25::{ONE, TermSaturation, compute_idf, multiply_millionths};
use super::neighbour_boost::{LocationScore, NeighbourBoost, TermOccurrence};
use super::posting::Posting;
use super::query::WeightedQuery;
use super::sessions::score_sessions;
use super::top_hits::TopHits;
use crate::record::EventLocation;

/// Statistics of all events of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexStats {
    /// The number of events.
    pub events: u64,
    /// The number of terms in all events, without day terms: the sum of
    /// [`super::IndexedEvent::length`].
    pub terms: u64,
}

/// The postings that were read for a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermPostings {
    /// The term itself, as it is indexed.
    pub term: String,
    /// The document frequency: the number of events that contain the term.
    pub df: u32,
    /// The postings, ascending by location, one per location; fewer than `df` if not all were read.
    pub postings: Vec<Posting>,
}

/// A location that matches a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankedHit {
    /// The location of the event.
    pub location: EventLocation,
    /// The score of the event's own terms, in millionths.
    pub own_score: i64,
    /// The score including the terms of neighbours, in millionths.
    pub boosted_score: i64,
    /// How much of the query the session covers, relative to the best session: 0 to 1,000,000.
    pub session_share: i64,
    /// The length of the event's postings; 0 if none of its own terms match.
    pub length: u16,
}

/// Returns up to `limit` locations that match a query, best first; the newest wins a tie. A
/// location may have no event: it can lie beyond the end of its session, or its event may have been
/// erased.
///
/// A term of which only the newest postings were read adds to locations that other terms found. If
/// it is the rarest term, it finds locations by itself.
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
    // Sort by the highest score that a location of the session can reach; the other values identify
    // the session.
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
            |LocationScore { location: place, own_score: own, boosted_score: reach, length }| {
                best.push_hit(RankedHit {
                    location: place,
                    own_score: own,
                    boosted_score: reach,
                    session_share: session,
                    length,
                });
            },
        );
    }
    best.into_hits()
}

/// Returns all term occurrences with their values, ascending by location.
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
        let of_assistant = multiply_millionths(worth, query.assistant_factor());
        stands.extend(list.postings.iter().map(|posting| TermOccurrence {
            location: posting.location,
            value: multiply_millionths(
                if posting.assistant { of_assistant } else { worth },
                saturation.score_posting(posting),
            ),
            term,
            reaches_neighbours: !posting.prose,
            is_seed: opens,
            length: posting.length,
        }));
    }
    // A stable sort detects that each list is already ascending, and only merges them.
    stands.sort_by_key(|stand| stand.location);
    stands
}

impl RankedHit {
    /// Returns the total score before the event itself is read.
    #[must_use]
    pub fn total_score(&self) -> i64 {
        multiply_millionths(self.boosted_score, ONE + self.session_share)
    }
}
