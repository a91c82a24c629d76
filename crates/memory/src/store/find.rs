//! What a request finds: rows of its scope, each with its score.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::memory::insight::ValidationState;
use countersign_contracts::memory::long_term::{FactStatus, ScopeLevel};
use countersign_contracts::memory::meta::Purpose;
use countersign_core::run::Time;

use super::Limits;
use super::answers::{Wanted, answers};
use super::body::to_body;
use super::shelves::{Answer, LEVELS, Shelves, Which, holder};
use crate::policy::Similarity;
use crate::rank::Query;
use crate::record::{Episode, Event, Expiry, Fact, Insight, Origin, Procedure, Summary, Working};
use crate::rules::{Standing, is_over};
use crate::{Cited, Cut, Found, Request, Scope, Score, Scored, Subject};

/// The kind of task where a request names none.
const GENERIC: &str = "generic";

/// Among so many of a session the last of a run is looked for first.
const LATEST: usize = 64;

/// The rows that may be seen.
pub(super) fn found(shelves: &impl Shelves, request: &Request, limits: Limits) -> Answer<Found> {
    request.scope.check()?;
    let subject = request.scope.subject();
    let query = Query::of(request);
    shelves.will_find(request, &query, limits)?;
    let mut found = Found {
        working: shelves.row(&subject, request.scope.run(), None)?,
        summary: shelves.row(&subject, request.scope.session(), None)?,
        ..Found::default()
    };
    for level in LEVELS {
        let holder = holder(&subject, level);
        let standing = shelves.facts(&holder, Which::Standing(limits.facts))?;
        let superseded = shelves.facts(&holder, Which::Superseded(limits.superseded))?;
        let name = match level {
            ScopeLevel::User => "facts of the user",
            ScopeLevel::Agent => "facts of the agent",
            ScopeLevel::Tenant => "facts of the tenant",
        };
        cut(&mut found, name, standing.len(), limits.facts);
        cut(&mut found, &format!("superseded {name}"), superseded.len(), limits.superseded);
        for one in standing.into_iter().chain(superseded) {
            add_fact(&mut found, one, &subject, Score::default());
        }
    }
    let task_type = request.task_type.as_deref().unwrap_or(GENERIC);
    let rows = procedures(shelves, &subject, task_type, limits.procedures)?;
    cut(&mut found, "procedures of the task", rows.len(), limits.procedures);
    found.procedures = rows.into_iter().map(Scored::plain).collect();
    let rows = shelves.rows::<Episode>(&subject, limits.episodes)?;
    cut(&mut found, "episodes", rows.len(), limits.episodes);
    // What was told again in another one is told there now.
    for (_, row) in rows.into_iter().filter(|(_, row)| row.into.is_none()) {
        found.episodes.push(Scored::plain(row));
    }
    let rows = shelves.rows::<Insight>(&subject, limits.insights)?;
    cut(&mut found, "insights", rows.len(), limits.insights);
    let for_responder = request.purpose == Purpose::Responder;
    let mut looked_at: BTreeMap<String, Option<Insight>> = BTreeMap::new();
    for (_, row) in rows {
        if for_responder {
            let validated = (row.validation == ValidationState::Validated).then(|| row.clone());
            looked_at.insert(row.id.clone(), validated);
        }
        if for_responder {
            found.guesses.extend(other_words(shelves, &subject, &row)?);
        }
        if row.expires != Expiry::RunEnd || row.run == request.scope.run() {
            found.insights.push(Scored::plain(row));
        } else if for_responder && row.validation != ValidationState::Validated {
            found.guesses.push(row);
        }
    }
    let wanted = Wanted { limit: limits.quotes, similarity: limits.similarity, once: true };
    let (quotes, unread) = answers(shelves, request, &query, wanted)?;
    found.quotes = quotes;
    found.cut.extend(unread);
    add_quoted(shelves, request, &subject, &mut found)?;
    if limits.window > 0 {
        found.window = shelves.window(&request.scope, limits.window)?;
        found.window.retain(|event| visible(event, request));
    }
    found.evidence = cited(shelves, request, &subject, &found)?;
    if for_responder {
        found.cleared = cleared(shelves, &subject, &found, looked_at)?;
    }
    Ok(found)
}

/// Of the insights that writers of the events were shown, the validated ones that are not there already.
fn cleared(
    shelves: &impl Shelves,
    subject: &Subject,
    found: &Found,
    mut looked_at: BTreeMap<String, Option<Insight>>,
) -> Answer<Vec<Insight>> {
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
            // Older than those that are looked at for a packet.
            None => shelves.row::<Insight>(subject, id, None)?,
        };
        cleared.extend(row.filter(|row| row.validation == ValidationState::Validated));
    }
    Ok(cleared)
}

/// What a guess said before, in other words that nobody validated; so many of its last revisions are looked at.
fn other_words(shelves: &impl Shelves, subject: &Subject, guess: &Insight) -> Answer<Vec<Insight>> {
    const REVISIONS: u32 = 16;
    let mut earlier: Vec<Insight> = Vec::new();
    let first = guess.revision.saturating_sub(REVISIONS).max(1);
    for revision in first..guess.revision {
        let said: Option<Insight> = shelves.row(subject, &guess.id, Some(revision.into()))?;
        earlier.extend(said.filter(|said| {
            said.statement != guess.statement && said.validation != ValidationState::Validated
        }));
    }
    earlier.dedup_by(|one, other| one.statement == other.statement);
    Ok(earlier)
}

/// The latest procedures of a kind of task, however many others there are.
fn procedures(
    shelves: &impl Shelves,
    subject: &Subject,
    task_type: &str,
    limit: usize,
) -> Answer<Vec<Procedure>> {
    // As a body has it. It may stand in the content of another one too.
    let text = format!("\"task_type\":{}", to_body(&task_type)?);
    let (mut found, mut read) = (Vec::new(), 0);
    while found.len() < limit {
        let rows = shelves.rows_with::<Procedure>(subject, &text, read, limit)?;
        let last = rows.len() < limit;
        read += rows.len();
        found.extend(rows.into_iter().map(|(_, row)| row).filter(|row| row.task_type == task_type));
        if last {
            break;
        }
    }
    found.truncate(limit);
    Ok(found)
}

/// Tells that there may be more than was looked at.
fn cut(found: &mut Found, what: &str, read: usize, limit: usize) {
    if read > 0 && read >= limit {
        found.cut.push(Cut { what: what.to_owned(), read: read as u64, of: None });
    }
}

/// The latest working state of a run.
pub(super) fn working(shelves: &impl Shelves, scope: &Scope) -> Answer<Option<Working>> {
    scope.check()?;
    shelves.row(&scope.subject(), scope.run(), None)
}

/// The last event of a run. Runs of one session stand side by side, so that it need not be the last there.
pub(super) fn last_of_run(shelves: &impl Shelves, scope: &Scope) -> Answer<Option<Event>> {
    scope.check()?;
    for limit in [LATEST, usize::MAX] {
        let latest = shelves.window(scope, limit)?;
        let whole = latest.len() < limit;
        let last = latest.into_iter().rev().find(|event| event.scope.run() == scope.run());
        if last.is_some() || whole {
            return Ok(last);
        }
    }
    Ok(None)
}

/// The events that answer a request, best first.
pub(super) fn search(
    shelves: &impl Shelves,
    request: &Request,
    limit: usize,
) -> Answer<Vec<Scored<Event>>> {
    request.scope.check()?;
    let wanted = Wanted { limit, similarity: Similarity::SEARCH, once: false };
    Ok(answers(shelves, request, &Query::of(request), wanted)?.0)
}

/// Adds the events that the summary quotes, where the cues did not find them.
fn add_quoted(
    shelves: &impl Shelves,
    request: &Request,
    subject: &Subject,
    found: &mut Found,
) -> Answer<()> {
    let Some(Summary { quotes, .. }) = &found.summary else { return Ok(()) };
    let here: BTreeSet<&String> = found.quotes.iter().map(|quote| &quote.row.id).collect();
    let missing: Vec<&str> =
        quotes.iter().filter(|id| !here.contains(id)).map(String::as_str).collect();
    let mut events = shelves.named(subject, &missing)?;
    let events = missing.iter().filter_map(|id| events.remove(*id));
    let events: Vec<_> =
        events.filter(|event| visible(event, request)).map(Scored::plain).collect();
    found.quotes.extend(events);
    Ok(())
}

/// Adds a fact as a subject sees it, and whether somebody answers for it.
pub(super) fn add_fact(found: &mut Found, standing: Standing, subject: &Subject, score: Score) {
    if matches!(standing.origin, Origin::User | Origin::Tool) {
        found.vouched.push((standing.fact.level, standing.fact.id.clone()));
    }
    found.facts.push(Scored { row: seen_by(standing, subject), score });
}

/// A fact as a subject sees it: without the words of others.
pub(super) fn seen_by(standing: Standing, subject: &Subject) -> Fact {
    let Standing { mut fact, sources, .. } = standing;
    let mut own = sources.iter().map(|source| source == subject);
    fact.evidence.retain(|_| own.next().unwrap_or(false));
    fact
}

/// Whether an event may be seen at the moment of a request.
pub(super) fn visible(event: &Event, request: &Request) -> bool {
    !is_over(event.expires, event.scope.run(), request.scope.run(), request.as_of)
}

/// The events that the rows cite.
fn cited(
    shelves: &impl Shelves,
    request: &Request,
    subject: &Subject,
    found: &Found,
) -> Answer<BTreeMap<String, Cited>> {
    let ids: Vec<&str> = citations(found, request.as_of).into_iter().map(String::as_str).collect();
    let mut seen = shelves.cited(subject, &ids)?;
    seen.retain(|_, seen| !seen.is_over(request.scope.run(), request.as_of));
    Ok(seen.into_iter().map(|(id, seen)| (id, Cited::from(seen))).collect())
}

fn citations(found: &Found, at: Time) -> BTreeSet<&String> {
    let mut ids = BTreeSet::new();
    // What others took the place of by then is told by its id alone.
    let told = |fact: &Fact| fact.status != FactStatus::Deprecated || found.held(fact, at);
    for fact in found.facts.iter().map(|fact| &fact.row).filter(|fact| told(fact)) {
        ids.extend(fact.evidence.iter().map(|piece| &piece.event));
    }
    ids.extend(found.procedures.iter().flat_map(|one| &one.row.sources));
    ids.extend(found.episodes.iter().flat_map(|one| &one.row.sources));
    ids.extend(found.insights.iter().flat_map(|one| &one.row.sources));
    let summary = found.summary.iter();
    ids.extend(summary.flat_map(|summary| summary.quotes.iter().chain(&summary.sources)));
    if let Some(Working { state, open_loops, .. }) = &found.working {
        let decisions = state.decisions.iter().flatten();
        ids.extend(decisions.filter_map(|decision| decision.evidence_id.as_ref()));
        ids.extend(state.tool_evidence.iter().flatten().map(|tool| &tool.reference));
        ids.extend(open_loops.iter().filter_map(|one| one.evidence_id.as_ref()));
    }
    ids
}
