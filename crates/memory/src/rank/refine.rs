//! Computes the final score of a hit from the event itself.
//!
//! ```text
//! a turn:      (own + nearby terms) × (1 + session) × speaker × time × question
//! long prose:   own terms                           × speaker × time × role
//! ```

use super::bm25::{ONE, multiply_millionths};
use super::hits::RankedHit;
use super::query::WeightedQuery;
use super::terms::is_prose;
use crate::RelevanceScore;
use crate::record::{MemoryEvent, SpeakerRole};

/// Factor for an event by a speaker that the request names: a request about Nate is mostly about
/// what Nate said.
const SPEAKER: i64 = 2_000_000;

/// Factor for an event that ends with a question, which rarely contains the answer.
const QUESTION: i64 = 600_000;

/// Factor for long prose that no person wrote.
const WRITTEN: i64 = 333_333;

/// Factor for an event in the requested time range.
const TIME: i64 = 1_500_000;

/// Computes the score of an event. It is zero for prose that only its neighbours match.
#[must_use]
pub fn refine_score(query: &WeightedQuery, hit: &RankedHit, event: &MemoryEvent) -> RelevanceScore {
    let prose = is_prose(event);
    let (words, nearby) =
        (hit.own_score, if prose { 0 } else { hit.boosted_score - hit.own_score });
    let mut parts = vec![("words", words), ("nearby", nearby)];
    let mut total = words + nearby;
    let mut factor = |name, applies, by| {
        if applies {
            total = multiply_millionths(total, by);
            parts.push((name, by));
        }
    };
    factor("session", !prose, ONE + hit.session_share);
    let speaker = event.speaker.as_deref();
    factor("speaker", speaker.is_some_and(|name| query.mentions_name(name)), SPEAKER);
    factor("time", query.covers_time(event.ts), TIME);
    factor("question", !prose && is_question(&event.text), QUESTION);
    factor("role", prose && event.role != SpeakerRole::User, WRITTEN);
    let parts = parts.into_iter().filter(|(_, value)| *value != 0);
    RelevanceScore { total, parts: parts.map(|(name, value)| (name.to_owned(), value)).collect() }
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
