//! What a request asks the index for.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::memory::meta::Cues;
use countersign_core::run::Time;

use super::fixed::ONE;
use super::{dates, kinds, terms};
use crate::Request;

/// A question of more terms is not widened: it says enough.
const WIDENED: usize = 16;

/// So many terms of a question are looked up; of a longer one the first.
const LONGEST: usize = 128;

/// How much a member of a kind counts beside a word that was said.
const MEMBER: i64 = 300_000;

/// How much a day of the time that is spoken of counts: it says when, and not what.
const SPAN: i64 = 300_000;

/// The terms of a question and how much each counts, in millionths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    weights: BTreeMap<String, i64>,
    said: BTreeSet<String>,
    time: Option<(Time, Time)>,
}

impl Query {
    /// What a request asks for: its keywords, entities, tags and message, and the time it speaks of.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        let mut texts = Vec::new();
        if let Some(cues) = &request.cues {
            let lists = [&cues.keywords, &cues.entities, &cues.tags];
            texts.extend(lists.into_iter().flatten().flatten().map(String::as_str));
        }
        texts.extend(request.message.as_deref());
        let mut query = Self::of_texts(&texts);
        query.time = request.cues.as_ref().and_then(|cues| time(cues, request.as_of));
        if let Some((from, to)) = query.time {
            for term in dates::within(from, to) {
                query.weights.entry(term).or_insert(SPAN);
            }
        }
        query
    }

    /// What these texts ask for together.
    #[must_use]
    pub fn of_texts(texts: &[&str]) -> Self {
        let mut said = BTreeSet::new();
        for term in texts.iter().flat_map(|text| terms(text)) {
            if said.len() < LONGEST {
                said.insert(term);
            }
        }
        let days = texts.iter().flat_map(|text| dates::named_in(text)).take(LONGEST);
        let mut weights: BTreeMap<String, i64> =
            said.iter().cloned().chain(days).map(|term| (term, ONE)).collect();
        if said.len() <= WIDENED {
            for member in kinds::members(&said) {
                weights.entry(member).or_insert(MEMBER);
            }
        }
        Self { weights, said, time: None }
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
    pub fn names(&self, name: &str) -> bool {
        terms(name).iter().any(|word| self.said.contains(word))
    }

    /// Whether a time is spoken of.
    pub(super) fn has_time(&self) -> bool {
        self.time.is_some()
    }

    /// Whether a moment lies in the time that is spoken of.
    pub(super) fn covers(&self, at: Time) -> bool {
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
fn time(cues: &Cues, now: Time) -> Option<(Time, Time)> {
    let range = cues.time_range.as_ref()?;
    let from = Time::parse(range.start.as_deref()?)?;
    let to = match range.end.as_deref() {
        Some(end) => Time::parse(end)?,
        None => now,
    };
    (from <= to).then_some((from, to))
}
