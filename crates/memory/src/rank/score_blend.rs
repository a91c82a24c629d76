//! Blends vector similarity into the scores by words.
//!
//! ```text
//! similar = weight × the best score by words × (similarity − least) / (most − least)
//! ```
//!
//! Embedders differ in how far apart they place texts, so a similarity counts relative to the
//! lowest and highest one that were read. It is scaled by the best score by words, because these
//! scores differ from query to query.

use super::bm25::{ONE, multiply_millionths};
use crate::record::{EventLocation, MemoryEvent};
use crate::{RelevanceScore, ScoredRow};

/// Events with their similarity to the request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimilarEvents {
    /// The similarity of each location, in millionths.
    pub similarities: Vec<(EventLocation, i64)>,
    /// The number of events with a vector of this embedder.
    pub total: u64,
}

/// The similarity bonus of each event that was read.
#[derive(Debug)]
pub(crate) struct ScoreBlend {
    /// The share of each location from 0 to 1,000,000, ascending by location.
    shares: Vec<(EventLocation, i64)>,
    weight: i64,
}

impl ScoreBlend {
    /// Creates a blend; `worded` are the events that words found.
    pub(crate) fn new(
        mut near: SimilarEvents,
        worded: &[ScoredRow<MemoryEvent>],
        weight: i64,
    ) -> Self {
        let top = worded.iter().map(|event| event.score.total).max().unwrap_or(ONE);
        let all = || near.similarities.iter().map(|(_, similar)| *similar);
        let (least, most) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        let range = most - least;
        for (_, similar) in &mut near.similarities {
            // If all similarities are equal, no event is nearer than the others.
            *similar = if range == 0 { 0 } else { (*similar - least) * ONE / range };
        }
        near.similarities.sort_unstable_by_key(|(place, _)| *place);
        Self { shares: near.similarities, weight: multiply_millionths(weight, top) }
    }

    /// Adds the similarity bonus of an event to its score.
    pub(crate) fn add_similarity(&self, place: EventLocation, score: &mut RelevanceScore) {
        let found = self.shares.binary_search_by_key(&place, |(place, _)| *place);
        let similar = found.map_or(0, |at| multiply_millionths(self.weight, self.shares[at].1));
        if similar > 0 {
            score.total += similar;
            score.parts.insert("similar".to_owned(), similar);
        }
    }

    /// Returns up to `limit` of the most similar locations; the newest wins a tie.
    pub(crate) fn list_nearest(&self, limit: usize) -> Vec<EventLocation> {
        let mut places: Vec<(i64, EventLocation)> = self
            .shares
            .iter()
            .filter(|(_, share)| *share > 0)
            .map(|(place, share)| (*share, *place))
            .collect();
        places.sort_unstable_by(|one, other| other.cmp(one));
        places.truncate(limit);
        places.into_iter().map(|(_, place)| place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(position: u32) -> EventLocation {
        EventLocation { session: 1, position }
    }

    #[test]
    fn similarity_counts_by_its_place_among_others() {
        let similar = vec![(at(3), 900_000), (at(1), 700_000), (at(2), 800_000)];
        let blend =
            ScoreBlend::new(SimilarEvents { similarities: similar, total: 3 }, &[], 500_000);
        let worth = |position| {
            let mut score = RelevanceScore::default();
            blend.add_similarity(at(position), &mut score);
            score.total
        };
        assert_eq!([worth(1), worth(2), worth(3), worth(4)], [0, 250_000, 500_000, 0]);
        assert_eq!(blend.list_nearest(9), [at(3), at(2)]);
        assert_eq!(blend.list_nearest(1), [at(3)]);
    }

    #[test]
    fn where_all_are_the_same_none_is_nearer() {
        let similarities = vec![(at(1), 700_000), (at(2), 700_000)];
        assert_eq!(
            ScoreBlend::new(SimilarEvents { similarities, total: 2 }, &[], ONE).list_nearest(9),
            []
        );
    }
}
