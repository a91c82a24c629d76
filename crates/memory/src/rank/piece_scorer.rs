//! Scores the pieces of long messages, to find the one that answers.

use std::collections::{BTreeMap, BTreeSet};

use super::bm25::{TermSaturation, compute_idf, multiply_millionths};
use super::dates::build_day_terms;
use super::hits::{IndexStats, TermPostings};
use super::message_pieces::split_into_pieces;
use super::query::WeightedQuery;
use super::standing_wish::STANDING_WISH_TERM;
use super::term_matcher::TermMatcher;
use super::terms::has_standing_wish;
use crate::record::MemoryEvent;

/// The terms of a query with what each is worth among the events of a subject.
#[derive(Debug, Default)]
pub struct PieceScorer {
    values: BTreeMap<String, i64>,
    matcher: TermMatcher,
    saturation: Option<TermSaturation>,
}

/// The piece of a message that matches best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BestPiece {
    /// The number of the piece within its message, starting at 1.
    pub(super) number: u32,
    pub(super) score: i64,
}

impl PieceScorer {
    /// Prepares the terms of a query whose postings were read.
    #[must_use]
    pub fn new(query: &WeightedQuery, lists: &[TermPostings], stats: IndexStats) -> Self {
        let value = |list: &TermPostings| {
            let weight = query.weight(&list.term);
            (list.term.clone(), multiply_millionths(weight, compute_idf(stats, list.df)))
        };
        let values: BTreeMap<String, i64> = lists.iter().map(value).collect();
        let matcher = TermMatcher::from_terms(values.keys());
        Self { values, matcher, saturation: Some(TermSaturation::new(stats)) }
    }

    /// Returns the piece of a long message that matches best, the first one in a tie; `None` for a
    /// message of one piece. What is true of the whole message, such as its day, counts for every
    /// piece. The score is never above that of all terms of the message together. `length` is that
    /// of the message's postings.
    pub(super) fn find_best_piece(&self, event: &MemoryEvent, length: u16) -> Option<BestPiece> {
        let pieces = split_into_pieces(&event.text);
        if pieces.len() < 2 {
            return None;
        }
        let mut of_message = BTreeSet::new();
        let names = event.speaker.iter().chain(&event.tags).chain(&event.entities);
        names.for_each(|name| self.matcher.find_in_text(name, &mut of_message));
        of_message.extend(build_day_terms(event.ts).filter(|day| self.values.contains_key(day)));
        let saturation = self.saturation.as_ref();
        let once = saturation.map_or(0, |it| it.score_occurrence(1, length.into()));
        let mut best = BestPiece { number: 1, score: i64::MIN };
        for (number, piece) in (1..).zip(pieces) {
            let mut found = of_message.clone();
            self.matcher.find_in_text(piece, &mut found);
            if has_standing_wish(event, piece) {
                found.insert(STANDING_WISH_TERM.to_owned());
            }
            let value = |term: &String| self.values.get(term).copied().unwrap_or(0);
            let score =
                found.iter().map(|term| multiply_millionths(value(term), once)).sum::<i64>();
            if score > best.score {
                best = BestPiece { number, score };
            }
        }
        Some(best)
    }
}
