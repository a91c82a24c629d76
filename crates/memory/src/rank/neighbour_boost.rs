//! Distributes term scores to neighbouring locations.
//!
//! A turn of a conversation often depends on the one before it: "Where did you go?" — "To Rome". So
//! a term counts three fifths one position away and two fifths two positions away. At each location
//! it counts once, with its highest value.

use super::bm25::{ONE, multiply_millionths};
use crate::record::EventLocation;

/// How many positions a term reaches.
const WIDTH: u32 = 2;

/// The weight of a term from two positions before to two positions after it, in millionths.
const SHARES: [i64; 2 * WIDTH as usize + 1] = [400_000, 600_000, ONE, 600_000, 400_000];

/// An occurrence of a term at a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TermOccurrence {
    pub(super) location: EventLocation,
    /// The score of the term there.
    pub(super) value: i64,
    /// The index of the term in the query.
    pub(super) term: u32,
    /// Whether the term also scores at neighbouring locations.
    pub(super) reaches_neighbours: bool,
    /// Whether the term finds locations, or only adds to those that other terms found.
    pub(super) is_seed: bool,
    /// The number of terms in the event.
    pub(super) length: u16,
}

/// The score of a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LocationScore {
    pub(super) location: EventLocation,
    /// The score of the terms at the location.
    pub(super) own_score: i64,
    /// The score of the terms at the location and at its neighbours.
    pub(super) boosted_score: i64,
    /// The length of the event; 0 if none of its own terms match.
    pub(super) length: u16,
}

/// Adds up the scores of the terms of a query. The buffers are reused from session to session.
pub(super) struct NeighbourBoost {
    /// The last contribution of each term.
    terms: Vec<TermBoost>,
    /// The number of the current run of neighbours.
    run: u64,
    cells: Vec<BoostCell>,
}

#[derive(Debug, Clone, Copy, Default)]
struct TermBoost {
    run: u64,
    position: u32,
    shares: [i64; SHARES.len()],
}

#[derive(Debug, Clone, Copy, Default)]
struct BoostCell {
    own_score: i64,
    boosted_score: i64,
    has_seed: bool,
    length: u16,
}

impl NeighbourBoost {
    pub(super) fn new(terms: usize) -> Self {
        Self { terms: vec![TermBoost::default(); terms], run: 0, cells: Vec::new() }
    }

    /// Scores the locations of one session. `stands` is ascending by location, and a term occurs
    /// once per location.
    pub(super) fn score_session(
        &mut self,
        stands: &[TermOccurrence],
        mut give: impl FnMut(LocationScore),
    ) {
        let beside = |one: &TermOccurrence, next: &TermOccurrence| {
            next.location.position - one.location.position <= 2 * WIDTH
        };
        for run in stands.chunk_by(beside) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
            let position = first.location.position;
            // Positions of a session start at 1.
            let from = position.saturating_sub(WIDTH).max(1).min(position);
            let to = last.location.position.saturating_add(WIDTH);
            self.score_run(run, from, to);
            for (cell, position) in self.cells.iter().zip(from..=to) {
                if cell.has_seed && cell.boosted_score > 0 {
                    let place = EventLocation { position, ..first.location };
                    give(LocationScore {
                        location: place,
                        own_score: cell.own_score,
                        boosted_score: cell.boosted_score,
                        length: cell.length,
                    });
                }
            }
        }
    }

    fn score_run(&mut self, stands: &[TermOccurrence], from: u32, to: u32) {
        self.run += 1;
        self.cells.clear();
        self.cells.resize((to - from) as usize + 1, BoostCell::default());
        for stand in stands {
            let TermOccurrence {
                location: EventLocation { position, .. },
                value,
                term,
                reaches_neighbours: beyond,
                is_seed: opens,
                length,
            } = *stand;
            let given = &mut self.terms[term as usize];
            let mut shares = [0; SHARES.len()];
            if given.run == self.run {
                let moved = (position - given.position) as usize;
                let still = given.shares.iter().skip(moved);
                shares.iter_mut().zip(still).for_each(|(share, before)| *share = *before);
            }
            for (at, share) in SHARES.into_iter().enumerate() {
                let own = share == ONE;
                if !(own || beyond) {
                    continue;
                }
                let cell = u64::from(position) + at as u64;
                let cell = cell.checked_sub(u64::from(from) + u64::from(WIDTH));
                let Some(cell) = cell.and_then(|cell| self.cells.get_mut(cell as usize)) else {
                    continue;
                };
                let worth = if own { value } else { multiply_millionths(value, share) };
                // If the term already scored here, add only the difference.
                if worth > shares[at] {
                    cell.boosted_score += worth - shares[at];
                    shares[at] = worth;
                }
                if own {
                    cell.own_score += value;
                    cell.length = cell.length.max(length);
                }
                cell.has_seed |= opens;
            }
            *given = TermBoost { run: self.run, position, shares };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stand(term: u32, position: u32, value: i64) -> TermOccurrence {
        let place = EventLocation { session: 1, position };
        TermOccurrence {
            location: place,
            value,
            term,
            reaches_neighbours: true,
            is_seed: true,
            length: 12,
        }
    }

    fn told(stands: &[TermOccurrence]) -> Vec<(u32, i64, i64)> {
        let mut out = Vec::new();
        let terms = stands.iter().map(|stand| stand.term as usize + 1).max().unwrap_or(0);
        let give = |one: LocationScore| {
            out.push((one.location.position, one.own_score, one.boosted_score));
        };
        NeighbourBoost::new(terms).score_session(stands, give);
        out
    }

    #[test]
    fn a_term_counts_once_at_each_place() {
        let expected = [(1, 100, 100), (2, 0, 60), (3, 80, 80), (4, 0, 48), (5, 0, 32)];
        assert_eq!(told(&[stand(0, 1, 100), stand(0, 3, 80)]), expected);
    }

    #[test]
    fn terms_add_up() {
        let expected = [
            (8, 0, 40),
            (9, 0, 60 + 20),
            (10, 100, 100 + 30),
            (11, 50, 60 + 50),
            (12, 0, 40 + 30),
            (13, 0, 20),
        ];
        assert_eq!(told(&[stand(0, 10, 100), stand(1, 11, 50)]), expected);
        let far = told(&[stand(0, 10, 100), stand(1, 15, 100)]);
        assert_eq!(far.len(), 10, "{far:?}");
    }

    #[test]
    fn prose_inside_a_conversation_stays_where_it_is() {
        let prose = TermOccurrence { reaches_neighbours: false, ..stand(0, 6, 90) };
        let found = told(&[stand(0, 5, 100), prose, stand(0, 9, 8)]);
        let expected = [
            (3, 0, 40),
            (4, 0, 60),
            (5, 100, 100),
            (6, 90, 90),
            (7, 0, 40),
            (8, 0, 4),
            (9, 8, 8),
            (10, 0, 4),
            (11, 0, 3),
        ];
        assert_eq!(found, expected);
        assert_eq!(
            told(&[TermOccurrence { reaches_neighbours: false, ..stand(0, 6, 90) }]),
            [(6, 90, 90)]
        );
    }

    #[test]
    fn what_does_not_open_only_adds() {
        let adds = TermOccurrence { is_seed: false, ..stand(1, 11, 50) };
        let found =
            told(&[stand(0, 10, 100), adds, TermOccurrence { is_seed: false, ..stand(1, 90, 50) }]);
        assert_eq!(found.iter().map(|one| one.0).collect::<Vec<_>>(), [8, 9, 10, 11, 12]);
        assert_eq!(found[3], (11, 50, 110));
    }

    #[test]
    fn the_ends_of_a_session_are_ends() {
        assert_eq!(told(&[stand(0, 1, 100)]), [(1, 100, 100), (2, 0, 60), (3, 0, 40)]);
        let last = told(&[stand(0, u32::MAX, 100)]);
        assert_eq!(last.last(), Some(&(u32::MAX, 100, 100)));
    }
}
