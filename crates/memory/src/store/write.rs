//! How things are remembered: checked first, then put, all at once.

use std::collections::BTreeMap;

use countersign_contracts::memory::long_term::FactStatus;
use countersign_core::run::Time;

use super::error::MemoryError;
use super::mark::mark;
use super::new_event::check_id;
use super::revised::Revised;
use super::shelves::{Answer, Shelves, Which, holder};
use super::{Kept, NewEvent};
use crate::record::{Claim, Event, Evidence, Fact, Insight, Origin, Place, Summary, Working};
use crate::rules::{
    Assurance, Outcome, Refusal, Ruling, Span, Standing, check_evidence, check_fact,
    check_learning, rule_on_fact,
};
use crate::{Scope, Subject};

/// Keeps events, all or none. Those that are there already come back as they are.
pub(super) fn remember(shelves: &mut impl Shelves, events: &[NewEvent]) -> Answer<Vec<Event>> {
    let mut new: BTreeMap<Subject, Vec<Event>> = BTreeMap::new();
    let mut here: BTreeMap<(Subject, String), Event> = BTreeMap::new();
    let mut ends: BTreeMap<(Subject, String), Place> = BTreeMap::new();
    let mut sessions: BTreeMap<Subject, u32> = BTreeMap::new();
    let mut told = Vec::with_capacity(events.len());
    let mut ids: BTreeMap<Subject, Vec<&str>> = BTreeMap::new();
    for event in events {
        event.scope.check()?;
        event.check()?;
        ids.entry(event.scope.subject()).or_default().push(&event.id);
    }
    for (subject, ids) in ids {
        let marks: Vec<String> = ids.iter().map(|id| mark(&subject, "event", id)).collect();
        let forgotten = shelves.forgotten(&subject, &marks)?;
        if let Some((_, id)) = marks.iter().zip(&ids).find(|(mark, _)| forgotten.contains(*mark)) {
            return Err(is_forgotten("event", id));
        }
        let known = shelves.named(&subject, &ids)?;
        here.extend(known.into_iter().map(|(id, event)| ((subject.clone(), id), event)));
    }
    for event in events {
        let subject = event.scope.subject();
        let key = (subject.clone(), event.id.clone());
        if let Some(known) = here.get(&key) {
            if !event.tells_of(known) {
                return Err(differs("event", &event.id));
            }
            told.push(known.clone());
            continue;
        }
        let session = (subject.clone(), event.scope.session().to_owned());
        let mut place = match ends.get(&session) {
            Some(place) => *place,
            None => match shelves.last_place(&event.scope)? {
                Some(place) => place,
                None => {
                    let last = match sessions.get(&subject) {
                        Some(last) => *last,
                        None => shelves.last_session(&subject)?,
                    };
                    sessions.insert(subject.clone(), last + 1);
                    Place { session: last + 1, position: 0 }
                }
            },
        };
        place.position += 1;
        ends.insert(session, place);
        let mut event = event.clone();
        if let Some(build) = &event.build {
            let shown = shelves.build(&subject, build)?.map(|build| build.seen_insights);
            add_new(&mut event.seen_insights, shown.unwrap_or_default());
        }
        let event = event.at(place);
        here.insert(key, event.clone());
        new.entry(subject).or_default().push(event.clone());
        told.push(event);
    }
    for (subject, events) in &new {
        shelves.put_events(subject, events)?;
    }
    Ok(told)
}

fn add_new(ids: &mut Vec<String>, more: Vec<String>) {
    for id in more {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
}

/// Keeps a claim, or says why not.
pub(super) fn keep(
    shelves: &mut impl Shelves,
    scope: &Scope,
    claim: &Claim,
    origin: Origin,
    assurance: Assurance,
    now: Time,
) -> Answer<Kept> {
    scope.check()?;
    let subject = scope.subject();
    match claim {
        Claim::Fact(fact) => keep_fact(shelves, &subject, fact, origin, assurance, now),
        Claim::Episode(episode) => {
            if episode.end < episode.start {
                return Err(Refusal::malformed("end", "at or after `start`").into());
            }
            check_sources(shelves, &subject, &episode.sources)?;
            keep_row(shelves, &subject, &episode.id, &**episode, now)
        }
        Claim::Procedure(procedure) => {
            if procedure.task_type.is_empty() {
                return Err(Refusal::malformed("task_type", "not empty").into());
            }
            check_sources(shelves, &subject, &procedure.sources)?;
            keep_row(shelves, &subject, &procedure.id, &**procedure, now)
        }
        Claim::Insight(insight) => {
            if insight.run != scope.run() {
                return Err(Refusal::malformed("run", "the run of the scope").into());
            }
            if !(0.0..=1.0).contains(&insight.confidence) {
                return Err(Refusal::malformed("confidence", "from 0 to 1").into());
            }
            check_sources(shelves, &subject, &insight.sources)?;
            keep_row(shelves, &subject, &insight.id, &**insight, now)
        }
    }
}

/// Keeps what a validated guess taught. It rests on what the guess rests on, where it names nothing.
pub(super) fn learn(
    shelves: &mut impl Shelves,
    scope: &Scope,
    insight: &str,
    claim: &Claim,
    origin: Origin,
    now: Time,
) -> Answer<Kept> {
    scope.check()?;
    let Some(guess) = shelves.row::<Insight>(&scope.subject(), insight, None)? else {
        return Err(MemoryError::NotFound { kind: "insight", id: insight.to_owned() });
    };
    check_learning(&guess, claim)?;
    let mut claim = claim.clone();
    match &mut claim {
        Claim::Fact(fact) if fact.evidence.is_empty() => {
            let event = |event: &String| Evidence { event: event.clone(), quote: None };
            fact.evidence = guess.sources.iter().map(event).collect();
        }
        Claim::Procedure(procedure) if procedure.sources.is_empty() => {
            procedure.sources.clone_from(&guess.sources);
        }
        _ => {}
    }
    keep(shelves, scope, &claim, origin, Assurance::Claimed, now)
}

/// Keeps the next version of a run's working state, if the writer has seen the one before.
pub(super) fn write_working(
    shelves: &mut impl Shelves,
    scope: &Scope,
    expected: u64,
    working: &Working,
) -> Answer<u64> {
    scope.check()?;
    let subject = scope.subject();
    refuse_forgotten(shelves, &subject, Working::KIND, scope.run())?;
    let latest = shelves.row::<Working>(&subject, scope.run(), None)?;
    let found = latest.map_or(0, |latest| latest.revision());
    if found != expected {
        return Err(MemoryError::Conflict { expected, found });
    }
    let next = working.clone().at_revision(found + 1, working.recorded_at);
    shelves.put_row(&subject, scope.run(), &next)?;
    Ok(found + 1)
}

/// Keeps the next revision of a session's summary.
pub(super) fn write_summary(
    shelves: &mut impl Shelves,
    scope: &Scope,
    summary: &Summary,
) -> Answer<u32> {
    scope.check()?;
    let subject = scope.subject();
    check_sources(shelves, &subject, &summary.quotes)?;
    check_sources(shelves, &subject, &summary.sources)?;
    let now = summary.recorded_at;
    Ok(keep_row(shelves, &subject, scope.session(), summary, now)?.revision)
}

fn keep_fact(
    shelves: &mut impl Shelves,
    subject: &Subject,
    fact: &Fact,
    origin: Origin,
    assurance: Assurance,
    now: Time,
) -> Answer<Kept> {
    let sources = vec![subject.clone(); fact.evidence.len()];
    let mut claim = Standing { fact: fact.clone(), origin, by: subject.clone(), sources };
    check_id(&fact.id)?;
    check_fact(&claim, assurance)?;
    let holder = holder(subject, fact.level);
    shelves.hold(subject)?;
    refuse_forgotten(shelves, &holder, "fact", &fact.id)?;
    let cited: Vec<&str> = fact.evidence.iter().map(|piece| &*piece.event).collect();
    let words = shelves.named(subject, &cited)?;
    check_evidence(&fact.evidence, origin, |id| words.get(id).map(|event| &*event.text))?;
    let known = shelves.fact(&holder, &fact.id, None)?;
    if let Some(Standing { fact: known, .. }) = &known {
        if known.key != fact.key || known.value != fact.value {
            return Err(differs("fact", &fact.id));
        }
        if let Some(by) = &known.superseded_by
            && known.status == FactStatus::Deprecated
            && assurance == Assurance::Claimed
        {
            // Said once more, for no later time, it is answered already, as long as the answer stands.
            let answer = shelves.fact(&holder, by, None)?.map(|answer| answer.fact);
            let stands = answer.is_some_and(|answer| {
                answer.status == FactStatus::Active && Span::of(&answer).overlaps(Span::of(fact))
            });
            let as_before = stands && fact.valid_from <= known.valid_from;
            if as_before || Span::of(fact).is_past_within(Span::of(known), now) {
                return Ok(still(known, Outcome::Outdated(by.clone())));
            }
        }
        // The id is taken; should it become a fact of its own, at another time, it has another.
        claim.fact.id = part_id(shelves, &holder, &fact.id)?;
    }
    let own = claim.fact.id.clone();
    let standing = shelves.facts(&holder, Which::Under(&fact.key))?;
    let Ruling { outcome, writes, parts } = rule_on_fact(claim, assurance, &standing, now);
    if let (Some(known), Outcome::Outdated(_), []) = (&known, &outcome, &*parts)
        && known.fact.status == FactStatus::Deprecated
    {
        return Ok(still(&known.fact, outcome));
    }
    for revision in &writes {
        shelves.put_fact(&holder, revision)?;
    }
    for mut part in parts {
        part.fact.id = part_id(shelves, &holder, &part.fact.id)?;
        shelves.put_fact(&holder, &part)?;
    }
    let id = match &outcome {
        Outcome::Supported(id) => id.clone(),
        _ => own,
    };
    let mut all = writes.iter().chain(&standing);
    let revision = all.find(|one| one.fact.id == id).map_or(1, |one| one.fact.revision);
    Ok(Kept { id, revision, outcome })
}

/// Said again, it is out of date as before.
fn still(known: &Fact, outcome: Outcome) -> Kept {
    Kept { id: known.id.clone(), revision: known.revision, outcome }
}

/// An id for what one fact says of another time: its own with a number behind it.
fn part_id(shelves: &impl Shelves, holder: &Subject, id: &str) -> Answer<String> {
    let is_number = |end: &str| end.bytes().all(|byte| byte.is_ascii_digit());
    let first =
        id.rsplit_once('~').filter(|(_, end)| is_number(end)).map_or(id, |(first, _)| first);
    for number in 2_u64.. {
        let part = format!("{first}~{number}");
        let is_free = shelves.fact(holder, &part, None)?.is_none()
            && shelves.forgotten(holder, &[mark(holder, "fact", &part)])?.is_empty();
        if is_free {
            return Ok(part);
        }
    }
    unreachable!("there are more numbers than facts")
}

/// Keeps a row as its next revision, unless it says what the latest one says.
pub(super) fn keep_row<R: Revised>(
    shelves: &mut impl Shelves,
    subject: &Subject,
    id: &str,
    row: &R,
    now: Time,
) -> Answer<Kept> {
    check_id(id)?;
    refuse_forgotten(shelves, subject, R::KIND, id)?;
    let latest = shelves.row::<R>(subject, id, None)?;
    let found = latest.as_ref().map_or(0, Revised::revision);
    let outcome = match latest {
        None => Outcome::Kept,
        Some(latest) => {
            let same = row.clone().at_revision(found, now) == latest.at_revision(found, now);
            if same {
                Outcome::Supported(id.to_owned())
            } else {
                Outcome::Superseded(vec![id.to_owned()])
            }
        }
    };
    let mut revision = found;
    if !matches!(outcome, Outcome::Supported(_)) {
        revision += 1;
        shelves.put_row(subject, id, &row.clone().at_revision(revision, now))?;
    }
    let revision = u32::try_from(revision).unwrap_or(u32::MAX);
    Ok(Kept { id: id.to_owned(), revision, outcome })
}

pub(super) fn refuse_forgotten(
    shelves: &impl Shelves,
    subject: &Subject,
    kind: &str,
    id: &str,
) -> Answer<()> {
    if shelves.forgotten(subject, &[mark(subject, kind, id)])?.is_empty() {
        return Ok(());
    }
    Err(is_forgotten(kind, id))
}

pub(super) fn is_forgotten(kind: &str, id: &str) -> MemoryError {
    Refusal::Forgotten { kind: kind.to_owned(), id: id.to_owned() }.into()
}

pub(super) fn differs(kind: &str, id: &str) -> MemoryError {
    Refusal::Differs { kind: kind.to_owned(), id: id.to_owned() }.into()
}

pub(super) fn check_sources(
    shelves: &impl Shelves,
    subject: &Subject,
    sources: &[String],
) -> Answer<()> {
    let ids: Vec<&str> = sources.iter().map(String::as_str).collect();
    let known = shelves.named(subject, &ids)?;
    match sources.iter().find(|event| !known.contains_key(*event)) {
        Some(event) => Err(Refusal::UnknownEvent { event: event.clone() }.into()),
        None => Ok(()),
    }
}
