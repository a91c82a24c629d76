//! What a build was made of, read again at the revisions of then.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::memory::long_term::ScopeLevel;

use super::error::MemoryError;
use super::find::add_fact;
use super::mark::mark;
use super::new_event::check_id;
use super::revised::Revised as _;
use super::shelves::{Answer, Shelves, holder};
use super::write::{differs, is_forgotten, refuse_forgotten};
use super::{Build, BuildRow, RowKind};
use crate::record::{Episode, Event, Insight, Procedure, Summary, Working};
use crate::{Cited, Found, Scored, Subject};

/// Keeps a build. The same one twice is one; one that names what was forgotten since it was composed is refused.
pub(super) fn keep_build(shelves: &mut impl Shelves, build: &Build) -> Answer<()> {
    build.request.scope.check()?;
    check_id(&build.id)?;
    let subject = build.request.scope.subject();
    refuse_forgotten(shelves, &subject, "build", &build.id)?;
    match shelves.build(&subject, &build.id)? {
        Some(known) if known == *build => Ok(()),
        Some(_) => Err(differs("build", &build.id)),
        None => {
            refuse_forgotten_rows(shelves, &subject, &build.rows)?;
            shelves.put_build(&subject, build)
        }
    }
}

/// What was forgotten after it was looked at must not come back by its name.
fn refuse_forgotten_rows(
    shelves: &impl Shelves,
    subject: &Subject,
    rows: &[BuildRow],
) -> Answer<()> {
    // An event may be quoted and cited; it is asked for once.
    let mut named: BTreeMap<Subject, BTreeSet<(&'static str, &str)>> = BTreeMap::new();
    for BuildRow { kind, id, .. } in rows {
        let (holder, kind) = match kind {
            RowKind::Working => (subject.clone(), Working::KIND),
            RowKind::Summary => (subject.clone(), Summary::KIND),
            RowKind::FactOfUser => (holder(subject, ScopeLevel::User), "fact"),
            RowKind::FactOfAgent => (holder(subject, ScopeLevel::Agent), "fact"),
            RowKind::FactOfTenant => (holder(subject, ScopeLevel::Tenant), "fact"),
            RowKind::Procedure => (subject.clone(), Procedure::KIND),
            RowKind::Episode => (subject.clone(), Episode::KIND),
            RowKind::Insight | RowKind::Guess | RowKind::Cleared => {
                (subject.clone(), Insight::KIND)
            }
            RowKind::Quote | RowKind::Window | RowKind::Evidence => (subject.clone(), "event"),
        };
        named.entry(holder).or_default().insert((kind, id));
    }
    // The subject itself, its agent, the tenant: as everybody holds them.
    for (holder, named) in named.iter().rev() {
        let marks: Vec<String> = named.iter().map(|(kind, id)| mark(holder, kind, id)).collect();
        let forgotten = shelves.forgotten_beside(holder, &marks)?;
        let gone = marks.iter().zip(named).find(|(mark, _)| forgotten.contains(*mark));
        if let Some((_, (kind, id))) = gone {
            return Err(is_forgotten(kind, id));
        }
    }
    Ok(())
}

/// What was found for a build, in the revisions of then and with the scores of then.
pub(super) fn found_for(
    shelves: &impl Shelves,
    subject: &Subject,
    id: &str,
) -> Answer<Option<(Build, Found)>> {
    let Some(build) = shelves.build(subject, id)? else { return Ok(None) };
    let mut found = Found { cut: build.cut.clone(), ..Found::default() };
    let events = build
        .rows
        .iter()
        .filter(|row| matches!(row.kind, RowKind::Quote | RowKind::Window | RowKind::Evidence));
    let ids: Vec<&str> = events.map(|row| row.id.as_str()).collect();
    let events = shelves.named(subject, &ids)?;
    for row in &build.rows {
        add(shelves, subject, row, &events, &mut found)?;
    }
    Ok(Some((build, found)))
}

/// So many builds of other purposes may stand between two of the same.
const BETWEEN: usize = 16;

/// The build before one of them, of the same session and purpose.
pub(super) fn before(
    shelves: &impl Shelves,
    subject: &Subject,
    id: &str,
) -> Answer<Option<String>> {
    let Some(build) = shelves.build(subject, id)? else { return Ok(None) };
    for id in shelves.earlier_builds(subject, &build, BETWEEN)? {
        let earlier = shelves.build(subject, &id)?;
        if earlier.is_some_and(|earlier| earlier.request.purpose == build.request.purpose) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

fn add(
    shelves: &impl Shelves,
    subject: &Subject,
    row: &BuildRow,
    events: &BTreeMap<String, Event>,
    found: &mut Found,
) -> Answer<()> {
    let BuildRow { kind, id, revision, score, .. } = row;
    let (revision, score) = (Some(*revision), score.clone());
    let gone = || MemoryError::Gone { kind: kind.name(), id: id.clone(), revision: row.revision };
    let mut fact = |level| {
        let revision = u32::try_from(row.revision).ok();
        let standing = shelves.fact(&holder(subject, level), id, revision)?.ok_or_else(gone)?;
        add_fact(found, standing, subject, row.score.clone());
        Ok::<_, MemoryError>(())
    };
    let event = || events.get(id).cloned().ok_or_else(gone);
    match kind {
        RowKind::Working => {
            found.working = Some(shelves.row(subject, id, revision)?.ok_or_else(gone)?);
        }
        RowKind::Summary => {
            found.summary = Some(shelves.row(subject, id, revision)?.ok_or_else(gone)?);
        }
        RowKind::FactOfUser => fact(ScopeLevel::User)?,
        RowKind::FactOfAgent => fact(ScopeLevel::Agent)?,
        RowKind::FactOfTenant => fact(ScopeLevel::Tenant)?,
        RowKind::Procedure => {
            let row = shelves.row(subject, id, revision)?.ok_or_else(gone)?;
            found.procedures.push(Scored { row, score });
        }
        RowKind::Episode => {
            let row = shelves.row(subject, id, revision)?.ok_or_else(gone)?;
            found.episodes.push(Scored { row, score });
        }
        RowKind::Insight => {
            let row = shelves.row(subject, id, revision)?.ok_or_else(gone)?;
            found.insights.push(Scored { row, score });
        }
        RowKind::Guess => {
            found.guesses.push(shelves.row(subject, id, revision)?.ok_or_else(gone)?);
        }
        RowKind::Cleared => {
            found.cleared.push(shelves.row(subject, id, revision)?.ok_or_else(gone)?);
        }
        RowKind::Quote => found.quotes.push(Scored { row: event()?, score }),
        RowKind::Window => found.window.push(event()?),
        RowKind::Evidence => {
            found.evidence.insert(id.clone(), Cited::from(&event()?));
        }
    }
    Ok(())
}
