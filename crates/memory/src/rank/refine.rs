//! Computes the final score of a hit from the event itself.
//!
//! ```text
//! a turn:     (own + nearby terms) × (1 + session) × speaker × time × question
//! prose:       its own terms, or its best piece    × speaker × time
//! ```

use super::bm25::{ONE, multiply_millionths};
use super::hits::RankedHit;
use super::piece_scorer::PieceScorer;
use super::query::WeightedQuery;
use super::terms::is_turn;
use crate::RelevanceScore;
use crate::record::{MemoryEvent, SpeakerRole};

/// Factor for an event by a speaker that the request names: a request about Nate is mostly about
/// what Nate said.
const SPEAKER: i64 = 2_000_000;

/// Factor for a short turn that ends with a question, which rarely contains the answer.
const QUESTION: i64 = 600_000;

/// A longer message that ends with a question says something before it.
const MAX_QUESTION_BYTES: usize = 200;

/// Factor for an event in the requested time range.
const TIME: i64 = 1_500_000;

/// Computes the score of an event. It is zero for prose that only its neighbours match. Of a long
/// message it is the score of its best piece.
#[must_use]
pub fn refine_score(
    query: &WeightedQuery,
    pieces: &PieceScorer,
    hit: &RankedHit,
    event: &MemoryEvent,
) -> RelevanceScore {
    let turn = is_turn(event);
    let best = pieces.find_best_piece(event, hit.length).filter(|_| hit.own_score > 0);
    let words = match best {
        None => hit.own_score,
        Some(best) if event.role == SpeakerRole::User => best.score,
        Some(best) => multiply_millionths(best.score, query.assistant_factor()),
    };
    let nearby = if turn { hit.boosted_score - hit.own_score } else { 0 };
    let mut parts = vec![("words", words), ("nearby", nearby)];
    let mut total = words + nearby;
    let mut factor = |name, applies, by| {
        if applies {
            total = multiply_millionths(total, by);
            parts.push((name, by));
        }
    };
    factor("session", turn, ONE + hit.session_share);
    let speaker = event.speaker.as_deref();
    factor("speaker", speaker.is_some_and(|name| query.mentions_name(name)), SPEAKER);
    factor("time", query.covers_time(event.ts), TIME);
    let question = event.text.len() <= MAX_QUESTION_BYTES && is_question(&event.text);
    factor("question", question, QUESTION);
    let parts = parts.into_iter().filter(|(_, value)| *value != 0);
    let parts = parts.map(|(name, value)| (name.to_owned(), value)).collect();
    RelevanceScore { total, parts, piece: best.map(|best| best.number) }
}

/// Returns the highest score that any event can give this hit.
#[must_use]
pub fn bound_score(query: &WeightedQuery, hit: &RankedHit) -> i64 {
    let most = multiply_millionths(hit.total_score(), SPEAKER);
    if query.has_time() { multiply_millionths(most, TIME) } else { most }
}

/// Returns whether a text ends with a question mark.
fn is_question(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？'])
}
