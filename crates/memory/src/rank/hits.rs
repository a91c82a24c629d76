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

use super::best::Best;
use super::fixed::{ONE, Saturation, rarity, times};
use super::posting::Posting;
use super::query::Query;
use super::sessions::sessions;
use super::spread::{Reached, Spread, Stand};
use crate::record::Place;

/// What is known of all events of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// How many.
    pub events: u64,
    /// How many terms they have, days not counted: the sum of [`super::Indexed::length`].
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
pub struct Hit {
    /// The event.
    pub place: Place,
    /// What its own terms give, in millionths.
    pub own: i64,
    /// What its own and its neighbours' terms give, in millionths.
    pub reach: i64,
    /// How much of the question its session has beside the session that has most: 0 to a million.
    pub session: i64,
}

/// The places that answer a question, best first, of equals the newest, at most so many. A place may have
/// no event: beyond the end of its session, or forgotten.
///
/// A term of which only the newest postings were read adds to places that other terms found; where it
/// is the rarest one, it finds them itself.
#[must_use]
pub fn rank(query: &Query, lists: &[TermPostings], stats: Stats, limit: usize) -> Vec<Hit> {
    let stands = stands(query, lists, stats);
    let sessions = sessions(&stands, lists.len());
    let most = sessions.iter().map(|session| session.value).max().unwrap_or(0).max(1);
    // By the most that a place of it can be worth; the rest is for telling them apart.
    let promising = sessions.iter().enumerate().map(|(number, session)| {
        let share = session.value * ONE / most;
        (times(session.most, ONE + share), number, share)
    });
    let mut promising: BinaryHeap<(i64, usize, i64)> = promising.collect();
    let (mut spread, mut best) = (Spread::new(lists.len()), Best::new(limit));
    while let Some((worth, number, session)) = promising.pop() {
        if best.is_beyond(worth) {
            break;
        }
        let of_it = &stands[sessions[number].stands.clone()];
        spread.session(of_it, |Reached { place, own, reach }| {
            best.offer(Hit { place, own, reach, session });
        });
    }
    best.into_hits()
}

/// Where the terms stand and what they give there, ascending by place.
fn stands(query: &Query, lists: &[TermPostings], stats: Stats) -> Vec<Stand> {
    let rarest = lists
        .iter()
        .filter(|list| !list.postings.is_empty())
        .min_by_key(|list| (list.df, &list.term))
        .map(|list| &list.term);
    let saturation = Saturation::new(stats);
    let mut stands = Vec::with_capacity(lists.iter().map(|list| list.postings.len()).sum());
    for (term, list) in (0..).zip(lists) {
        let opens = Some(&list.term) == rarest || list.postings.len() >= list.df as usize;
        let worth = times(query.weight(&list.term), rarity(stats, list.df));
        stands.extend(list.postings.iter().map(|posting| Stand {
            place: posting.place,
            value: times(worth, saturation.of(posting)),
            term,
            beyond: !posting.prose,
            opens,
        }));
    }
    // A stable sort finds that each list ascends already, and only merges them.
    stands.sort_by_key(|stand| stand.place);
    stands
}

impl Hit {
    /// What counts, before the event itself is looked at.
    #[must_use]
    pub fn total(&self) -> i64 {
        times(self.reach, ONE + self.session)
    }
}
