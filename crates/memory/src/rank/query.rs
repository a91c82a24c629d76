//! What a request asks the index for.

use std::collections::{BTreeMap, BTreeSet};

use super::fixed::ONE;
use super::{dates, kinds, terms};
use crate::Request;

/// A question of more terms is not widened: it says enough.
const WIDENED: usize = 16;

/// So many terms of a question are looked up; of a longer one the first.
const LONGEST: usize = 128;

/// How much a member of a kind counts beside a word that was said.
const MEMBER: i64 = 300_000;

/// The terms of a question and how much each counts, in millionths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    weights: BTreeMap<String, i64>,
    said: BTreeSet<String>,
}

impl Query {
    /// What a request asks for: its keywords, entities, tags and message.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        let mut texts = Vec::new();
        if let Some(cues) = &request.cues {
            let lists = [&cues.keywords, &cues.entities, &cues.tags];
            texts.extend(lists.into_iter().flatten().flatten().map(String::as_str));
        }
        texts.extend(request.message.as_deref());
        Self::of_texts(&texts)
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
        Self { weights, said }
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

    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }
}
