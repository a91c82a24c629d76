//! What a session has of a question: how much its places count more for it, and the most that any of
//! them can be worth.

use std::ops::Range;

use super::spread::Stand;

/// A session in which terms of the question stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Session {
    /// Its part of what stands.
    pub(super) stands: Range<usize>,
    /// What it has of the question: each term where it counts most. Prose does not speak for its session.
    pub(super) value: i64,
    /// No place in it reaches more.
    pub(super) most: i64,
}

/// What a term gave to the session that was looked at last.
#[derive(Debug, Clone, Copy, Default)]
struct Given {
    session: usize,
    value: i64,
    most: i64,
}

/// The sessions in which something was found, given all that stands, ascending by place.
pub(super) fn sessions(stands: &[Stand], terms: usize) -> Vec<Session> {
    let mut given = vec![Given::default(); terms];
    let mut sessions = Vec::new();
    let mut from = 0;
    let chunks = stands.chunk_by(|one, next| one.place.session == next.place.session);
    for (number, chunk) in (1..).zip(chunks) {
        let (mut value, mut most) = (0, 0);
        let (mut opened, mut speaks) = (false, false);
        for stand in chunk {
            let given = &mut given[stand.term as usize];
            if given.session != number {
                *given = Given { session: number, value: 0, most: 0 };
            }
            most += (stand.value - given.most).max(0);
            given.most = given.most.max(stand.value);
            if stand.beyond {
                value += (stand.value - given.value).max(0);
                given.value = given.value.max(stand.value);
            }
            opened |= stand.opens;
            speaks |= stand.opens && stand.beyond;
        }
        let to = from + chunk.len();
        if opened {
            sessions.push(Session {
                stands: from..to,
                value: if speaks { value } else { 0 },
                most,
            });
        }
        from = to;
    }
    sessions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Place;

    fn stand(term: u32, session: u32, value: i64) -> Stand {
        let place = Place { session, position: 1 };
        Stand { place, value, term, beyond: true, opens: true }
    }

    #[test]
    fn a_term_counts_where_it_counts_most() {
        let prose = Stand { beyond: false, ..stand(1, 1, 70) };
        let adds = |session| Stand { opens: false, ..stand(1, session, 9) };
        let stands = [
            stand(0, 1, 10),
            stand(0, 1, 30),
            stand(1, 1, 5),
            prose,
            stand(0, 2, 1),
            adds(2),
            adds(3),
            Stand { beyond: false, ..stand(0, 4, 8) },
        ];
        let told: Vec<_> = sessions(&stands, 2)
            .into_iter()
            .map(|session| (session.stands, session.value, session.most))
            .collect();
        assert_eq!(told, [(0..4, 35, 100), (4..6, 10, 10), (7..8, 0, 8)]);
    }
}
