//! Scores sessions: how much of a query a session covers, and the highest score that one of its
//! locations can reach.

use std::ops::Range;

use super::neighbour_boost::TermOccurrence;

/// A session that contains terms of the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionScore {
    /// The range of its occurrences in the list of all occurrences.
    pub(super) occurrences: Range<usize>,
    /// How much of the query the session covers: the sum of the highest value of each term. Prose
    /// does not count for its session.
    pub(super) value: i64,
    /// An upper bound for the score of every location in the session.
    pub(super) max_score: i64,
}

/// The contribution of a term to the current session.
#[derive(Debug, Clone, Copy, Default)]
struct SessionTermScore {
    session: usize,
    value: i64,
    max_score: i64,
}

/// Scores the sessions in a list of occurrences that is ascending by location.
pub(super) fn score_sessions(stands: &[TermOccurrence], terms: usize) -> Vec<SessionScore> {
    let mut given = vec![SessionTermScore::default(); terms];
    let mut sessions = Vec::new();
    let mut from = 0;
    let chunks = stands.chunk_by(|one, next| one.location.session == next.location.session);
    for (number, chunk) in (1..).zip(chunks) {
        let (mut value, mut most) = (0, 0);
        let (mut opened, mut speaks) = (false, false);
        for stand in chunk {
            let given = &mut given[stand.term as usize];
            if given.session != number {
                *given = SessionTermScore { session: number, value: 0, max_score: 0 };
            }
            most += (stand.value - given.max_score).max(0);
            given.max_score = given.max_score.max(stand.value);
            if stand.reaches_neighbours {
                value += (stand.value - given.value).max(0);
                given.value = given.value.max(stand.value);
            }
            opened |= stand.is_seed;
            speaks |= stand.is_seed && stand.reaches_neighbours;
        }
        let to = from + chunk.len();
        if opened {
            sessions.push(SessionScore {
                occurrences: from..to,
                value: if speaks { value } else { 0 },
                max_score: most,
            });
        }
        from = to;
    }
    sessions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::EventLocation;

    fn stand(term: u32, session: u32, value: i64) -> TermOccurrence {
        let place = EventLocation { session, position: 1 };
        TermOccurrence {
            location: place,
            value,
            term,
            reaches_neighbours: true,
            is_seed: true,
            length: 12,
        }
    }

    #[test]
    fn a_term_counts_where_it_counts_most() {
        let prose = TermOccurrence { reaches_neighbours: false, ..stand(1, 1, 70) };
        let adds = |session| TermOccurrence { is_seed: false, ..stand(1, session, 9) };
        let stands = [
            stand(0, 1, 10),
            stand(0, 1, 30),
            stand(1, 1, 5),
            prose,
            stand(0, 2, 1),
            adds(2),
            adds(3),
            TermOccurrence { reaches_neighbours: false, ..stand(0, 4, 8) },
        ];
        let told: Vec<_> = score_sessions(&stands, 2)
            .into_iter()
            .map(|session| (session.occurrences, session.value, session.max_score))
            .collect();
        assert_eq!(told, [(0..4, 35, 100), (4..6, 10, 10), (7..8, 0, 8)]);
    }
}
