//! Analyzes events into index terms: words, speaker, tags and the day of the event.

use std::collections::BTreeMap;

use countersign_contract::text::split_words;

use super::dates;
use super::function_words::is_function_word;
use super::irregular::to_base_form;
use super::posting::Posting;
use crate::record::{EventLocation, MemoryEvent};

/// The version of the text analysis; a new version requires a new index.
pub const TERM_ANALYZER: &str = "terms-1";

/// A text with more bytes is prose, not a turn of a conversation.
const MAX_TURN_BYTES: usize = 700;

/// Returns the indexable words of a text, in order.
#[must_use]
pub fn extract_terms(text: &str) -> Vec<String> {
    split_words(text).into_iter().filter(|word| !is_function_word(word)).map(to_base_form).collect()
}

/// An event as it is indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedEvent {
    /// The frequency of each term in the event. Day terms begin with `@`, which no word does.
    pub terms: BTreeMap<String, u16>,
    /// The number of terms in the event, without day terms.
    pub length: u16,
    /// Whether the event is long prose.
    pub prose: bool,
}

/// Analyzes an event into its terms.
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

/// Returns whether an event is long prose, which does not score for its neighbours.
pub(super) fn is_prose(event: &MemoryEvent) -> bool {
    event.text.len() > MAX_TURN_BYTES
}

impl IndexedEvent {
    /// Returns the posting of each term for an event at this location.
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
