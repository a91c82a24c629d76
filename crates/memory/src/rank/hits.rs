//! From postings to hits: which places answer a question, best first.
//!
//! A term gives by its rarity among the subject's own events, and by how often it stands in how long an
//! event (BM25); what it gives reaches the neighbours (see `spread`). A session that has more of the
//! question counts up to twice. What is read is bounded: the time follows the cap, not the store.

use std::cmp::Reverse;

use super::fixed::{ONE, Saturation, rarity, times};
use super::posting::Posting;
use super::query::Query;
use super::spread::{Reached, add, spread, sum};
use crate::record::Place;

/// How many postings are read for a question.
const CAP: usize = 65_536;

/// What is known of all events of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// How many.
    pub events: u64,
    /// How many terms they have, days not counted: the sum of [`super::Indexed::length`].
    pub terms: u64,
}

/// What to read of a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// The term.
    pub term: String,
    /// In how many events it stands.
    pub df: u32,
    /// How many of its postings to read, the newest blocks first; one block more does no harm.
    pub newest: usize,
}

/// What was read of a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermPostings {
    /// The term.
    pub term: String,
    /// In how many events it stands.
    pub df: u32,
    /// Its postings, ascending by place; fewer than `df` where not all were read.
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

/// Which postings to read, given in how many events each term of the question stands: the rarest terms
/// whole, and of the first that is too common for what is left of the cap, the newest.
#[must_use]
pub fn plan<'t>(df: impl IntoIterator<Item = (&'t str, u32)>) -> Vec<Read> {
    let mut known: Vec<(u32, &str)> =
        df.into_iter().filter(|(_, df)| *df > 0).map(|(term, df)| (df, term)).collect();
    known.sort_unstable();
    let mut left = CAP;
    let mut reads = Vec::new();
    for (df, term) in known {
        let newest = left.min(df as usize);
        if newest == 0 {
            break;
        }
        left -= newest;
        reads.push(Read { term: term.to_owned(), df, newest });
    }
    reads
}

/// The places that answer a question, best first, of equals the newest, at most so many. A place may have no event: beyond
/// the end of its session, or forgotten.
///
/// A term of which only the newest postings were read adds to places that other terms found; where it
/// is the rarest one, it finds them itself.
#[must_use]
pub fn rank(query: &Query, lists: &[TermPostings], stats: Stats, limit: usize) -> Vec<Hit> {
    let mut lists: Vec<&TermPostings> =
        lists.iter().filter(|list| !list.postings.is_empty()).collect();
    lists.sort_unstable_by(|left, right| (left.df, &left.term).cmp(&(right.df, &right.term)));
    let saturation = Saturation::new(stats);
    let (mut opening, mut adding) = (Vec::new(), Vec::new());
    let mut sessions = Vec::new();
    for (number, list) in lists.into_iter().enumerate() {
        let opens = number == 0 || list.postings.len() >= list.df as usize;
        let worth = times(query.weight(&list.term), rarity(stats, list.df));
        let value = |posting: &Posting| {
            (posting.place, times(worth, saturation.of(posting)), !posting.prose)
        };
        let stands: Vec<(Place, i64, bool)> = list.postings.iter().map(value).collect();
        sessions = with_sessions(&sessions, &by_session(&stands), opens);
        if opens { &mut opening } else { &mut adding }.push(spread(stands.into_iter()));
    }
    let mut reached = sum(opening);
    for list in &adding {
        add(&mut reached, list);
    }
    best(&reached, &sessions, limit)
}

/// What each session has of a term: where it counts most. Prose does not speak for its session.
fn by_session(stands: &[(Place, i64, bool)]) -> Vec<(u32, i64)> {
    let mut most: Vec<(u32, i64)> = Vec::new();
    for (place, value, _) in stands.iter().filter(|(.., beyond)| *beyond) {
        match most.last_mut().filter(|(session, _)| *session == place.session) {
            Some((_, most)) => *most = (*most).max(*value),
            None => most.push((place.session, *value)),
        }
    }
    most
}

/// What each session has of the question, with one more term; both lists ascend.
fn with_sessions(all: &[(u32, i64)], term: &[(u32, i64)], opens: bool) -> Vec<(u32, i64)> {
    let mut sum = Vec::with_capacity(all.len() + term.len());
    let mut term = term.iter().copied().peekable();
    for &(session, value) in all {
        while let Some(earlier) = term.next_if(|(other, _)| *other < session) {
            sum.extend(opens.then_some(earlier));
        }
        let more = term.next_if(|(other, _)| *other == session).map_or(0, |(_, more)| more);
        sum.push((session, value + more));
    }
    sum.extend(term.filter(|_| opens));
    sum
}

fn best(reached: &[Reached], sessions: &[(u32, i64)], limit: usize) -> Vec<Hit> {
    let most = sessions.iter().map(|(_, value)| *value).max().unwrap_or(0).max(1);
    let mut sessions = sessions.iter().peekable();
    let mut hits = Vec::with_capacity(reached.len());
    for &Reached { place, own, reach } in reached.iter().filter(|one| one.reach > 0) {
        while sessions.next_if(|(session, _)| *session < place.session).is_some() {}
        let of_it = sessions.peek().filter(|(session, _)| *session == place.session);
        let session = of_it.map_or(0, |(_, value)| value * ONE / most);
        let hit = Hit { place, own, reach, session };
        hits.push((hit.total(), hit));
    }
    let key = |(total, hit): &(i64, Hit)| (Reverse(*total), Reverse(hit.place));
    if limit < hits.len() {
        hits.select_nth_unstable_by_key(limit, key);
        hits.truncate(limit);
    }
    hits.sort_unstable_by_key(key);
    hits.into_iter().map(|(_, hit)| hit).collect()
}

impl Hit {
    /// What counts, before the event itself is looked at.
    #[must_use]
    pub fn total(&self) -> i64 {
        times(self.reach, ONE + self.session)
    }
}
