//! Writes memory: checks everything first, then stores it in one transaction.

use std::collections::BTreeMap;

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::long_term::FactStatus;

use super::memory_error::MemoryError;
use super::new_event::check_id;
use super::revisioned_row::RevisionedRow;
use super::row_store::{FactFilter, MemoryResult, RowStore, resolve_fact_owner};
use super::tombstone::compute_tombstone_hash;
use super::{ClaimReceipt, NewMemoryEvent};
use crate::record::{
    EventLocation, FactEvidence, MemoryClaim, MemoryEvent, MemoryFact, MemoryInsight, MemoryOrigin,
    SessionSummary, WorkingMemory,
};
use crate::rules::{
    ClaimAssurance, ClaimOutcome, FactRevision, FactRuling, MemoryRefusal, ValidityPeriod,
    check_evidence, check_fact, check_learning, resolve_fact_claim,
};
use crate::{MemoryScope, MemorySubject};

/// Stores events, all or none. Existing events are returned unchanged.
pub(super) fn append_events(
    row_store: &mut impl RowStore,
    events: &[NewMemoryEvent],
) -> MemoryResult<Vec<MemoryEvent>> {
    let mut new: BTreeMap<MemorySubject, Vec<MemoryEvent>> = BTreeMap::new();
    let mut here: BTreeMap<(MemorySubject, String), MemoryEvent> = BTreeMap::new();
    let mut ends: BTreeMap<(MemorySubject, String), EventLocation> = BTreeMap::new();
    let mut sessions: BTreeMap<MemorySubject, u32> = BTreeMap::new();
    let mut told = Vec::with_capacity(events.len());
    let mut ids: BTreeMap<MemorySubject, Vec<&str>> = BTreeMap::new();
    for event in events {
        event.scope.check()?;
        event.check()?;
        ids.entry(event.scope.subject()).or_default().push(&event.id);
    }
    for (subject, ids) in ids {
        let marks: Vec<String> =
            ids.iter().map(|id| compute_tombstone_hash(&subject, "event", id)).collect();
        let forgotten = row_store.find_tombstones(&subject, &marks)?;
        if let Some((_, id)) = marks.iter().zip(&ids).find(|(mark, _)| forgotten.contains(*mark)) {
            return Err(forgotten_error("event", id));
        }
        let known = row_store.load_events_by_id(&subject, &ids)?;
        here.extend(known.into_iter().map(|(id, event)| ((subject.clone(), id), event)));
    }
    for event in events {
        let subject = event.scope.subject();
        let key = (subject.clone(), event.id.clone());
        if let Some(known) = here.get(&key) {
            if !event.is_same_event(known) {
                return Err(differs_error("event", &event.id));
            }
            told.push(known.clone());
            continue;
        }
        let session = (subject.clone(), event.scope.session().to_owned());
        let mut place = match ends.get(&session) {
            Some(place) => *place,
            None => match row_store.load_last_location(&event.scope)? {
                Some(place) => place,
                None => {
                    let last = match sessions.get(&subject) {
                        Some(last) => *last,
                        None => row_store.load_last_session_number(&subject)?,
                    };
                    sessions.insert(subject.clone(), last + 1);
                    EventLocation { session: last + 1, position: 0 }
                }
            },
        };
        place.position += 1;
        ends.insert(session, place);
        let mut event = event.clone();
        if let Some(build) = &event.build {
            let shown = row_store.load_build(&subject, build)?.map(|build| build.seen_insights);
            add_missing_ids(&mut event.seen_insights, shown.unwrap_or_default());
        }
        let event = event.into_event(place);
        here.insert(key, event.clone());
        new.entry(subject).or_default().push(event.clone());
        told.push(event);
    }
    for (subject, events) in &new {
        row_store.put_events(subject, events)?;
    }
    Ok(told)
}

fn add_missing_ids(ids: &mut Vec<String>, more: Vec<String>) {
    for id in more {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
}

/// Stores a claim, or returns the reason why not.
pub(super) fn record_claim(
    row_store: &mut impl RowStore,
    scope: &MemoryScope,
    claim: &MemoryClaim,
    origin: MemoryOrigin,
    assurance: ClaimAssurance,
    now: Timestamp,
) -> MemoryResult<ClaimReceipt> {
    scope.check()?;
    let subject = scope.subject();
    match claim {
        MemoryClaim::Fact(fact) => record_fact(row_store, &subject, fact, origin, assurance, now),
        MemoryClaim::Episode(episode) => {
            if episode.end < episode.start {
                return Err(MemoryRefusal::malformed("end", "at or after `start`").into());
            }
            check_sources(row_store, &subject, &episode.sources)?;
            record_row(row_store, &subject, &episode.id, &**episode, now)
        }
        MemoryClaim::Procedure(procedure) => {
            if procedure.task_type.is_empty() {
                return Err(MemoryRefusal::malformed("task_type", "not empty").into());
            }
            check_sources(row_store, &subject, &procedure.sources)?;
            record_row(row_store, &subject, &procedure.id, &**procedure, now)
        }
        MemoryClaim::Insight(insight) => {
            if insight.run != scope.run() {
                return Err(MemoryRefusal::malformed("run", "the run of the scope").into());
            }
            if !(0.0..=1.0).contains(&insight.confidence) {
                return Err(MemoryRefusal::malformed("confidence", "from 0 to 1").into());
            }
            check_sources(row_store, &subject, &insight.sources)?;
            record_row(row_store, &subject, &insight.id, &**insight, now)
        }
    }
}

/// Stores what a validated insight became. A claim without evidence takes that of the insight.
pub(super) fn learn_from_insight(
    row_store: &mut impl RowStore,
    scope: &MemoryScope,
    insight: &str,
    claim: &MemoryClaim,
    origin: MemoryOrigin,
    now: Timestamp,
) -> MemoryResult<ClaimReceipt> {
    scope.check()?;
    let Some(guess) = row_store.load_row::<MemoryInsight>(&scope.subject(), insight, None)? else {
        return Err(MemoryError::NotFound { kind: "insight", id: insight.to_owned() });
    };
    check_learning(&guess, claim)?;
    let mut claim = claim.clone();
    match &mut claim {
        MemoryClaim::Fact(fact) if fact.evidence.is_empty() => {
            let event = |event: &String| FactEvidence { event: event.clone(), quote: None };
            fact.evidence = guess.sources.iter().map(event).collect();
        }
        MemoryClaim::Procedure(procedure) if procedure.sources.is_empty() => {
            procedure.sources.clone_from(&guess.sources);
        }
        _ => {}
    }
    record_claim(row_store, scope, &claim, origin, ClaimAssurance::Claimed, now)
}

/// Stores the next version of a run's working state if the writer has read the latest one.
pub(super) fn write_working_memory(
    row_store: &mut impl RowStore,
    scope: &MemoryScope,
    expected: u64,
    working: &WorkingMemory,
) -> MemoryResult<u64> {
    scope.check()?;
    let subject = scope.subject();
    refuse_forgotten(row_store, &subject, WorkingMemory::KIND, scope.run())?;
    let latest = row_store.load_row::<WorkingMemory>(&subject, scope.run(), None)?;
    let found = latest.map_or(0, |latest| latest.revision());
    if found != expected {
        return Err(MemoryError::Conflict { expected, found });
    }
    let next = working.clone().with_revision(found + 1, working.recorded_at);
    row_store.put_row(&subject, scope.run(), &next)?;
    Ok(found + 1)
}

/// Stores the next revision of a session's summary.
pub(super) fn write_summary(
    row_store: &mut impl RowStore,
    scope: &MemoryScope,
    summary: &SessionSummary,
) -> MemoryResult<u32> {
    scope.check()?;
    let subject = scope.subject();
    check_sources(row_store, &subject, &summary.quotes)?;
    check_sources(row_store, &subject, &summary.sources)?;
    let now = summary.recorded_at;
    Ok(record_row(row_store, &subject, scope.session(), summary, now)?.revision)
}

fn record_fact(
    row_store: &mut impl RowStore,
    subject: &MemorySubject,
    fact: &MemoryFact,
    origin: MemoryOrigin,
    assurance: ClaimAssurance,
    now: Timestamp,
) -> MemoryResult<ClaimReceipt> {
    let sources = vec![subject.clone(); fact.evidence.len()];
    let mut claim =
        FactRevision { fact: fact.clone(), origin, claimed_by: subject.clone(), sources };
    check_id(&fact.id)?;
    check_fact(&claim, assurance)?;
    let holder = resolve_fact_owner(subject, fact.level);
    row_store.lock_subject(subject)?;
    refuse_forgotten(row_store, &holder, "fact", &fact.id)?;
    let cited: Vec<&str> = fact.evidence.iter().map(|piece| &*piece.event).collect();
    let words = row_store.load_events_by_id(subject, &cited)?;
    check_evidence(&fact.evidence, origin, |id| words.get(id).map(|event| &*event.text))?;
    let known = row_store.load_fact(&holder, &fact.id, None)?;
    if let Some(FactRevision { fact: known, .. }) = &known {
        if known.key != fact.key || known.value != fact.value {
            return Err(differs_error("fact", &fact.id));
        }
        if let Some(by) = &known.superseded_by
            && known.status == FactStatus::Deprecated
            && assurance == ClaimAssurance::Claimed
        {
            // A repeated claim with no later start stays superseded, as long as the fact that
            // replaced it is active.
            let answer = row_store.load_fact(&holder, by, None)?.map(|answer| answer.fact);
            let stands = answer.is_some_and(|answer| {
                answer.status == FactStatus::Active
                    && ValidityPeriod::from_fact(&answer).overlaps(ValidityPeriod::from_fact(fact))
            });
            let as_before = stands && fact.valid_from <= known.valid_from;
            if as_before
                || ValidityPeriod::from_fact(fact)
                    .is_within_past(ValidityPeriod::from_fact(known), now)
            {
                return Ok(build_unchanged_receipt(known, ClaimOutcome::Outdated(by.clone())));
            }
        }
        // The id is in use; if the claim becomes a separate fact for another period, it gets a new
        // one.
        claim.fact.id = allocate_part_id(row_store, &holder, &fact.id)?;
    }
    let own = claim.fact.id.clone();
    let standing = row_store.load_facts(&holder, FactFilter::ByKey(&fact.key))?;
    let FactRuling { outcome, writes, parts } =
        resolve_fact_claim(claim, assurance, &standing, now);
    if let (Some(known), ClaimOutcome::Outdated(_), []) = (&known, &outcome, &*parts)
        && known.fact.status == FactStatus::Deprecated
    {
        return Ok(build_unchanged_receipt(&known.fact, outcome));
    }
    for revision in &writes {
        row_store.put_fact(&holder, revision)?;
    }
    for mut part in parts {
        part.fact.id = allocate_part_id(row_store, &holder, &part.fact.id)?;
        row_store.put_fact(&holder, &part)?;
    }
    let id = match &outcome {
        ClaimOutcome::Supported(id) => id.clone(),
        _ => own,
    };
    let mut all = writes.iter().chain(&standing);
    let revision = all.find(|one| one.fact.id == id).map_or(1, |one| one.fact.revision);
    Ok(ClaimReceipt { id, revision, outcome })
}

/// Returns a receipt for a repeated claim that is still outdated.
fn build_unchanged_receipt(known: &MemoryFact, outcome: ClaimOutcome) -> ClaimReceipt {
    ClaimReceipt { id: known.id.clone(), revision: known.revision, outcome }
}

/// Allocates an id for another period of a fact: its own id with a number appended.
fn allocate_part_id(
    row_store: &impl RowStore,
    holder: &MemorySubject,
    id: &str,
) -> MemoryResult<String> {
    let is_number = |end: &str| end.bytes().all(|byte| byte.is_ascii_digit());
    let first =
        id.rsplit_once('~').filter(|(_, end)| is_number(end)).map_or(id, |(first, _)| first);
    for number in 2_u64.. {
        let part = format!("{first}~{number}");
        let is_free = row_store.load_fact(holder, &part, None)?.is_none()
            && row_store
                .find_tombstones(holder, &[compute_tombstone_hash(holder, "fact", &part)])?
                .is_empty();
        if is_free {
            return Ok(part);
        }
    }
    unreachable!("there are more numbers than facts")
}

/// Stores the next revision of a row, unless it equals the latest one.
pub(super) fn record_row<R: RevisionedRow>(
    row_store: &mut impl RowStore,
    subject: &MemorySubject,
    id: &str,
    row: &R,
    now: Timestamp,
) -> MemoryResult<ClaimReceipt> {
    check_id(id)?;
    refuse_forgotten(row_store, subject, R::KIND, id)?;
    let latest = row_store.load_row::<R>(subject, id, None)?;
    let found = latest.as_ref().map_or(0, RevisionedRow::revision);
    let outcome = match latest {
        None => ClaimOutcome::Added,
        Some(latest) => {
            let same = row.clone().with_revision(found, now) == latest.with_revision(found, now);
            if same {
                ClaimOutcome::Supported(id.to_owned())
            } else {
                ClaimOutcome::Superseded(vec![id.to_owned()])
            }
        }
    };
    let mut revision = found;
    if !matches!(outcome, ClaimOutcome::Supported(_)) {
        revision += 1;
        row_store.put_row(subject, id, &row.clone().with_revision(revision, now))?;
    }
    let revision = u32::try_from(revision).unwrap_or(u32::MAX);
    Ok(ClaimReceipt { id: id.to_owned(), revision, outcome })
}

pub(super) fn refuse_forgotten(
    row_store: &impl RowStore,
    subject: &MemorySubject,
    kind: &str,
    id: &str,
) -> MemoryResult<()> {
    if row_store.find_tombstones(subject, &[compute_tombstone_hash(subject, kind, id)])?.is_empty()
    {
        return Ok(());
    }
    Err(forgotten_error(kind, id))
}

pub(super) fn forgotten_error(kind: &str, id: &str) -> MemoryError {
    MemoryRefusal::Forgotten { kind: kind.to_owned(), id: id.to_owned() }.into()
}

pub(super) fn differs_error(kind: &str, id: &str) -> MemoryError {
    MemoryRefusal::Differs { kind: kind.to_owned(), id: id.to_owned() }.into()
}

pub(super) fn check_sources(
    row_store: &impl RowStore,
    subject: &MemorySubject,
    sources: &[String],
) -> MemoryResult<()> {
    let ids: Vec<&str> = sources.iter().map(String::as_str).collect();
    let known = row_store.load_events_by_id(subject, &ids)?;
    match sources.iter().find(|event| !known.contains_key(*event)) {
        Some(event) => Err(MemoryRefusal::UnknownEvent { event: event.clone() }.into()),
        None => Ok(()),
    }
}
