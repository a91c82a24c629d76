//! Retrieves the candidates of a request: visible rows with their scores.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::insight::InsightValidationState;
use countersign_shipped_contracts::memory::long_term::{FactStatus, ScopeLevel};
use countersign_shipped_contracts::memory::meta::PacketPurpose;

use super::RetrievalLimits;
use super::event_search::{EventSearchOptions, find_matching_events};
use super::row_store::{FactFilter, LEVELS, MemoryResult, RowPeriod, RowStore, resolve_fact_owner};
use crate::policy::SimilarityPolicy;
use crate::rank::WeightedQuery;
use crate::record::{
    MemoryEpisode, MemoryEvent, MemoryExpiry, MemoryFact, MemoryInsight, MemoryOrigin,
    SessionSummary, WorkingMemory,
};
use crate::rules::{FactRevision, is_expired};
use crate::{
    Candidates, CitedEvent, MemoryScope, MemorySubject, PacketRequest, ReadTruncation,
    RelevanceScore, ScoredRow,
};

/// The task type of a request that names none.
const GENERIC: &str = "generic";

/// The number of latest session events to search first for the last event of a run.
const FIRST_WINDOW: usize = 64;

/// Retrieves the rows that a request may see.
pub(super) fn retrieve_candidates(
    row_store: &impl RowStore,
    request: &PacketRequest,
    limits: RetrievalLimits,
) -> MemoryResult<Candidates> {
    request.scope.check()?;
    let subject = request.scope.subject();
    let query = WeightedQuery::from_request(request);
    let mut found = Candidates {
        working_memory: row_store.load_row(&subject, request.scope.run(), None)?,
        summary: row_store.load_row(&subject, request.scope.session(), None)?,
        ..Candidates::default()
    };
    for level in LEVELS {
        let holder = resolve_fact_owner(&subject, level);
        let standing = row_store.load_facts(&holder, FactFilter::InForce(limits.facts))?;
        let superseded =
            row_store.load_facts(&holder, FactFilter::Superseded(limits.superseded))?;
        let name = match level {
            ScopeLevel::User => "facts of the user",
            ScopeLevel::Agent => "facts of the agent",
            ScopeLevel::Tenant => "facts of the tenant",
        };
        note_truncation(&mut found, name, standing.len(), limits.facts);
        note_truncation(
            &mut found,
            &format!("superseded {name}"),
            superseded.len(),
            limits.superseded,
        );
        for one in standing.into_iter().chain(superseded) {
            add_fact(&mut found, one, &subject, RelevanceScore::default());
        }
    }
    let task_type = request.task_type.as_deref().unwrap_or(GENERIC);
    let rows = row_store.load_task_procedures(&subject, task_type, limits.procedures)?;
    note_truncation(&mut found, "procedures of the task", rows.len(), limits.procedures);
    found.procedures = rows.into_iter().map(ScoredRow::from_row).collect();
    add_episodes(row_store, request, &subject, limits, &mut found)?;
    let rows = row_store.load_rows::<MemoryInsight>(&subject, limits.insights)?;
    note_truncation(&mut found, "insights", rows.len(), limits.insights);
    let for_responder = request.purpose == PacketPurpose::Responder;
    let mut looked_at: BTreeMap<String, Option<MemoryInsight>> = BTreeMap::new();
    for (_, row) in rows {
        if for_responder {
            let validated =
                (row.validation == InsightValidationState::Validated).then(|| row.clone());
            looked_at.insert(row.id.clone(), validated);
        }
        if for_responder {
            found.withheld_insights.extend(load_earlier_statements(row_store, &subject, &row)?);
        }
        if row.expires != MemoryExpiry::RunEnd || row.run == request.scope.run() {
            found.insights.push(ScoredRow::from_row(row));
        } else if for_responder && row.validation != InsightValidationState::Validated {
            found.withheld_insights.push(row);
        }
    }
    let limit = limits.quotes_for_budget(request.budget.map(|budget| budget.max_tokens));
    let wanted = EventSearchOptions { limit, similarity: limits.similarity, distinct: true };
    let (quotes, unread) = find_matching_events(row_store, request, &query, wanted)?;
    found.quotes = quotes;
    found.truncations.extend(unread);
    add_quoted_events(row_store, request, &subject, &mut found)?;
    if limits.window > 0 {
        found.window = row_store.load_window(&request.scope, limits.window)?;
        found.window.retain(|event| is_visible(event, request));
    }
    found.evidence = load_cited_events(row_store, request, &subject, &found)?;
    if for_responder {
        found.cleared_insights = load_cleared_insights(row_store, &subject, &found, looked_at)?;
    }
    Ok(found)
}

/// Adds the latest episodes, and those that overlap the requested time range.
fn add_episodes(
    row_store: &impl RowStore,
    request: &PacketRequest,
    subject: &MemorySubject,
    limits: RetrievalLimits,
    found: &mut Candidates,
) -> MemoryResult<()> {
    let rows = row_store.load_rows::<MemoryEpisode>(subject, limits.episodes)?;
    let truncated = rows.len() >= limits.episodes;
    note_truncation(found, "episodes", rows.len(), limits.episodes);
    let mut rows: Vec<MemoryEpisode> = rows.into_iter().map(|(_, row)| row).collect();
    if let Some((from, until)) = request.time_range().filter(|_| truncated) {
        // Episodes are ordered by their end.
        let within = RowPeriod { from, until, earliest_first: false };
        let within =
            row_store.load_rows_between::<MemoryEpisode>(subject, within, limits.episodes)?;
        note_truncation(found, "episodes of the time range", within.len(), limits.episodes);
        let after = Timestamp(until.0.saturating_add(1));
        let later = RowPeriod { from: after, until: Timestamp(i64::MAX), earliest_first: true };
        let later =
            row_store.load_rows_between::<MemoryEpisode>(subject, later, limits.episodes)?;
        let overlapping = later.into_iter().filter(|row| row.start <= until && row.end >= after);
        let known: BTreeSet<String> = rows.iter().map(|row| row.id.clone()).collect();
        let others = within.into_iter().chain(overlapping);
        rows.extend(others.filter(|row| !known.contains(&row.id)));
    }
    // Skip episodes that were merged into another one.
    let current = rows.into_iter().filter(|row| row.merged_into.is_none());
    found.episodes.extend(current.map(ScoredRow::from_row));
    Ok(())
}

/// Loads the validated insights that the authors of the events had seen, except those already
/// retrieved.
fn load_cleared_insights(
    row_store: &impl RowStore,
    subject: &MemorySubject,
    found: &Candidates,
    mut looked_at: BTreeMap<String, Option<MemoryInsight>>,
) -> MemoryResult<Vec<MemoryInsight>> {
    let events = found.quotes.iter().map(|quote| &quote.row).chain(&found.window);
    let seen = events.map(|event| &event.seen_insights);
    let seen = seen.chain(found.evidence.values().map(|cited| &cited.seen_insights));
    let mut ids: BTreeSet<&String> = seen.flatten().collect();
    let here: BTreeSet<&String> = found.insights.iter().map(|scored| &scored.row.id).collect();
    ids.retain(|id| !here.contains(id));
    let mut cleared = Vec::new();
    for id in ids {
        let row = match looked_at.remove(id) {
            Some(validated) => validated,
            // This insight is older than those that are read for a packet.
            None => row_store.load_row::<MemoryInsight>(subject, id, None)?,
        };
        cleared.extend(row.filter(|row| row.validation == InsightValidationState::Validated));
    }
    Ok(cleared)
}

/// Loads earlier statements of an insight that were worded differently and not validated, from its
/// latest revisions.
fn load_earlier_statements(
    row_store: &impl RowStore,
    subject: &MemorySubject,
    guess: &MemoryInsight,
) -> MemoryResult<Vec<MemoryInsight>> {
    const REVISIONS: u32 = 16;
    let mut earlier: Vec<MemoryInsight> = Vec::new();
    let first = guess.revision.saturating_sub(REVISIONS).max(1);
    for revision in first..guess.revision {
        let said: Option<MemoryInsight> =
            row_store.load_row(subject, &guess.id, Some(revision.into()))?;
        earlier.extend(said.filter(|said| {
            said.statement != guess.statement
                && said.validation != InsightValidationState::Validated
        }));
    }
    earlier.dedup_by(|one, other| one.statement == other.statement);
    Ok(earlier)
}

/// Records that there may be more rows than were read.
fn note_truncation(found: &mut Candidates, what: &str, read: usize, limit: usize) {
    if read > 0 && read >= limit {
        found.truncations.push(ReadTruncation {
            description: what.to_owned(),
            read: read as u64,
            total: None,
        });
    }
}

/// Loads the latest working state of a run.
pub(super) fn load_working_memory(
    row_store: &impl RowStore,
    scope: &MemoryScope,
) -> MemoryResult<Option<WorkingMemory>> {
    scope.check()?;
    row_store.load_row(&scope.subject(), scope.run(), None)
}

/// Loads the last event of a run. Runs of a session can be concurrent, so it need not be the last
/// event of the session.
pub(super) fn load_last_run_event(
    row_store: &impl RowStore,
    scope: &MemoryScope,
) -> MemoryResult<Option<MemoryEvent>> {
    scope.check()?;
    for limit in [FIRST_WINDOW, usize::MAX] {
        let latest = row_store.load_window(scope, limit)?;
        let whole = latest.len() < limit;
        let last = latest.into_iter().rev().find(|event| event.scope.run() == scope.run());
        if last.is_some() || whole {
            return Ok(last);
        }
    }
    Ok(None)
}

/// Searches the events that match a request, best first.
pub(super) fn search_events(
    row_store: &impl RowStore,
    request: &PacketRequest,
    limit: usize,
) -> MemoryResult<Vec<ScoredRow<MemoryEvent>>> {
    request.scope.check()?;
    let wanted =
        EventSearchOptions { limit, similarity: SimilarityPolicy::SEARCH, distinct: false };
    Ok(find_matching_events(row_store, request, &WeightedQuery::from_request(request), wanted)?.0)
}

/// Adds the events that the summary quotes and the cues did not match.
fn add_quoted_events(
    row_store: &impl RowStore,
    request: &PacketRequest,
    subject: &MemorySubject,
    found: &mut Candidates,
) -> MemoryResult<()> {
    let Some(SessionSummary { quotes, .. }) = &found.summary else { return Ok(()) };
    let here: BTreeSet<&String> = found.quotes.iter().map(|quote| &quote.row.id).collect();
    let missing: Vec<&str> =
        quotes.iter().filter(|id| !here.contains(id)).map(String::as_str).collect();
    let mut events = row_store.load_events_by_id(subject, &missing)?;
    let events = missing.iter().filter_map(|id| events.remove(*id));
    let events: Vec<_> =
        events.filter(|event| is_visible(event, request)).map(ScoredRow::from_row).collect();
    found.quotes.extend(events);
    Ok(())
}

/// Adds a fact as a subject sees it, and records whether its origin is a user or a tool.
pub(super) fn add_fact(
    found: &mut Candidates,
    standing: FactRevision,
    subject: &MemorySubject,
    score: RelevanceScore,
) {
    if matches!(standing.origin, MemoryOrigin::User | MemoryOrigin::Tool) {
        found.vouched_facts.push((standing.fact.level, standing.fact.id.clone()));
    }
    found.facts.push(ScoredRow { row: hide_foreign_evidence(standing, subject), score });
}

/// Removes the evidence of other subjects from a fact.
pub(super) fn hide_foreign_evidence(standing: FactRevision, subject: &MemorySubject) -> MemoryFact {
    let FactRevision { mut fact, sources, .. } = standing;
    let mut own = sources.iter().map(|source| source == subject);
    fact.evidence.retain(|_| own.next().unwrap_or(false));
    fact
}

/// Returns whether an event is visible at the timestamp of a request.
pub(super) fn is_visible(event: &MemoryEvent, request: &PacketRequest) -> bool {
    !is_expired(event.expires, event.scope.run(), request.scope.run(), request.as_of)
}

/// Loads the events that the rows cite.
fn load_cited_events(
    row_store: &impl RowStore,
    request: &PacketRequest,
    subject: &MemorySubject,
    found: &Candidates,
) -> MemoryResult<BTreeMap<String, CitedEvent>> {
    let ids: Vec<&str> =
        collect_cited_ids(found, request.as_of).into_iter().map(String::as_str).collect();
    let mut seen = row_store.load_cited_events(subject, &ids)?;
    seen.retain(|_, seen| !seen.is_expired(request.scope.run(), request.as_of));
    Ok(seen.into_iter().map(|(id, seen)| (id, CitedEvent::from(seen))).collect())
}

fn collect_cited_ids(found: &Candidates, at: Timestamp) -> BTreeSet<&String> {
    let mut ids = BTreeSet::new();
    // A superseded fact is reported by its id only, so its evidence is not needed.
    let told =
        |fact: &MemoryFact| fact.status != FactStatus::Deprecated || found.was_valid_at(fact, at);
    for fact in found.facts.iter().map(|fact| &fact.row).filter(|fact| told(fact)) {
        ids.extend(fact.evidence.iter().map(|piece| &piece.event));
    }
    ids.extend(found.procedures.iter().flat_map(|one| &one.row.sources));
    ids.extend(found.episodes.iter().flat_map(|one| &one.row.sources));
    ids.extend(found.insights.iter().flat_map(|one| &one.row.sources));
    let summary = found.summary.iter();
    ids.extend(summary.flat_map(|summary| summary.quotes.iter().chain(&summary.sources)));
    if let Some(WorkingMemory { state, open_loops, .. }) = &found.working_memory {
        let decisions = state.decisions.iter().flatten();
        ids.extend(decisions.filter_map(|decision| decision.evidence_id.as_ref()));
        ids.extend(state.tool_evidence.iter().flatten().map(|tool| &tool.reference));
        ids.extend(open_loops.iter().filter_map(|one| one.evidence_id.as_ref()));
    }
    ids
}
