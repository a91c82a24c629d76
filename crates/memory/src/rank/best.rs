//! The best of many hits, as many as are wanted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::hits::Hit;
use crate::record::Place;

/// Keeps the best hits; of equals the newest.
pub(super) struct Best {
    limit: usize,
    /// The least of them on top.
    kept: BinaryHeap<Reverse<Entry>>,
}

/// Ordered by what it is worth, then by its place; the rest follows from these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    total: i64,
    place: Place,
    own: i64,
    reach: i64,
    session: i64,
}

impl Best {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, kept: BinaryHeap::new() }
    }

    /// Whether what is worth so much at most cannot be among the best any more.
    pub(super) fn is_beyond(&self, most: i64) -> bool {
        self.kept.len() >= self.limit
            && self.kept.peek().is_none_or(|Reverse(least)| most < least.total)
    }

    pub(super) fn offer(&mut self, hit: Hit) {
        let Hit { place, own, reach, session } = hit;
        let entry = Entry { total: hit.total(), place, own, reach, session };
        if self.kept.len() < self.limit {
            self.kept.push(Reverse(entry));
        } else if let Some(mut least) = self.kept.peek_mut()
            && least.0 < entry
        {
            *least = Reverse(entry);
        }
    }

    /// What was kept, best first.
    pub(super) fn into_hits(self) -> Vec<Hit> {
        let sorted = self.kept.into_sorted_vec().into_iter();
        sorted
            .map(|Reverse(Entry { place, own, reach, session, .. })| Hit {
                place,
                own,
                reach,
                session,
            })
            .collect()
    }
}
