//! Builds the weighted query of a request.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::meta::PacketCues;

use super::asked_reply::asks_for_reply;
use super::bm25::ONE;
use super::standing_wish::STANDING_WISH_TERM;
use super::{dates, extract_terms, word_classes};
use crate::PacketRequest;

/// A query with more terms is not expanded, because it is specific enough.
const MAX_EXPANDED_TERMS: usize = 16;

/// The maximum number of terms that are looked up; of a longer query, the first ones.
const MAX_QUERY_TERMS: usize = 128;

/// The weight of a word class member, in millionths; a word of the request has 1,000,000.
const CLASS_MEMBER_WEIGHT: i64 = 300_000;

/// The weight of a day in the requested time range, in millionths. It is low because it says when,
/// not what.
const TIME_RANGE_WEIGHT: i64 = 300_000;

/// The weight of a standing wish, in millionths: it concerns every request a little.
const STANDING_WISH_WEIGHT: i64 = 500_000;

/// Factor for what an assistant writes at length: a request is mostly about the person, whose words
/// the assistant repeats.
const ASSISTANT: i64 = 200_000;

/// The same factor if the request asks for what the assistant said.
const ASKED_ASSISTANT: i64 = 1_500_000;

/// The terms of a query with their weights, in millionths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WeightedQuery {
    weights: BTreeMap<String, i64>,
    spoken_terms: BTreeSet<String>,
    /// Whether the request asks for what the assistant said.
    asks_assistant: bool,
    time: Option<(Timestamp, Timestamp)>,
}

impl WeightedQuery {
    /// Builds the query of a request from its keywords, entities, tags, message and time range.
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

    /// Builds one query from several texts.
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
        if !weights.is_empty() {
            weights.insert(STANDING_WISH_TERM.to_owned(), STANDING_WISH_WEIGHT);
        }
        let asks_assistant = texts.iter().any(|text| asks_for_reply(text));
        Self { weights, spoken_terms, asks_assistant, time: None }
    }

    /// Returns the terms to look up with their weights.
    pub fn terms(&self) -> impl Iterator<Item = (&str, i64)> {
        self.weights.iter().map(|(term, weight)| (term.as_str(), *weight))
    }

    /// Returns the weight of a term; 0 if the query does not contain it.
    #[must_use]
    pub fn weight(&self, term: &str) -> i64 {
        self.weights.get(term).copied().unwrap_or(0)
    }

    /// Returns whether the request contains a word of this name.
    #[must_use]
    pub fn mentions_name(&self, name: &str) -> bool {
        extract_terms(name).iter().any(|word| self.spoken_terms.contains(word))
    }

    /// Returns whether the request has a time range.
    pub(super) fn has_time(&self) -> bool {
        self.time.is_some()
    }

    /// Returns whether a timestamp lies in the requested time range.
    pub(super) fn covers_time(&self, at: Timestamp) -> bool {
        self.time.is_some_and(|(from, to)| (from..=to).contains(&at))
    }

    /// Returns the factor for the words of an assistant.
    pub(super) fn assistant_factor(&self) -> i64 {
        if self.asks_assistant { ASKED_ASSISTANT } else { ASSISTANT }
    }

    /// Returns whether the query has no terms.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }
}

/// Parses the time range of the cues, both ends inclusive. Returns `None` for a range without a
/// start, and for an invalid one, which composing reports.
fn parse_time_range(cues: &PacketCues, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
    let range = cues.time_range.as_ref()?;
    let from = Timestamp::parse(range.start.as_deref()?)?;
    let to = match range.end.as_deref() {
        Some(end) => Timestamp::parse(end)?,
        None => now,
    };
    (from <= to).then_some((from, to))
}
