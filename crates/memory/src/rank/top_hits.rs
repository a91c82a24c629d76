//! Keeps the best hits up to a limit.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::hits::RankedHit;
use crate::record::EventLocation;

/// Collects the best hits; the newest wins a tie.
pub(super) struct TopHits {
    limit: usize,
    /// A heap with the lowest hit on top.
    heap: BinaryHeap<Reverse<TopHitEntry>>,
}

/// Ordered by total score, then by location; the other fields follow from these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TopHitEntry {
    total: i64,
    location: EventLocation,
    own_score: i64,
    boosted_score: i64,
    session_share: i64,
    length: u16,
}

impl TopHits {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::new() }
    }

    /// Returns whether a score of at most `most` can no longer be among the best.
    pub(super) fn excludes_score(&self, most: i64) -> bool {
        self.heap.len() >= self.limit
            && self.heap.peek().is_none_or(|Reverse(least)| most < least.total)
    }

    pub(super) fn push_hit(&mut self, hit: RankedHit) {
        let RankedHit {
            location: place,
            own_score: own,
            boosted_score: reach,
            session_share: session,
            length,
        } = hit;
        let entry = TopHitEntry {
            total: hit.total_score(),
            location: place,
            own_score: own,
            boosted_score: reach,
            session_share: session,
            length,
        };
        if self.heap.len() < self.limit {
            self.heap.push(Reverse(entry));
        } else if let Some(mut least) = self.heap.peek_mut()
            && least.0 < entry
        {
            *least = Reverse(entry);
        }
    }

    /// Returns the collected hits, best first.
    pub(super) fn into_hits(self) -> Vec<RankedHit> {
        let sorted = self.heap.into_sorted_vec().into_iter();
        sorted
            .map(
                |Reverse(TopHitEntry {
                     location: place,
                     own_score: own,
                     boosted_score: reach,
                     session_share: session,
                     length,
                     ..
                 })| RankedHit {
                    location: place,
                    own_score: own,
                    boosted_score: reach,
                    session_share: session,
                    length,
                },
            )
            .collect()
    }
}
