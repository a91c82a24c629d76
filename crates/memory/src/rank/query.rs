//! What a request asks the index for.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::memory::meta::PacketCues;
use countersign_core::run::Timestamp;

use super::bm25::ONE;
use super::{dates, extract_terms, word_classes};
use crate::PacketRequest;

/// A question of more terms is not widened: it says enough.
const MAX_EXPANDED_TERMS: usize = 16;

/// So many terms of a question are looked up; of a longer one the first.
const MAX_QUERY_TERMS: usize = 128;

/// How much a member of a kind counts beside a word that was said.
const CLASS_MEMBER_WEIGHT: i64 = 300_000;

/// How much a day of the time that is spoken of counts: it says when, and not what.
const TIME_RANGE_WEIGHT: i64 = 300_000;

/// The terms of a question and how much each counts, in millionths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WeightedQuery {
    weights: BTreeMap<String, i64>,
    spoken_terms: BTreeSet<String>,
    time: Option<(Timestamp, Timestamp)>,
}

impl WeightedQuery {
    /// What a request asks for: its keywords, entities, tags and message, and the time it speaks of.
    #[must_use]
    pub fn from_request(request: &PacketRequest) -> Self {
        let mut texts = Vec::new();
        if let Some(cues) = &request.cues {
            let lists = [&cues.keywords, &cues.entities, &cues.tags];
            texts.extend(lists.into_iter().flatten().flatten().map(String::as_str));
        }
        texts.extend(request.message.as_deref());
        let mut query = Self::from_texts(&texts);
        query.time = request.cues.as_ref().and_then(|cues| parse_time_range(cues, request.as_of));
        if let Some((from, to)) = query.time {
            for term in dates::build_range_terms(from, to) {
                query.weights.entry(term).or_insert(TIME_RANGE_WEIGHT);
            }
        }
        query
    }

    /// What these texts ask for together.
    #[must_use]
    pub fn from_texts(texts: &[&str]) -> Self {
        let mut spoken_terms = BTreeSet::new();
        for term in texts.iter().flat_map(|text| extract_terms(text)) {
            if spoken_terms.len() < MAX_QUERY_TERMS {
                spoken_terms.insert(term);
            }
        }
        let days =
            texts.iter().flat_map(|text| dates::extract_day_terms(text)).take(MAX_QUERY_TERMS);
        let mut weights: BTreeMap<String, i64> =
            spoken_terms.iter().cloned().chain(days).map(|term| (term, ONE)).collect();
        if spoken_terms.len() <= MAX_EXPANDED_TERMS {
            for member in word_classes::expand_query_terms(&spoken_terms) {
                weights.entry(member).or_insert(CLASS_MEMBER_WEIGHT);
            }
        }
        Self { weights, spoken_terms, time: None }
    }

    /// The terms to look up, and how much each counts.
    pub fn terms(&self) -> impl Iterator<Item = (&str, i64)> {
        self.weights.iter().map(|(term, weight)| (term.as_str(), *weight))
    }

    /// How much a term counts; nothing where it was not asked for.
    #[must_use]
    pub fn weight(&self, term: &str) -> i64 {
        self.weights.get(term).copied().unwrap_or(0)
    }

    /// Whether the words of this name, or one of them, were said.
    #[must_use]
    pub fn mentions_name(&self, name: &str) -> bool {
        extract_terms(name).iter().any(|word| self.spoken_terms.contains(word))
    }

    /// Whether a time is spoken of.
    pub(super) fn has_time(&self) -> bool {
        self.time.is_some()
    }

    /// Whether a moment lies in the time that is spoken of.
    pub(super) fn covers_time(&self, at: Timestamp) -> bool {
        self.time.is_some_and(|(from, to)| (from..=to).contains(&at))
    }

    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }
}

/// The time that cues speak of, both ends included. One without a beginning speaks of no time in particular, and
/// one that cannot be read of none: composing says so.
fn parse_time_range(cues: &PacketCues, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
    let range = cues.time_range.as_ref()?;
    let from = Timestamp::parse(range.start.as_deref()?)?;
    let to = match range.end.as_deref() {
        Some(end) => Timestamp::parse(end)?,
        None => now,
    };
    (from <= to).then_some((from, to))
}
