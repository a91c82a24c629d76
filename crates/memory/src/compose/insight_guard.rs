//! Withholds unvalidated insights from a responder wherever they occur: in a summary, an episode, a
//! model's message or a citation.
//!
//! The first check is provenance: text by an author who had seen an insight is withheld until the
//! insight is validated, however it is phrased, and so is everything based on that text. The second
//! check is wording, for text without provenance: the insight itself in a text, its words close
//! together in another order, or its words split over two consecutive messages. Words of a user or
//! a tool are never withheld, even if an insight says the same.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::text::fold_confusables;
use countersign_shipped_contracts::memory::insight::InsightValidationState;
use countersign_shipped_contracts::memory::meta::PacketPurpose;

use super::evidence_index::{CitableEvent, EvidenceIndex};
use super::normalize::{contains_words, normalize_text};
use super::proximity_matcher::ProximityMatcher;
use crate::Candidates;
use crate::record::{MemoryEvent, MemoryOrigin};

/// The minimum length of an insight for a search within texts. A shorter one matches only as a
/// whole text, because `yes` occurs everywhere.
const MIN_MATCH_BYTES: usize = 8;

/// Two messages of one speaker at most this many positions apart are read as one; the other
/// speaker's answer may lie between them.
const MAX_POSITION_GAP: u32 = 2;

/// The insights that must not be visible, and the events that were written after them.
#[derive(Debug, Default)]
pub(super) struct InsightGuard {
    insights: Vec<String>,
    prefix_filter: PrefixFilter,
    proximity_matcher: ProximityMatcher,
    /// The ids of events that are withheld by provenance; `split_events` has those that contain
    /// only a part of an insight.
    tainted_events: BTreeSet<String>,
    split_events: BTreeSet<String>,
}

impl InsightGuard {
    /// Determines what must be withheld for a purpose.
    pub(super) fn from_candidates(purpose: PacketPurpose, found: &Candidates) -> Self {
        if purpose != PacketPurpose::Responder {
            return Self::default();
        }
        let guesses =
            found.insights.iter().map(|scored| &scored.row).chain(&found.withheld_insights);
        let secret = guesses.filter(|guess| guess.validation != InsightValidationState::Validated);
        let guesses: Vec<String> =
            secret.map(|guess| normalize_for_match(&guess.statement)).collect();
        let (begins, scattered) =
            (PrefixFilter::from_statements(&guesses), ProximityMatcher::from_statements(&guesses));
        let mut guard = Self {
            insights: guesses,
            prefix_filter: begins,
            proximity_matcher: scattered,
            tainted_events: collect_tainted_events(found),
            ..Self::default()
        };
        guard.split_events = guard.find_split_insights(found);
        guard
    }

    /// Returns the number of insights whose words are withheld.
    pub(super) fn insight_count(&self) -> usize {
        self.insights.len()
    }

    /// Returns the number of events that are withheld because of what their authors had seen.
    pub(super) fn tainted_count(&self) -> usize {
        self.tainted_events.len()
    }

    /// Returns whether nothing is withheld.
    pub(super) fn is_inactive(&self) -> bool {
        self.insights.is_empty() && self.tainted_events.is_empty()
    }

    /// Returns whether a source was written by an author who had seen an unvalidated insight.
    pub(super) fn has_tainted_source<'s>(
        &self,
        mut sources: impl Iterator<Item = &'s String>,
    ) -> bool {
        !self.tainted_events.is_empty()
            && sources.any(|source| self.tainted_events.contains(source))
    }

    /// Returns whether a text repeats an insight that no cited event of a user or a tool contains.
    pub(super) fn must_withhold_text<'s>(
        &self,
        text: &str,
        sources: &(impl Iterator<Item = &'s String> + Clone),
        evidences: &EvidenceIndex<'_>,
    ) -> bool {
        if self.insights.is_empty() {
            return false;
        }
        let text = normalize_for_match(text);
        let said_by_others = |guess: usize| {
            let cited = sources.clone().filter_map(|source| evidences.find_event(source));
            cited.filter(is_first_hand).any(|cited| {
                let text = normalize_for_match(cited.text);
                contains_insight(&self.insights[guess], &text)
                    || self.proximity_matcher.find_in_text(&text).contains(&guess)
            })
        };
        self.find_insights(&text).into_iter().any(|guess| !said_by_others(guess))
    }

    /// Returns whether an event repeats an insight or a part of it, or was written by an author who
    /// had seen one.
    pub(super) fn must_withhold_event(&self, cited: &CitableEvent<'_>) -> bool {
        if self.tainted_events.contains(cited.id) {
            return true;
        }
        if self.insights.is_empty() || is_first_hand(cited) {
            return false;
        }
        self.split_events.contains(cited.id)
            || !self.find_insights(&normalize_for_match(cited.text)).is_empty()
    }

    /// Returns the insights that a text contains, with their words in any order.
    fn find_insights(&self, text: &str) -> BTreeSet<usize> {
        let mut found = self.proximity_matcher.find_in_text(text);
        if self.prefix_filter.may_match(text) {
            let whole =
                (0..self.insights.len()).filter(|it| contains_insight(&self.insights[*it], text));
            found.extend(whole);
        }
        found
    }

    /// Returns the events that contain an insight only together with the next event.
    fn find_split_insights(&self, found: &Candidates) -> BTreeSet<String> {
        let mut parts = BTreeSet::new();
        if self.insights.is_empty() {
            return parts;
        }
        let events = found.quotes.iter().map(|quote| &quote.row).chain(&found.window);
        let written = events.filter(|event| !is_first_hand_origin(event.origin));
        let written: BTreeMap<_, &MemoryEvent> =
            written.map(|event| (event.location, event)).collect();
        let written: Vec<(&MemoryEvent, String)> =
            written.into_values().map(|event| (event, normalize_for_match(&event.text))).collect();
        for pair in written.windows(2) {
            let [(one, first), (other, second)] = pair else { continue };
            let near = one.location.session == other.location.session
                && other.location.position - one.location.position <= MAX_POSITION_GAP;
            if !near {
                continue;
            }
            let alone = [first, second].map(|text| self.find_insights(text));
            let both = self.find_insights(&format!("{first} {second}"));
            if both.iter().any(|guess| alone.iter().all(|found| !found.contains(guess))) {
                parts.extend([one.id.clone(), other.id.clone()]);
            }
        }
        parts
    }
}

/// Returns the events whose authors had seen an insight that is not validated or no longer exists.
fn collect_tainted_events(found: &Candidates) -> BTreeSet<String> {
    let insights = found.insights.iter().map(|scored| &scored.row).chain(&found.cleared_insights);
    let validated = insights.filter(|row| row.validation == InsightValidationState::Validated);
    let validated: BTreeSet<&str> = validated.map(|row| row.id.as_str()).collect();
    let is_tainted = |seen: &[String]| seen.iter().any(|id| !validated.contains(id.as_str()));
    let events = found.quotes.iter().map(|quote| &quote.row).chain(&found.window);
    let shown = events.map(|event| (&event.id, &event.seen_insights));
    let cited = found.evidence.iter().map(|(id, cited)| (id, &cited.seen_insights));
    shown.chain(cited).filter(|(_, seen)| is_tainted(seen)).map(|(id, _)| id.clone()).collect()
}

/// Normalizes a text for matching against insights.
fn normalize_for_match(text: &str) -> String {
    normalize_text(&fold_confusables(text))
}

/// The prefixes of all insights. One pass over a text rules out most texts.
#[derive(Debug)]
struct PrefixFilter {
    /// The first eight bytes of each insight, ascending.
    bytes: Vec<u64>,
    /// A Bloom filter over the prefixes.
    bits: [u64; 64],
}

impl PrefixFilter {
    fn from_statements(guesses: &[String]) -> Self {
        let mut begins = Self::default();
        for guess in guesses.iter().filter(|guess| guess.len() >= MIN_MATCH_BYTES) {
            let first = guess.bytes().take(MIN_MATCH_BYTES).fold(0, shift_in_byte);
            begins.bytes.push(first);
            begins.bits[hash_to_bit(first) / 64] |= 1 << (hash_to_bit(first) % 64);
        }
        begins.bytes.sort_unstable();
        begins
    }

    /// Returns whether a text may contain an insight, or is itself too short for the prefix search.
    fn may_match(&self, text: &str) -> bool {
        let mut last = 0;
        text.len() < MIN_MATCH_BYTES
            || text.bytes().any(|byte| {
                last = shift_in_byte(last, byte);
                self.bits[hash_to_bit(last) / 64] >> (hash_to_bit(last) % 64) & 1 == 1
                    && self.bytes.binary_search(&last).is_ok()
            })
    }
}

impl Default for PrefixFilter {
    fn default() -> Self {
        Self { bytes: Vec::new(), bits: [0; 64] }
    }
}

/// Shifts a byte into the last eight bytes, which is the minimum length of an insight in the
/// search.
fn shift_in_byte(last: u64, byte: u8) -> u64 {
    last << 8 | u64::from(byte)
}

/// Returns the index of one of 4,096 bits.
fn hash_to_bit(bytes: u64) -> usize {
    (bytes.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize
}

/// Normalizes an insight for matching against texts.
pub(crate) fn normalize_insight(statement: &str) -> String {
    normalize_text(statement)
}

/// Returns whether an event repeats one of these insights and does not come from a user or a tool.
pub(crate) fn repeats_insight(guesses: &[String], event: &MemoryEvent) -> bool {
    !is_first_hand_origin(event.origin) && contains_insight_words(guesses, &event.text)
}

/// Returns whether a text contains the words of one of these insights, in order or close together.
pub(crate) fn contains_insight_words(guesses: &[String], text: &str) -> bool {
    let text = normalize_for_match(text);
    let guesses: Vec<String> = guesses.iter().map(|guess| normalize_for_match(guess)).collect();
    guesses.iter().any(|guess| contains_insight(guess, &text))
        || !ProximityMatcher::from_statements(&guesses).find_in_text(&text).is_empty()
}

fn is_first_hand(cited: &CitableEvent<'_>) -> bool {
    is_first_hand_origin(cited.origin)
}

fn is_first_hand_origin(origin: MemoryOrigin) -> bool {
    matches!(origin, MemoryOrigin::User | MemoryOrigin::Tool)
}

fn contains_insight(guess: &str, text: &str) -> bool {
    text == guess || (guess.len() >= MIN_MATCH_BYTES && contains_words(text, guess))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_with_an_insight_in_it_is_passed_over() {
        let told =
            ["yes", "bob may like tofu", "客户打算更换供应商", "клиент уйдёт", "bob may like tea"];
        let guesses: Vec<String> = told.iter().map(|text| normalize_text(text)).collect();
        let begins = PrefixFilter::from_statements(&guesses);
        let around =
            ["", "I think that ", "說", "a b c d e f g h i j k l m n o p q r s t u v w x y z "];
        for guess in &guesses {
            for before in around {
                let text = normalize_text(&format!("{before}{guess}. {before}"));
                assert!(
                    !contains_insight(guess, &text) || begins.may_match(&text),
                    "{guess} in {text}"
                );
            }
            assert!(begins.may_match(guess), "{guess}");
        }
        assert!(!begins.may_match("nobody may like tofuburgers at all"));
        assert!(!begins.may_match("the client goes on as before"));
    }
}
