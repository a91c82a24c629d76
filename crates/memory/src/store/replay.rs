//! Stores builds and loads their rows again in the revisions of that time.

use std::collections::{BTreeMap, BTreeSet};

use countersign_shipped_contracts::memory::long_term::ScopeLevel;

use super::memory_error::MemoryError;
use super::new_event::check_id;
use super::retrieve::add_fact;
use super::revisioned_row::RevisionedRow as _;
use super::row_store::{MemoryResult, RowStore, resolve_fact_owner};
use super::tombstone::compute_tombstone_hash;
use super::write::{differs_error, forgotten_error, refuse_forgotten};
use super::{BuildRow, BuildRowKind, PacketBuild};
use crate::record::{
    MemoryEpisode, MemoryEvent, MemoryInsight, MemoryProcedure, SessionSummary, WorkingMemory,
};
use crate::{Candidates, CitedEvent, MemorySubject, ScoredRow};

/// Stores a build. Storing the same build again has no effect; a build that refers to rows erased
/// since it was composed is refused.
pub(super) fn store_build(row_store: &mut impl RowStore, build: &PacketBuild) -> MemoryResult<()> {
    build.request.scope.check()?;
    check_id(&build.id)?;
    let subject = build.request.scope.subject();
    refuse_forgotten(row_store, &subject, "build", &build.id)?;
    match row_store.load_build(&subject, &build.id)? {
        Some(known) if known == *build => Ok(()),
        Some(_) => Err(differs_error("build", &build.id)),
        None => {
            refuse_forgotten_rows(row_store, &subject, &build.rows)?;
            row_store.put_build(&subject, build)
        }
    }
}

/// Refuses rows that were erased after they were read, so that their ids do not come back.
fn refuse_forgotten_rows(
    row_store: &impl RowStore,
    subject: &MemorySubject,
    rows: &[BuildRow],
) -> MemoryResult<()> {
    // An event may be both quoted and cited; check it once.
    let mut named: BTreeMap<MemorySubject, BTreeSet<(&'static str, &str)>> = BTreeMap::new();
    for BuildRow { kind, id, .. } in rows {
        let (holder, kind) = match kind {
            BuildRowKind::WorkingMemory => (subject.clone(), WorkingMemory::KIND),
            BuildRowKind::Summary => (subject.clone(), SessionSummary::KIND),
            BuildRowKind::UserFact => (resolve_fact_owner(subject, ScopeLevel::User), "fact"),
            BuildRowKind::AgentFact => (resolve_fact_owner(subject, ScopeLevel::Agent), "fact"),
            BuildRowKind::TenantFact => (resolve_fact_owner(subject, ScopeLevel::Tenant), "fact"),
            BuildRowKind::Procedure => (subject.clone(), MemoryProcedure::KIND),
            BuildRowKind::Episode => (subject.clone(), MemoryEpisode::KIND),
            BuildRowKind::Insight
            | BuildRowKind::WithheldInsight
            | BuildRowKind::ClearedInsight => (subject.clone(), MemoryInsight::KIND),
            BuildRowKind::Quote | BuildRowKind::Window | BuildRowKind::Evidence => {
                (subject.clone(), "event")
            }
        };
        named.entry(holder).or_default().insert((kind, id));
    }
    // Check the subject itself, then its agent, then the tenant: the order in which all writers
    // lock them.
    for (holder, named) in named.iter().rev() {
        let marks: Vec<String> =
            named.iter().map(|(kind, id)| compute_tombstone_hash(holder, kind, id)).collect();
        let forgotten = row_store.find_tombstones_shared(holder, &marks)?;
        let gone = marks.iter().zip(named).find(|(mark, _)| forgotten.contains(*mark));
        if let Some((_, (kind, id))) = gone {
            return Err(forgotten_error(kind, id));
        }
    }
    Ok(())
}

/// Loads the rows of a build in the revisions and with the scores of that time.
pub(super) fn load_build_candidates(
    row_store: &impl RowStore,
    subject: &MemorySubject,
    id: &str,
) -> MemoryResult<Option<(PacketBuild, Candidates)>> {
    let Some(build) = row_store.load_build(subject, id)? else { return Ok(None) };
    let mut found = Candidates { truncations: build.truncations.clone(), ..Candidates::default() };
    let events = build.rows.iter().filter(|row| {
        matches!(row.kind, BuildRowKind::Quote | BuildRowKind::Window | BuildRowKind::Evidence)
    });
    let ids: Vec<&str> = events.map(|row| row.id.as_str()).collect();
    let events = row_store.load_events_by_id(subject, &ids)?;
    for row in &build.rows {
        add_build_row(row_store, subject, row, &events, &mut found)?;
    }
    Ok(Some((build, found)))
}

/// The maximum number of builds with other purposes between two with the same one.
const MAX_BUILDS_BETWEEN: usize = 16;

/// Finds the previous build of the same session and purpose.
pub(super) fn find_previous_build(
    row_store: &impl RowStore,
    subject: &MemorySubject,
    id: &str,
) -> MemoryResult<Option<String>> {
    let Some(build) = row_store.load_build(subject, id)? else { return Ok(None) };
    for id in row_store.load_earlier_build_ids(subject, &build, MAX_BUILDS_BETWEEN)? {
        let earlier = row_store.load_build(subject, &id)?;
        if earlier.is_some_and(|earlier| earlier.request.purpose == build.request.purpose) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

fn add_build_row(
    row_store: &impl RowStore,
    subject: &MemorySubject,
    row: &BuildRow,
    events: &BTreeMap<String, MemoryEvent>,
    found: &mut Candidates,
) -> MemoryResult<()> {
    let BuildRow { kind, id, revision, score, .. } = row;
    let (revision, score) = (Some(*revision), score.clone());
    let gone =
        || MemoryError::RowGone { kind: kind.name(), id: id.clone(), revision: row.revision };
    let mut fact = |level| {
        let revision = u32::try_from(row.revision).ok();
        let standing = row_store
            .load_fact(&resolve_fact_owner(subject, level), id, revision)?
            .ok_or_else(gone)?;
        add_fact(found, standing, subject, row.score.clone());
        Ok::<_, MemoryError>(())
    };
    let event = || events.get(id).cloned().ok_or_else(gone);
    match kind {
        BuildRowKind::WorkingMemory => {
            found.working_memory =
                Some(row_store.load_row(subject, id, revision)?.ok_or_else(gone)?);
        }
        BuildRowKind::Summary => {
            found.summary = Some(row_store.load_row(subject, id, revision)?.ok_or_else(gone)?);
        }
        BuildRowKind::UserFact => fact(ScopeLevel::User)?,
        BuildRowKind::AgentFact => fact(ScopeLevel::Agent)?,
        BuildRowKind::TenantFact => fact(ScopeLevel::Tenant)?,
        BuildRowKind::Procedure => {
            let row = row_store.load_row(subject, id, revision)?.ok_or_else(gone)?;
            found.procedures.push(ScoredRow { row, score });
        }
        BuildRowKind::Episode => {
            let row = row_store.load_row(subject, id, revision)?.ok_or_else(gone)?;
            found.episodes.push(ScoredRow { row, score });
        }
        BuildRowKind::Insight => {
            let row = row_store.load_row(subject, id, revision)?.ok_or_else(gone)?;
            found.insights.push(ScoredRow { row, score });
        }
        BuildRowKind::WithheldInsight => {
            found
                .withheld_insights
                .push(row_store.load_row(subject, id, revision)?.ok_or_else(gone)?);
        }
        BuildRowKind::ClearedInsight => {
            found
                .cleared_insights
                .push(row_store.load_row(subject, id, revision)?.ok_or_else(gone)?);
        }
        BuildRowKind::Quote => found.quotes.push(ScoredRow { row: event()?, score }),
        BuildRowKind::Window => found.window.push(event()?),
        BuildRowKind::Evidence => {
            found.evidence.insert(id.clone(), CitedEvent::from(&event()?));
        }
    }
    Ok(())
}
