//! Loads the input of a session summary.

use std::collections::BTreeSet;

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::insight::InsightValidationState;

use super::row_store::{MemoryResult, RowStore};
use super::session_events::list_session_events;
use crate::MemoryScope;
use crate::compose::{normalize_insight, repeats_insight};
use crate::record::{MemoryEvent, MemoryEventKind, MemoryInsight, SessionSummary};
use crate::rules::is_expired;
use crate::summarize::SummaryInput;

/// The maximum number of events to read, newest first.
const MAX_EVENTS: usize = 2_000;

/// Loads the new events since the last summary and the events that it covers. Leaves out events by
/// authors who had seen an unvalidated insight, and events that repeat one, of any run, because all
/// runs of the session see the summary.
pub(super) fn load_summary_input(
    row_store: &impl RowStore,
    scope: &MemoryScope,
    now: Timestamp,
) -> MemoryResult<SummaryInput> {
    scope.check()?;
    let subject = scope.subject();
    let mut previous: Option<SessionSummary> =
        row_store.load_row(&subject, scope.session(), None)?;
    let (mut guesses, mut validated) = (Vec::new(), BTreeSet::new());
    for (_, insight) in row_store.load_rows::<MemoryInsight>(&subject, usize::MAX)? {
        if insight.validation == InsightValidationState::Validated {
            validated.insert(insight.id);
        } else {
            guesses.push(normalize_insight(&insight.statement));
        }
    }
    let told = |event: &MemoryEvent| {
        event.kind != MemoryEventKind::StatePatch
            && !event.text.trim().is_empty()
            && event.seen_insights.iter().all(|id| validated.contains(id))
            && !repeats_insight(&guesses, event)
    };
    let cited = previous.iter().flat_map(|summary| summary.sources.iter().chain(&summary.quotes));
    let cited: Vec<&str> = cited.map(String::as_str).collect();
    let mut cited = row_store.load_events_by_id(&subject, &cited)?;
    if let Some(previous) = &mut previous {
        // A summary with content that must not be visible is not continued.
        let seen = cited.values().flat_map(|event| &event.seen_insights);
        if seen.into_iter().any(|id| !validated.contains(id)) {
            previous.text.clear();
        }
        cited.retain(|id, _| previous.sources.contains(id));
    }
    let mut kept: Vec<MemoryEvent> = cited.into_values().collect();
    kept.retain(|event| !is_expired(event.expires, event.scope.run(), scope.run(), now));
    kept.retain(told);
    kept.sort_by_key(|event| event.location);
    let upto = previous.as_ref().map_or(0, |summary| summary.covered_position);
    let mut new = list_session_events(row_store, scope, upto, MAX_EVENTS, now)?;
    new.retain(told);
    // Events that end with a run must not reach other runs of the session.
    new.retain(|event| event.expires.is_none());
    let upto = row_store.load_last_location(scope)?.map_or(upto, |place| place.position.max(upto));
    Ok(SummaryInput {
        previous,
        summarized_events: kept,
        new_events: new,
        unvalidated_insights: guesses,
        last_position: upto,
    })
}
