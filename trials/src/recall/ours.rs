//! Countersign's own ranking, over an index in memory that is written and read in blocks as a store's is.

use std::collections::BTreeMap;

use countersign_memory::rank::{
    BLOCK, Posting, Query, Stats, TermPostings, decode_block, encode_block, indexed, plan, rank,
    refine,
};
use countersign_memory::record::{Event, EventKind, Origin, Place, Role};
use countersign_memory::{Scope, ScopeError};

use super::conversation::{Conversation, Turn};
use super::moment;

/// How many hits are looked at with their events.
const LOOKED_AT: usize = 512;

/// A conversation in the index.
pub(crate) struct Ours {
    events: Vec<Event>,
    by_place: BTreeMap<Place, usize>,
    blocks: BTreeMap<String, (u32, Vec<Vec<u8>>)>,
    stats: Stats,
}

impl Ours {
    pub(crate) fn index(conversation: &Conversation) -> Result<Self, ScopeError> {
        let mut positions = BTreeMap::new();
        let mut events = Vec::new();
        for turn in &conversation.turns {
            let position = positions.entry(turn.session).or_insert(0);
            *position += 1;
            events.push(event(conversation, turn, *position)?);
        }
        let mut postings: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
        let mut stats = Stats { events: events.len() as u64, terms: 0 };
        for event in &events {
            let indexed = indexed(event);
            stats.terms += u64::from(indexed.length);
            for (term, posting) in indexed.postings(event.place) {
                postings.entry(term.to_owned()).or_default().push(posting);
            }
        }
        let blocks = postings.into_iter().map(|(term, list)| {
            (term, (list.len() as u32, list.chunks(BLOCK).map(encode_block).collect()))
        });
        let by_place = events.iter().enumerate().map(|(at, event)| (event.place, at));
        Ok(Self { by_place: by_place.collect(), blocks: blocks.collect(), stats, events })
    }

    /// The turns that answer, best first.
    pub(crate) fn ask(&self, question: &str) -> Vec<usize> {
        let query = Query::of_texts(&[question]);
        let df = |term: &str| self.blocks.get(term).map_or(0, |(df, _)| *df);
        let reads = plan(query.terms().map(|(term, _)| (term, df(term))));
        let lists: Vec<TermPostings> = reads
            .into_iter()
            .map(|read| {
                let mut postings = Vec::new();
                for block in &self.blocks[&read.term].1 {
                    decode_block(block, &mut postings).expect("the blocks were written above");
                }
                TermPostings { term: read.term, df: read.df, postings }
            })
            .collect();
        let hits = rank(&query, &lists, self.stats, LOOKED_AT);
        let mut scored: Vec<(i64, usize)> = hits
            .iter()
            .filter_map(|hit| {
                let at = *self.by_place.get(&hit.place)?;
                Some((refine(&query, hit, &self.events[at]).total, at))
            })
            .filter(|(score, _)| *score > 0)
            .collect();
        scored.sort_unstable_by(|left, right| right.cmp(left));
        scored.into_iter().map(|(_, at)| at).collect()
    }
}

fn event(conversation: &Conversation, turn: &Turn, position: u32) -> Result<Event, ScopeError> {
    let session = format!("session-{}", turn.session);
    let ts = moment::parse(&turn.date).expect("dates were checked when they were read");
    let ts = ts.after(i64::from(position) * 1_000);
    Ok(Event {
        id: turn.id.clone(),
        scope: Scope::new("locomo", conversation.id.as_str(), "recall", session, "run")?,
        place: Place { session: turn.session, position },
        ts,
        recorded_at: ts,
        role: Role::User,
        kind: EventKind::Message,
        origin: Origin::User,
        speaker: Some(turn.speaker.clone()),
        text: turn.words(),
        tags: Vec::new(),
        entities: Vec::new(),
        expires: None,
    })
}
