//! What an event is found by: the words it has, who spoke, its tags, and the day it happened.

use std::collections::BTreeMap;

use countersign_core::text::split_words;

use super::dates;
use super::function_words::is_function_word;
use super::irregular::to_base_form;
use super::posting::Posting;
use crate::record::{EventLocation, MemoryEvent};

/// The version of the rules that make terms of texts: another one needs another index.
pub const TERM_ANALYZER: &str = "terms-1";

/// A text of more bytes is prose, not a turn of a conversation.
const MAX_TURN_BYTES: usize = 700;

/// The words of a text that can find something, in the order they stand.
#[must_use]
pub fn extract_terms(text: &str) -> Vec<String> {
    split_words(text).into_iter().filter(|word| !is_function_word(word)).map(to_base_form).collect()
}

/// An event as the index has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedEvent {
    /// How often each term stands in it. Terms of its day begin with `@`, which no word does.
    pub terms: BTreeMap<String, u16>,
    /// How many terms it has, its day not counted.
    pub length: u16,
    /// Whether it is long prose.
    pub prose: bool,
}

/// What an event is found by.
#[must_use]
pub fn analyze_event(event: &MemoryEvent) -> IndexedEvent {
    let texts = [event.text.as_str()].into_iter().chain(event.speaker.as_deref());
    let texts = texts.chain(event.tags.iter().chain(&event.entities).map(String::as_str));
    let (mut counted, mut length) = (BTreeMap::new(), 0_u16);
    for term in texts.flat_map(extract_terms) {
        let count = counted.entry(term).or_insert(0_u16);
        *count = count.saturating_add(1);
        length = length.saturating_add(1);
    }
    counted.extend(dates::build_day_terms(event.ts).map(|term| (term, 1)));
    IndexedEvent { terms: counted, length, prose: is_prose(event) }
}

/// Whether an event is long prose, which answers for itself and not for its neighbours.
pub(super) fn is_prose(event: &MemoryEvent) -> bool {
    event.text.len() > MAX_TURN_BYTES
}

impl IndexedEvent {
    /// The posting that each term gets for an event at this place.
    pub fn build_postings(&self, place: EventLocation) -> impl Iterator<Item = (&str, Posting)> {
        let (length, prose) = (self.length, self.prose);
        self.terms.iter().map(move |(term, tf)| {
            (term.as_str(), Posting { location: place, tf: *tf, length, prose })
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
