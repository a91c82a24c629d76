//! Analyzes events into index terms: words, speaker, tags and the day of the event.

use std::collections::BTreeMap;

use countersign_contract::text::split_words;

use super::dates;
use super::function_words::is_function_word;
use super::irregular::to_base_form;
use super::message_pieces::{MAX_TURN_BYTES, split_into_pieces};
use super::posting::Posting;
use super::standing_wish::{STANDING_WISH_TERM, expresses_standing_wish};
use crate::record::{EventLocation, MemoryEvent, SpeakerRole};

/// The version of the text analysis; a new version requires a new index.
pub const TERM_ANALYZER: &str = "terms-1";

/// Returns the indexable words of a text, in order.
#[must_use]
pub fn extract_terms(text: &str) -> Vec<String> {
    split_words(text).into_iter().filter(|word| !is_function_word(word)).map(to_base_form).collect()
}

/// A message to an assistant or from one is a turn only up to so many bytes: longer ones answer for
/// themselves.
const MAX_SHORT_TURN_BYTES: usize = 250;

/// An event as it is indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedEvent {
    /// The frequency of each term in the event. Day terms begin with `@`, which no word does.
    pub terms: BTreeMap<String, u16>,
    /// The number of terms in the event, without day terms; of a long message, in its pieces on
    /// average.
    pub length: u16,
    /// Whether the event is more than a turn of a conversation.
    pub prose: bool,
    /// Whether an assistant or a tool wrote the event, and it is more than a short turn.
    pub assistant: bool,
}

/// Analyzes an event into its terms.
#[must_use]
pub fn analyze_event(event: &MemoryEvent) -> IndexedEvent {
    let texts = [event.text.as_str()].into_iter().chain(event.speaker.as_deref());
    let texts = texts.chain(event.tags.iter().chain(&event.entities).map(String::as_str));
    let (mut counted, mut length) = (BTreeMap::new(), 0_usize);
    for term in texts.flat_map(extract_terms) {
        let count = counted.entry(term).or_insert(0_u16);
        *count = count.saturating_add(1);
        length += 1;
    }
    counted.extend(dates::build_day_terms(event.ts).map(|term| (term, 1)));
    if has_standing_wish(event, &event.text) {
        counted.insert(STANDING_WISH_TERM.to_owned(), 1);
    }
    let prose = !is_turn(event);
    let assistant = prose && event.role != SpeakerRole::User;
    let length = length.div_ceil(split_into_pieces(&event.text).len());
    let length = u16::try_from(length).unwrap_or(u16::MAX);
    IndexedEvent { terms: counted, length, prose, assistant }
}

/// Returns whether a person says in a part of an event what an assistant should do from now on. In a
/// conversation between people, whose names are known, nobody does.
pub(super) fn has_standing_wish(event: &MemoryEvent, part: &str) -> bool {
    event.role == SpeakerRole::User && event.speaker.is_none() && expresses_standing_wish(part)
}

/// Returns whether an event is a turn of a conversation, which counts together with its neighbours
/// and its session.
pub(super) fn is_turn(event: &MemoryEvent) -> bool {
    let between_people = event.role == SpeakerRole::User && event.speaker.is_some();
    event.text.len() <= if between_people { MAX_TURN_BYTES } else { MAX_SHORT_TURN_BYTES }
}

impl IndexedEvent {
    /// Returns the posting of each term for an event at this location.
    pub fn build_postings(&self, place: EventLocation) -> impl Iterator<Item = (&str, Posting)> {
        let (length, prose, assistant) = (self.length, self.prose, self.assistant);
        self.terms.iter().map(move |(term, tf)| {
            (term.as_str(), Posting { location: place, tf: *tf, length, prose, assistant })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_nothing_is_no_term() {
        let cases: [(&str, &[&str]); 4] = [
            ("When did Caroline go to the support groups?", &["carolin", "go", "support", "group"]),
            ("Когда Аня была в группах?", &["ан", "групп"]),
            ("我们什么时候开会？", &["们什", "候开", "开会"]),
            ("회의는 언제입니까?", &["회의", "의는", "제입"]),
        ];
        for (text, expected) in cases {
            assert_eq!(extract_terms(text), expected, "{text}");
        }
        assert_eq!(extract_terms("Who is it?"), Vec::<String>::new());
    }
}
