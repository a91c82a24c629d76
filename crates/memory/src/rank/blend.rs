//! Words and vectors together: what is near in meaning counts beside what is said.
//!
//! ```text
//! similar = weight × the best score by words × (similarity − least) / (most − least)
//! ```
//!
//! Embedders differ in how far apart they put things, so a similarity counts by where it stands among those
//! that were looked at. Beside the best score by words, because these differ from question to question.

use super::fixed::{ONE, times};
use crate::record::{Event, Place};
use crate::{Score, Scored};

/// Events and how similar each is to the request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Near {
    /// By place, in millionths.
    pub similar: Vec<(Place, i64)>,
    /// How many have a vector of this embedder.
    pub of: u64,
}

/// How much similarity counts, for the events that were looked at.
#[derive(Debug)]
pub(crate) struct Blend {
    /// Ascending by place; from 0 to a million.
    shares: Vec<(Place, i64)>,
    worth: i64,
}

impl Blend {
    /// `worded` are the events that words found.
    pub(crate) fn of(mut near: Near, worded: &[Scored<Event>], weight: i64) -> Self {
        let top = worded.iter().map(|event| event.score.total).max().unwrap_or(ONE);
        let all = || near.similar.iter().map(|(_, similar)| *similar);
        let (least, most) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        let range = most - least;
        for (_, similar) in &mut near.similar {
            // Where all are the same, none is nearer than the others.
            *similar = if range == 0 { 0 } else { (*similar - least) * ONE / range };
        }
        near.similar.sort_unstable_by_key(|(place, _)| *place);
        Self { shares: near.similar, worth: times(weight, top) }
    }

    /// Adds what its similarity is worth to the score of an event.
    pub(crate) fn add(&self, place: Place, score: &mut Score) {
        let found = self.shares.binary_search_by_key(&place, |(place, _)| *place);
        let similar = found.map_or(0, |at| times(self.worth, self.shares[at].1));
        if similar > 0 {
            score.total += similar;
            score.parts.insert("similar".to_owned(), similar);
        }
    }

    /// The most similar places, of equals the newest, at most so many.
    pub(crate) fn nearest(&self, limit: usize) -> Vec<Place> {
        let mut places: Vec<(i64, Place)> = self
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

    fn at(position: u32) -> Place {
        Place { session: 1, position }
    }

    #[test]
    fn similarity_counts_by_its_place_among_others() {
        let similar = vec![(at(3), 900_000), (at(1), 700_000), (at(2), 800_000)];
        let blend = Blend::of(Near { similar, of: 3 }, &[], 500_000);
        let worth = |position| {
            let mut score = Score::default();
            blend.add(at(position), &mut score);
            score.total
        };
        assert_eq!([worth(1), worth(2), worth(3), worth(4)], [0, 250_000, 500_000, 0]);
        assert_eq!(blend.nearest(9), [at(3), at(2)]);
        assert_eq!(blend.nearest(1), [at(3)]);
    }

    #[test]
    fn where_all_are_the_same_none_is_nearer() {
        let similar = vec![(at(1), 700_000), (at(2), 700_000)];
        assert_eq!(Blend::of(Near { similar, of: 2 }, &[], ONE).nearest(9), []);
    }
}
