//! What a summary of a session is made of.

use std::collections::BTreeSet;

use countersign_contracts::memory::insight::ValidationState;
use countersign_core::run::Time;

use super::session::session;
use super::shelves::{Answer, Shelves};
use crate::Scope;
use crate::compose::{guess, tells_guess};
use crate::record::{Event, EventKind, Insight, Summary};
use crate::rules::is_over;
use crate::summarize::Material;

/// So many events are looked at, the latest ones.
const MOST: usize = 2_000;

/// What is new since the last summary, and what that one told; without what was written by those who had seen an
/// insight that nobody has validated, and without its words, of whatever run: a summary is seen by all runs of its
/// session.
pub(super) fn material(shelves: &impl Shelves, scope: &Scope, now: Time) -> Answer<Material> {
    scope.check()?;
    let subject = scope.subject();
    let mut previous: Option<Summary> = shelves.row(&subject, scope.session(), None)?;
    let (mut guesses, mut validated) = (Vec::new(), BTreeSet::new());
    for (_, insight) in shelves.rows::<Insight>(&subject, usize::MAX)? {
        if insight.validation == ValidationState::Validated {
            validated.insert(insight.id);
        } else {
            guesses.push(guess(&insight.statement));
        }
    }
    let told = |event: &Event| {
        event.kind != EventKind::StatePatch
            && !event.text.trim().is_empty()
            && event.seen_insights.iter().all(|id| validated.contains(id))
            && !tells_guess(&guesses, event)
    };
    let cited = previous.iter().flat_map(|summary| summary.sources.iter().chain(&summary.quotes));
    let cited: Vec<&str> = cited.map(String::as_str).collect();
    let mut cited = shelves.named(&subject, &cited)?;
    if let Some(previous) = &mut previous {
        // One that tells what must not be told is not told on.
        let seen = cited.values().flat_map(|event| &event.seen_insights);
        if seen.into_iter().any(|id| !validated.contains(id)) {
            previous.text.clear();
        }
        cited.retain(|id, _| previous.sources.contains(id));
    }
    let mut kept: Vec<Event> = cited.into_values().collect();
    kept.retain(|event| !is_over(event.expires, event.scope.run(), scope.run(), now));
    kept.retain(told);
    kept.sort_by_key(|event| event.place);
    let upto = previous.as_ref().map_or(0, |summary| summary.upto);
    let mut new = session(shelves, scope, upto, MOST, now)?;
    new.retain(told);
    // What ends with a run is not told to the session's others.
    new.retain(|event| event.expires.is_none());
    let upto = shelves.last_place(scope)?.map_or(upto, |place| place.position.max(upto));
    Ok(Material { previous, kept, new, guesses, upto })
}
