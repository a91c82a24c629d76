//! The events that answer a request: by their words, and by what is near in meaning.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::find::visible;
use super::shelves::{Answer, Ranked, Shelves};
use crate::compose::normal;
use crate::policy::Similarity;
use crate::rank::{Blend, Query, at_most, refine};
use crate::record::{Event, Origin, Place, Role};
use crate::{Cut, Request, Scored};

/// So many more places are looked at than are asked for: the event itself may change its rank.
const MORE_HITS: usize = 32;

/// So many more where these say the same again and again, or may not be seen.
const MOST_HITS: usize = 512;

/// So many of these are read together.
const HITS_AT_ONCE: usize = 8;

/// So many more are announced: most questions need some of them, few all.
const ANNOUNCED: usize = 2 * HITS_AT_ONCE;

/// What is wanted of events.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// How many.
    pub(super) limit: usize,
    /// How vectors are used.
    pub(super) similarity: Similarity,
    /// Whether those that say the same count as one.
    pub(super) once: bool,
}

/// The events that answer a request, best first; and what was not looked at as a whole.
pub(super) fn answers(
    shelves: &impl Shelves,
    request: &Request,
    query: &Query,
    wanted: Wanted,
) -> Answer<(Vec<Scored<Event>>, Vec<Cut>)> {
    let mut told = Told { wanted, events: Vec::new(), says: None, echoes: 0 };
    told.says = wanted.once.then(Says::default);
    if wanted.limit == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let mut cut = worded(shelves, request, query, &mut told)?;
    told.thin();
    cut.extend(near(shelves, request, &mut told)?);
    cut.extend(told.cut());
    Ok((told.events, cut))
}

/// Reads what words find.
fn worded(
    shelves: &impl Shelves,
    request: &Request,
    query: &Query,
    told: &mut Told,
) -> Answer<Vec<Cut>> {
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let (subject, limit) = (request.scope.subject(), told.wanted.limit);
    // What the best so far are worth, the least on top.
    let mut best: BinaryHeap<Reverse<i64>> = BinaryHeap::new();
    let (mut asked, mut done) = (limit + MORE_HITS, 0);
    loop {
        let Ranked { hits, reads } = shelves.ranked(&subject, query, asked)?;
        let mut left = hits.get(done..).unwrap_or_default();
        // So many of them the shelves were told of.
        let mut announced = 0;
        while let Some(next) = left.first() {
            let least = best.peek().filter(|_| best.len() == limit);
            if least.is_some_and(|Reverse(least)| *least > at_most(query, next)) {
                break;
            }
            // As many as are wanted are read whatever they are worth; behind them only a few more.
            let some = limit.saturating_sub(best.len()).max(HITS_AT_ONCE).min(left.len());
            if announced < some {
                let soon = &left[announced..left.len().min(some + ANNOUNCED)];
                announced += soon.len();
                let places: Vec<Place> = soon.iter().map(|hit| hit.place).collect();
                shelves.will_read(&subject, &places)?;
            }
            announced -= some;
            let (some, behind) = left.split_at(some);
            left = behind;
            let places: Vec<Place> = some.iter().map(|hit| hit.place).collect();
            let mut rows = shelves.events_at(&subject, &places)?.into_iter().peekable();
            for hit in some {
                let Some(row) = rows.next_if(|row| row.place == hit.place) else { continue };
                let score = refine(query, hit, &row);
                let worth = score.total;
                if worth > 0 && visible(&row, request) && told.add(Scored { row, score }) {
                    best.push(Reverse(worth));
                    if best.len() > limit {
                        best.pop();
                    }
                }
            }
        }
        let starved = told.wanted.once && best.len() < limit && hits.len() == asked;
        if starved && done == 0 {
            (asked, done) = (limit + MOST_HITS, hits.len());
            continue;
        }
        let common = reads.iter().filter(|read| read.is_cut()).map(|read| Cut {
            what: "events of a common word".to_owned(),
            read: read.newest as u64,
            of: Some(read.df.into()),
        });
        let few = starved.then(|| Cut {
            what: "events that answer".to_owned(),
            read: hits.len() as u64,
            of: None,
        });
        return Ok(common.chain(few).collect());
    }
}

/// Puts what is near in meaning beside what words found; and tells what was not looked at for that.
fn near(shelves: &impl Shelves, request: &Request, told: &mut Told) -> Answer<Option<Cut>> {
    let Wanted { limit, similarity, once } = told.wanted;
    let Some(vector) = request.vector.as_ref().filter(|_| !similarity.is_off()) else {
        return Ok(None);
    };
    let subject = request.scope.subject();
    let near = shelves.nearest(&subject, vector, similarity.newest)?;
    let (read, of) = (near.similar.len() as u64, near.of);
    let cut =
        (read < of).then(|| Cut { what: "events with a vector".to_owned(), read, of: Some(of) });
    let blend = Blend::of(near, &told.events, similarity.weight);
    let mut here = BTreeSet::new();
    for event in &mut told.events {
        blend.add(event.row.place, &mut event.score);
        here.insert(event.row.place);
    }
    let places = blend.nearest(if once { limit + MOST_HITS } else { limit });
    for some in places.chunks(limit) {
        let others = some.iter().copied().filter(|place| !here.contains(place));
        for row in shelves.events_at(&subject, &others.collect::<Vec<_>>())? {
            if visible(&row, request) {
                let place = row.place;
                let mut scored = Scored::plain(row);
                blend.add(place, &mut scored.score);
                told.add(scored);
            }
        }
        if told.distinct() >= limit {
            break;
        }
    }
    told.thin();
    Ok(cut)
}

/// The events that were read.
struct Told {
    wanted: Wanted,
    events: Vec<Scored<Event>>,
    /// What they say, where that matters.
    says: Option<Says>,
    /// How many were left out because a better one says the same.
    echoes: usize,
}

/// What was said, by whom, and under which number; and the number of each place.
#[derive(Default)]
struct Says {
    words: BTreeMap<(Role, Origin, Option<String>, String), usize>,
    places: BTreeMap<Place, usize>,
}

impl Told {
    /// Adds an event; says whether none before says the same.
    fn add(&mut self, event: Scored<Event>) -> bool {
        let new = self.says.as_mut().is_none_or(|says| {
            let Event { role, origin, speaker, text, place, .. } = &event.row;
            let (next, words) = (says.words.len(), (*role, *origin, speaker.clone(), normal(text)));
            let number = *says.words.entry(words).or_insert(next);
            says.places.insert(*place, number);
            number == next
        });
        self.events.push(event);
        new
    }

    /// How many say something of their own.
    fn distinct(&self) -> usize {
        let Some(says) = &self.says else { return self.events.len() };
        let numbers = self.events.iter().map(|event| says.places.get(&event.row.place));
        numbers.collect::<BTreeSet<_>>().len()
    }

    /// Keeps the best so many, of equals the newest; where some of them say the same, others stand behind them.
    fn thin(&mut self) {
        let limit = self.wanted.limit;
        let events = &mut self.events;
        events.sort_by_cached_key(|event| (Reverse(event.score.total), Reverse(event.row.place)));
        let Some(says) = &self.says else { return events.truncate(limit) };
        let (mut at, mut said) = (0, BTreeSet::new());
        events.retain(|event| {
            at += 1;
            let full = said.len() == limit;
            let number = says.places.get(&event.row.place);
            let echo = said.contains(&number);
            if !full {
                said.insert(number);
            }
            self.echoes += usize::from(echo && at > limit);
            at <= limit || !(full || echo)
        });
    }

    /// Tells that some were left out because they say the same.
    fn cut(&self) -> Option<Cut> {
        let kept = self.events.len() - self.distinct();
        (self.echoes > 0).then(|| Cut {
            what: "events that say what a better one says".to_owned(),
            read: kept as u64,
            of: Some((kept + self.echoes) as u64),
        })
    }
}
