//! Memory out of a store and into another.

use countersign_contracts::memory::insight::ValidationState;
use countersign_contracts::memory::long_term::FactStatus;
use countersign_core::run::Time;

use super::candidates::propose;
use super::error::MemoryError;
use super::find::seen_by;
use super::mark::mark;
use super::new_event::check_id;
use super::revised::Revised;
use super::shelves::{Answer, LEVELS, Shelves, Which, holder};
use super::write::{check_sources, differs, keep, keep_row, refuse_forgotten, remember};
use super::{Carried, Imported, Line, NewEvent, Provenance};
use crate::record::{Candidate, Claim, Fact, Insight, Origin};
use crate::rules::{Assurance, Refusal, Span, Standing, check_fact};
use crate::{Scope, Subject};

/// All that a subject has, in an order in which it can be taken in again: events before what cites them.
/// Facts of its agent and tenant are among them where this subject claimed them.
pub(super) fn export(shelves: &impl Shelves, subject: &Subject) -> Answer<Vec<Line>> {
    let mut rows: Vec<Carried> = Vec::new();
    rows.extend(shelves.events(subject)?.into_iter().map(|event| Carried::Event(Box::new(event))));
    for level in LEVELS {
        let mut facts = shelves.facts(&holder(subject, level), Which::All)?;
        facts.retain(|one| one.by == *subject);
        facts.sort_by(|one, other| {
            let key = |fact: &Fact| (fact.recorded_at, fact.id.clone());
            key(&one.fact).cmp(&key(&other.fact))
        });
        rows.extend(facts.into_iter().map(|one| {
            let origin = one.origin;
            Carried::Fact { fact: Box::new(seen_by(one, subject)), origin }
        }));
    }
    let all = usize::MAX;
    let episodes = shelves.rows(subject, all)?.into_iter();
    rows.extend(episodes.map(|(_, row)| Carried::Episode(Box::new(row))));
    let procedures = shelves.rows(subject, all)?.into_iter();
    rows.extend(procedures.map(|(_, row)| Carried::Procedure(Box::new(row))));
    let insights = shelves.rows(subject, all)?.into_iter();
    rows.extend(insights.map(|(_, row)| Carried::Insight(Box::new(row))));
    let candidates = shelves.rows(subject, all)?.into_iter();
    rows.extend(candidates.map(|(_, row)| Carried::Candidate(Box::new(row))));
    let working = shelves.rows(subject, all)?.into_iter();
    rows.extend(working.map(|(run, row)| Carried::Working { run, working: Box::new(row) }));
    let summaries = shelves.rows(subject, all)?.into_iter();
    rows.extend(
        summaries.map(|(session, row)| Carried::Summary { session, summary: Box::new(row) }),
    );
    Ok(rows.into_iter().map(|row| Line { subject: subject.clone(), row }).collect())
}

/// Takes lines in, each by itself: one that is refused does not hold up the others.
pub(super) fn import(
    shelves: &mut impl Shelves,
    lines: &[Line],
    provenance: Provenance,
    now: Time,
) -> Answer<Imported> {
    let mut imported = Imported::default();
    for (number, line) in (1..).zip(lines) {
        match take(shelves, line, provenance, now) {
            Ok(()) => imported.kept += 1,
            Err(MemoryError::Store(error)) => return Err(error.into()),
            Err(refused) => imported.refused.push((number, refused.to_string())),
        }
    }
    Ok(imported)
}

fn take(shelves: &mut impl Shelves, line: &Line, provenance: Provenance, now: Time) -> Answer<()> {
    let Line { subject, row } = line;
    let origin = |told: Origin| match provenance {
        Provenance::Ours => told,
        Provenance::Foreign => Origin::Imported,
    };
    // Rows name their session or run only where they have one.
    let within = |session: &str, run: &str| {
        Scope::new(&*subject.tenant, &*subject.user, &*subject.agent, session, run)
    };
    let anywhere = within("import", "import")?;
    if provenance == Provenance::Ours && restored(shelves, subject, row)? {
        return Ok(());
    }
    match row {
        Carried::Event(event) => {
            if event.scope.subject() != *subject {
                return Err(Refusal::malformed("scope", "that of the line").into());
            }
            let mut event = NewEvent::from((**event).clone());
            event.origin = origin(event.origin);
            remember(shelves, &[event])?;
        }
        Carried::Fact { fact, origin: told } => {
            return take_fact(shelves, &anywhere, fact, origin(*told), provenance, now);
        }
        Carried::Episode(episode) => {
            refuse_other(shelves, subject, &episode.id, &**episode)?;
            let claim = Claim::Episode(episode.clone());
            keep(shelves, &anywhere, &claim, Origin::Imported, Assurance::Claimed, now)?;
        }
        Carried::Procedure(procedure) => {
            refuse_other(shelves, subject, &procedure.id, &**procedure)?;
            let claim = Claim::Procedure(procedure.clone());
            keep(shelves, &anywhere, &claim, Origin::Imported, Assurance::Claimed, now)?;
        }
        Carried::Insight(insight) => {
            let scope = within("import", &insight.run)?;
            let mut insight: Insight = (**insight).clone();
            if provenance == Provenance::Foreign {
                insight.validation = ValidationState::Unvalidated;
            }
            refuse_other(shelves, subject, &insight.id, &insight)?;
            let claim = Claim::Insight(Box::new(insight));
            keep(shelves, &scope, &claim, Origin::Imported, Assurance::Claimed, now)?;
        }
        Carried::Candidate(candidate) => {
            let mut candidate = (**candidate).clone();
            candidate.origin = origin(candidate.origin);
            propose(shelves, &anywhere, &candidate)?;
        }
        Carried::Working { run, working } => {
            within("import", run)?;
            take_row(shelves, subject, run, &**working, now)?;
        }
        Carried::Summary { session, summary } => {
            within(session, "import")?;
            take_row(shelves, subject, session, &**summary, now)?;
        }
    }
    Ok(())
}

/// Rows of ours come back in the revision they had, where none is here yet. Whether one did.
fn restored(shelves: &mut impl Shelves, subject: &Subject, row: &Carried) -> Answer<bool> {
    match row {
        Carried::Episode(it) if it.start <= it.end => {
            restore_row(shelves, subject, &it.id, &**it, &it.sources)
        }
        Carried::Procedure(it) if !it.task_type.is_empty() => {
            restore_row(shelves, subject, &it.id, &**it, &it.sources)
        }
        Carried::Insight(it) if (0.0..=1.0).contains(&it.confidence) => {
            check_id(&it.run)?;
            restore_row(shelves, subject, &it.id, &**it, &it.sources)
        }
        Carried::Candidate(it) => match shelves.row::<Candidate>(subject, &it.id, None)? {
            // What it became is known here.
            Some(known) => Ok(known.claim == it.claim && known.origin == it.origin),
            None => restore_row(shelves, subject, &it.id, &**it, &[]),
        },
        Carried::Working { run, working } => restore_row(shelves, subject, run, &**working, &[]),
        Carried::Summary { session, summary } => {
            check_sources(shelves, subject, &summary.sources)?;
            restore_row(shelves, subject, session, &**summary, &summary.quotes)
        }
        _ => Ok(false),
    }
}

fn restore_row<R: Revised>(
    shelves: &mut impl Shelves,
    subject: &Subject,
    id: &str,
    row: &R,
    sources: &[String],
) -> Answer<bool> {
    if row.revision() == 0 || shelves.row::<R>(subject, id, None)?.is_some() {
        return Ok(false);
    }
    check_id(id)?;
    refuse_forgotten(shelves, subject, R::KIND, id)?;
    check_sources(shelves, subject, sources)?;
    shelves.put_row(subject, id, row)?;
    Ok(true)
}

/// What is there already is newer than what is brought: what says something else under its id is refused.
fn refuse_other<R: Revised>(
    shelves: &impl Shelves,
    subject: &Subject,
    id: &str,
    row: &R,
) -> Answer<()> {
    let Some(known) = shelves.row::<R>(subject, id, None)? else { return Ok(()) };
    let brought = row.clone().at_revision(1, Time::default());
    if known.at_revision(1, Time::default()) == brought {
        Ok(())
    } else {
        Err(differs(R::KIND, id))
    }
}

/// What is there already is newer than what is brought.
fn take_row<R: Revised>(
    shelves: &mut impl Shelves,
    subject: &Subject,
    id: &str,
    row: &R,
    now: Time,
) -> Answer<()> {
    match shelves.row::<R>(subject, id, None)? {
        Some(_) => Ok(()),
        None => keep_row(shelves, subject, id, row, now).map(|_| ()),
    }
}

/// Facts of ours come back with the status they had; those of others go through the rules.
fn take_fact(
    shelves: &mut impl Shelves,
    scope: &Scope,
    fact: &Fact,
    origin: Origin,
    provenance: Provenance,
    now: Time,
) -> Answer<()> {
    let subject = scope.subject();
    let holder = holder(&subject, fact.level);
    shelves.hold(&subject)?;
    let absent = shelves.fact(&holder, &fact.id, None)?.is_none()
        && shelves.forgotten(&holder, &[mark(&holder, "fact", &fact.id)])?.is_empty();
    let mut standing = shelves.facts(&holder, Which::Under(&fact.key))?.into_iter();
    let alone = standing.all(|other| !Span::of(fact).overlaps(Span::of(&other.fact)));
    if provenance == Provenance::Ours && absent {
        // One that is active comes back as such where nothing stands in its time.
        let settled = fact.superseded_by.is_some() || fact.status == FactStatus::Disputed;
        if alone || settled {
            return restore_fact(shelves, &subject, &holder, fact, origin);
        }
    }
    let claim = Claim::Fact(Box::new(fact.clone()));
    keep(shelves, scope, &claim, origin, Assurance::Claimed, now).map(|_| ())
}

fn restore_fact(
    shelves: &mut impl Shelves,
    subject: &Subject,
    holder: &Subject,
    fact: &Fact,
    origin: Origin,
) -> Answer<()> {
    let sources = vec![subject.clone(); fact.evidence.len()];
    let standing = Standing { fact: fact.clone(), origin, by: subject.clone(), sources };
    check_fact(&standing, Assurance::Claimed)?;
    let cited: Vec<&str> = fact.evidence.iter().map(|piece| &*piece.event).collect();
    let words = shelves.named(subject, &cited)?;
    for piece in &fact.evidence {
        let Some(event) = words.get(&piece.event) else {
            return Err(Refusal::UnknownEvent { event: piece.event.clone() }.into());
        };
        if piece.quote.as_ref().is_some_and(|quote| !event.text.contains(&**quote)) {
            return Err(Refusal::QuoteNotInEvent { event: piece.event.clone() }.into());
        }
    }
    shelves.put_fact(holder, &standing)
}
