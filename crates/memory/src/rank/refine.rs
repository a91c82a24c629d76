//! The last word on a hit, with the event itself at hand.
//!
//! ```text
//! a turn:      (own + nearby terms) × (1 + session) × speaker × time × question
//! long prose:   own terms                           × speaker × time × role
//! ```

use super::fixed::{ONE, times};
use super::hits::Hit;
use super::query::Query;
use super::terms::is_prose;
use crate::Score;
use crate::record::{Event, Role};

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
pub fn refine(query: &Query, hit: &Hit, event: &Event) -> Score {
    let prose = is_prose(event);
    let (words, nearby) = (hit.own, if prose { 0 } else { hit.reach - hit.own });
    let mut parts = vec![("words", words), ("nearby", nearby)];
    let mut total = words + nearby;
    let mut factor = |name, applies, by| {
        if applies {
            total = times(total, by);
            parts.push((name, by));
        }
    };
    factor("session", !prose, ONE + hit.session);
    let speaker = event.speaker.as_deref();
    factor("speaker", speaker.is_some_and(|name| query.names(name)), SPEAKER);
    factor("time", query.covers(event.ts), TIME);
    factor("question", !prose && asks(&event.text), QUESTION);
    factor("role", prose && event.role != Role::User, WRITTEN);
    let parts = parts.into_iter().filter(|(_, value)| *value != 0);
    Score { total, parts: parts.map(|(name, value)| (name.to_owned(), value)).collect() }
}

/// No event makes more of a hit than this.
#[must_use]
pub fn at_most(query: &Query, hit: &Hit) -> i64 {
    let most = times(hit.total(), SPEAKER);
    if query.has_time() { times(most, TIME) } else { most }
}

/// Whether a text ends with a question.
fn asks(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？'])
}
