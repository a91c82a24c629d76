//! The last word on a hit, with the event itself at hand.
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

/// Who asks about Nate wants most what Nate said.
const SPEAKER: i64 = 2_000_000;

/// Who only asks has not answered.
const QUESTION: i64 = 600_000;

/// Long prose that no person wrote.
const WRITTEN: i64 = 333_333;

/// Who asks about a time wants what happened then.
const TIME: i64 = 1_500_000;

/// How well an event answers. Zero where only its neighbours do, and it is prose.
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

/// No event makes more of a hit than this.
#[must_use]
pub fn bound_score(query: &WeightedQuery, hit: &RankedHit) -> i64 {
    let most = multiply_millionths(hit.total_score(), SPEAKER);
    if query.has_time() { multiply_millionths(most, TIME) } else { most }
}

/// Whether a text ends with a question.
fn is_question(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？'])
}
