//! Searches the events that match a request, by words and by vector similarity.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::retrieve::is_visible;
use super::row_store::{MemoryResult, RankedHits, RowStore};
use crate::compose::normalize_text;
use crate::policy::SimilarityPolicy;
use crate::rank::{ScoreBlend, WeightedQuery, bound_score, refine_score};
use crate::record::{EventLocation, MemoryEvent, MemoryOrigin, SpeakerRole};
use crate::{PacketRequest, ReadTruncation, ScoredRow};

/// How many more hits are ranked than requested, because reading the event may change the rank.
const SPARE_HITS: usize = 32;

/// The maximum number of additional hits if many repeat each other or are not visible.
const MAX_SPARE_HITS: usize = 512;

/// The number of hits that are read together.
const HIT_BATCH: usize = 8;

/// Options of an event search.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventSearchOptions {
    /// The maximum number of events.
    pub(super) limit: usize,
    /// How vectors are used.
    pub(super) similarity: SimilarityPolicy,
    /// Whether events with the same text count as one.
    pub(super) distinct: bool,
}

/// Returns the events that match a request, best first, and the reads that stopped at a limit.
pub(super) fn find_matching_events(
    row_store: &impl RowStore,
    request: &PacketRequest,
    query: &WeightedQuery,
    wanted: EventSearchOptions,
) -> MemoryResult<(Vec<ScoredRow<MemoryEvent>>, Vec<ReadTruncation>)> {
    let mut told =
        EventCollector { options: wanted, events: Vec::new(), deduplicator: None, duplicates: 0 };
    told.deduplicator = wanted.distinct.then(TextDeduplicator::default);
    if wanted.limit == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let mut cut = search_by_words(row_store, request, query, &mut told)?;
    told.keep_best();
    cut.extend(add_similar_events(row_store, request, &mut told)?);
    cut.extend(told.describe_truncation());
    Ok((told.events, cut))
}

/// Reads the events that match by words.
fn search_by_words(
    row_store: &impl RowStore,
    request: &PacketRequest,
    query: &WeightedQuery,
    told: &mut EventCollector,
) -> MemoryResult<Vec<ReadTruncation>> {
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let (subject, limit) = (request.scope.subject(), told.options.limit);
    // The best scores so far, lowest on top.
    let mut best: BinaryHeap<Reverse<i64>> = BinaryHeap::new();
    let (mut asked, mut done) = (limit + SPARE_HITS, 0);
    loop {
        let RankedHits { hits, reads, pieces } = row_store.rank_events(&subject, query, asked)?;
        let mut left = hits.get(done..).unwrap_or_default();
        while let Some(next) = left.first() {
            let least = best.peek().filter(|_| best.len() == limit);
            if least.is_some_and(|Reverse(least)| *least > bound_score(query, next)) {
                break;
            }
            // Read the requested number whatever their scores are; after that only a few more.
            let some = limit.saturating_sub(best.len()).max(HIT_BATCH).min(left.len());
            let (some, behind) = left.split_at(some);
            left = behind;
            let places: Vec<EventLocation> = some.iter().map(|hit| hit.location).collect();
            let mut rows = row_store.load_events_at(&subject, &places)?.into_iter().peekable();
            for hit in some {
                let Some(row) = rows.next_if(|row| row.location == hit.location) else { continue };
                let score = refine_score(query, &pieces, hit, &row);
                let worth = score.total;
                if worth > 0 && is_visible(&row, request) && told.add(ScoredRow { row, score }) {
                    best.push(Reverse(worth));
                    if best.len() > limit {
                        best.pop();
                    }
                }
            }
        }
        let starved = told.options.distinct && best.len() < limit && hits.len() == asked;
        if starved && done == 0 {
            (asked, done) = (limit + MAX_SPARE_HITS, hits.len());
            continue;
        }
        let common = reads.iter().filter(|read| read.is_truncated()).map(|read| ReadTruncation {
            description: "events with a common word".to_owned(),
            read: read.newest as u64,
            total: Some(read.df.into()),
        });
        let few = starved.then(|| ReadTruncation {
            description: "matching events".to_owned(),
            read: hits.len() as u64,
            total: None,
        });
        return Ok(common.chain(few).collect());
    }
}

/// Adds events that match by similarity to those that match by words, and reports a read that
/// stopped at a limit.
fn add_similar_events(
    row_store: &impl RowStore,
    request: &PacketRequest,
    told: &mut EventCollector,
) -> MemoryResult<Option<ReadTruncation>> {
    let EventSearchOptions { limit, similarity, distinct: once } = told.options;
    let Some(vector) = request.vector.as_ref().filter(|_| !similarity.is_off()) else {
        return Ok(None);
    };
    let subject = request.scope.subject();
    let near = row_store.find_similar_events(&subject, vector, similarity.newest)?;
    let (read, of) = (near.similarities.len() as u64, near.total);
    let cut = (read < of).then(|| ReadTruncation {
        description: "events with a vector".to_owned(),
        read,
        total: Some(of),
    });
    let blend = ScoreBlend::new(near, &told.events, similarity.weight);
    let mut here = BTreeSet::new();
    for event in &mut told.events {
        blend.add_similarity(event.row.location, &mut event.score);
        here.insert(event.row.location);
    }
    let places = blend.list_nearest(if once { limit + MAX_SPARE_HITS } else { limit });
    for some in places.chunks(limit) {
        let others = some.iter().copied().filter(|place| !here.contains(place));
        for row in row_store.load_events_at(&subject, &others.collect::<Vec<_>>())? {
            if is_visible(&row, request) {
                let place = row.location;
                let mut scored = ScoredRow::from_row(row);
                blend.add_similarity(place, &mut scored.score);
                told.add(scored);
            }
        }
        if told.count_distinct() >= limit {
            break;
        }
    }
    told.keep_best();
    Ok(cut)
}

/// Collects the events that were read.
struct EventCollector {
    options: EventSearchOptions,
    events: Vec<ScoredRow<MemoryEvent>>,
    /// Detects repeated texts, if the options require it.
    deduplicator: Option<TextDeduplicator>,
    /// The number of events that were left out because a better one has the same text.
    duplicates: usize,
}

/// The number of each distinct text by speaker, and the number at each location.
#[derive(Default)]
struct TextDeduplicator {
    words: BTreeMap<(SpeakerRole, MemoryOrigin, Option<String>, String), usize>,
    locations: BTreeMap<EventLocation, usize>,
}

impl EventCollector {
    /// Adds an event and returns whether no earlier one has the same text.
    fn add(&mut self, event: ScoredRow<MemoryEvent>) -> bool {
        let new = self.deduplicator.as_mut().is_none_or(|says| {
            let MemoryEvent { role, origin, speaker, text, location: place, .. } = &event.row;
            let (next, words) =
                (says.words.len(), (*role, *origin, speaker.clone(), normalize_text(text)));
            let number = *says.words.entry(words).or_insert(next);
            says.locations.insert(*place, number);
            number == next
        });
        self.events.push(event);
        new
    }

    /// Returns the number of distinct texts.
    fn count_distinct(&self) -> usize {
        let Some(says) = &self.deduplicator else { return self.events.len() };
        let numbers = self.events.iter().map(|event| says.locations.get(&event.row.location));
        numbers.collect::<BTreeSet<_>>().len()
    }

    /// Keeps the best events up to the limit, the newest first in a tie. If some of them repeat
    /// each other, further events are kept after them.
    fn keep_best(&mut self) {
        let limit = self.options.limit;
        let events = &mut self.events;
        events
            .sort_by_cached_key(|event| (Reverse(event.score.total), Reverse(event.row.location)));
        let Some(says) = &self.deduplicator else { return events.truncate(limit) };
        let (mut at, mut said) = (0, BTreeSet::new());
        events.retain(|event| {
            at += 1;
            let full = said.len() == limit;
            let number = says.locations.get(&event.row.location);
            let echo = said.contains(&number);
            if !full {
                said.insert(number);
            }
            self.duplicates += usize::from(echo && at > limit);
            at <= limit || !(full || echo)
        });
    }

    /// Reports that events were left out because they repeat others.
    fn describe_truncation(&self) -> Option<ReadTruncation> {
        let kept = self.events.len() - self.count_distinct();
        (self.duplicates > 0).then(|| ReadTruncation {
            description: "events that repeat a better match".to_owned(),
            read: kept as u64,
            total: Some((kept + self.duplicates) as u64),
        })
    }
}
