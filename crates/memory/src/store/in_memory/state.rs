//! The reference's rows. Ranking makes its postings anew for each question: the specification of what
//! an index must answer.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::memory::long_term::FactStatus;
use serde_json::Value;

use super::super::body::to_body;
use super::super::error::corrupt;
use super::super::gone::kind_of;
use super::super::revised::Revised;
use super::super::shelves::{Answer, Ranked, Seen, Shelves, Which};
use super::super::{Build, RowKind, Unembedded};
use crate::rank::{Near, Query, Stats, TermPostings, indexed, plan, rank};
use crate::record::{Event, Place};
use crate::rules::Standing;
use crate::{Scope, Subject, Vector};

/// A revision of a row: by what it is ordered, and itself.
#[derive(Debug, Clone)]
pub(super) struct Revision {
    pub(super) number: u64,
    pub(super) ordering: i64,
    pub(super) row: Value,
}

/// A row's table, owner and id.
pub(super) type Key = (&'static str, Subject, String);

/// All rows.
#[derive(Debug, Clone, Default)]
pub(in crate::store) struct State {
    pub(super) events: BTreeMap<Subject, BTreeMap<Place, Event>>,
    pub(super) sessions: BTreeMap<Subject, BTreeMap<String, Place>>,
    pub(super) vectors: BTreeMap<(Subject, String), BTreeMap<Place, Vector>>,
    pub(super) facts: BTreeMap<(Subject, String), Vec<Standing>>,
    pub(super) rows: BTreeMap<Key, Vec<Revision>>,
    pub(super) builds: BTreeMap<(Subject, String), Build>,
    pub(super) tombstones: BTreeSet<String>,
}

impl State {
    fn of(&self, subject: &Subject) -> impl Iterator<Item = &Event> {
        self.events.get(subject).into_iter().flat_map(BTreeMap::values)
    }
}

impl Shelves for State {
    fn forgotten(&self, _subject: &Subject, marks: &[String]) -> Answer<BTreeSet<String>> {
        Ok(marks.iter().filter(|mark| self.tombstones.contains(*mark)).cloned().collect())
    }

    fn last_place(&self, scope: &Scope) -> Answer<Option<Place>> {
        let sessions = self.sessions.get(&scope.subject());
        Ok(sessions.and_then(|sessions| sessions.get(scope.session())).copied())
    }

    fn last_session(&self, subject: &Subject) -> Answer<u32> {
        let sessions = self.sessions.get(subject).into_iter().flat_map(BTreeMap::values);
        Ok(sessions.map(|place| place.session).max().unwrap_or(0))
    }

    fn put_events(&mut self, subject: &Subject, events: &[Event]) -> Answer<()> {
        let sessions = self.sessions.entry(subject.clone()).or_default();
        let by_place = self.events.entry(subject.clone()).or_default();
        for event in events {
            sessions.insert(event.scope.session().to_owned(), event.place);
            by_place.insert(event.place, event.clone());
        }
        Ok(())
    }

    fn remove_events(&mut self, subject: &Subject, events: &[Event]) -> Answer<()> {
        if let Some(shelf) = self.events.get_mut(subject) {
            for event in events {
                shelf.remove(&event.place);
            }
        }
        for (_, vectors) in self.vectors.iter_mut().filter(|((whose, _), _)| whose == subject) {
            vectors.retain(|place, _| events.iter().all(|event| event.place != *place));
        }
        Ok(())
    }

    fn named(&self, subject: &Subject, ids: &[&str]) -> Answer<BTreeMap<String, Event>> {
        let here = self.of(subject).filter(|event| ids.contains(&event.id.as_str()));
        Ok(here.map(|event| (event.id.clone(), event.clone())).collect())
    }

    fn cited(&self, subject: &Subject, ids: &[&str]) -> Answer<BTreeMap<String, Seen>> {
        let here = self.of(subject).filter(|event| ids.contains(&event.id.as_str()));
        Ok(here.map(|event| (event.id.clone(), Seen::from(event))).collect())
    }

    fn events_at(&self, subject: &Subject, places: &[Place]) -> Answer<Vec<Event>> {
        let Some(own) = self.events.get(subject) else { return Ok(Vec::new()) };
        Ok(places.iter().filter_map(|place| own.get(place)).cloned().collect())
    }

    fn events(&self, subject: &Subject) -> Answer<Vec<Event>> {
        Ok(self.of(subject).cloned().collect())
    }

    fn expiring(&self, subject: &Subject) -> Answer<Vec<Event>> {
        Ok(self.of(subject).filter(|event| event.expires.is_some()).cloned().collect())
    }

    fn window(&self, scope: &Scope, limit: usize) -> Answer<Vec<Event>> {
        let subject = scope.subject();
        let here = self.of(&subject).filter(|event| event.scope.session() == scope.session());
        let all: Vec<Event> = here.cloned().collect();
        Ok(all[all.len().saturating_sub(limit)..].to_vec())
    }

    fn ranked(&self, subject: &Subject, query: &Query, limit: usize) -> Answer<Ranked> {
        let mut stats = Stats::default();
        let mut lists: BTreeMap<String, TermPostings> = BTreeMap::new();
        for event in self.of(subject) {
            let found = indexed(event);
            stats.events += 1;
            stats.terms += u64::from(found.length);
            for (term, posting) in found.postings(event.place) {
                if query.weight(term) == 0 {
                    continue;
                }
                let new = || TermPostings { term: term.to_owned(), df: 0, postings: Vec::new() };
                let list = lists.entry(term.to_owned()).or_insert_with(new);
                list.df += 1;
                list.postings.push(posting);
            }
        }
        let reads = plan(lists.values().map(|list| (list.term.as_str(), list.df)));
        for read in &reads {
            if let Some(TermPostings { postings, .. }) = lists.get_mut(&read.term) {
                postings.drain(..postings.len() - read.newest);
            }
        }
        let lists: Vec<TermPostings> = lists.into_values().collect();
        Ok(Ranked { hits: rank(query, &lists, stats, limit), reads })
    }

    fn nearest(&self, subject: &Subject, vector: &Vector, newest: usize) -> Answer<Near> {
        let key = (subject.clone(), vector.embedder().to_owned());
        let Some(vectors) = self.vectors.get(&key) else { return Ok(Near::default()) };
        let similar = vectors.iter().rev().take(newest);
        let similar = similar.map(|(place, one)| (*place, vector.similarity(one.body())));
        Ok(Near { similar: similar.collect(), of: vectors.len() as u64 })
    }

    fn dimensions(&self, subject: &Subject, embedder: &str) -> Answer<Option<usize>> {
        let vectors = self.vectors.get(&(subject.clone(), embedder.to_owned()));
        let first = vectors.and_then(|vectors| vectors.values().next());
        Ok(first.map(|vector| vector.body().len()))
    }

    fn unembedded(
        &self,
        subject: &Subject,
        embedder: &str,
        among: usize,
        limit: usize,
    ) -> Answer<Unembedded> {
        let vectors = self.vectors.get(&(subject.clone(), embedder.to_owned()));
        let has = |event: &&Event| vectors.is_some_and(|all| all.contains_key(&event.place));
        let newest = self.events.get(subject).into_iter().flat_map(|all| all.values().rev());
        let missing: Vec<&Event> = newest.take(among).filter(|event| !has(event)).collect();
        let all = missing.len() as u64;
        Ok(Unembedded { events: missing.into_iter().take(limit).cloned().collect(), all })
    }

    fn put_vectors(&mut self, subject: &Subject, vectors: &[(Place, &Vector)]) -> Answer<()> {
        for (place, vector) in vectors {
            let key = (subject.clone(), vector.embedder().to_owned());
            self.vectors.entry(key).or_default().insert(*place, (*vector).clone());
        }
        Ok(())
    }

    fn fact(&self, holder: &Subject, id: &str, revision: Option<u32>) -> Answer<Option<Standing>> {
        let Some(revisions) = self.facts.get(&(holder.clone(), id.to_owned())) else {
            return Ok(None);
        };
        Ok(match revision {
            None => revisions.last().cloned(),
            Some(number) => revisions.iter().find(|one| one.fact.revision == number).cloned(),
        })
    }

    fn facts(&self, holder: &Subject, which: Which<'_>) -> Answer<Vec<Standing>> {
        let held = self.facts.iter().filter(|((whose, _), _)| whose == holder);
        let latest = held.filter_map(|(_, revisions)| revisions.last());
        let standing = |one: &Standing| one.fact.status != FactStatus::Deprecated;
        let chosen = latest.filter(|one| match which {
            Which::Under(key) => standing(one) && one.fact.key == key,
            Which::Standing(_) => standing(one),
            Which::Superseded(_) => !standing(one),
            Which::All => true,
        });
        let mut chosen: Vec<Standing> = chosen.cloned().collect();
        chosen.sort_by_key(|one| (Reverse(one.fact.recorded_at), one.fact.id.clone()));
        if let Which::Standing(limit) | Which::Superseded(limit) = which {
            chosen.truncate(limit);
        }
        Ok(chosen)
    }

    fn put_fact(&mut self, holder: &Subject, standing: &Standing) -> Answer<()> {
        let key = (holder.clone(), standing.fact.id.clone());
        self.facts.entry(key).or_default().push(standing.clone());
        Ok(())
    }

    fn unname(&mut self, holder: &Subject, ids: &[&str]) -> Answer<()> {
        let held = self.facts.iter_mut().filter(|((whose, _), _)| whose == holder);
        for one in held.flat_map(|(_, revisions)| revisions) {
            if one.fact.superseded_by.as_deref().is_some_and(|by| ids.contains(&by)) {
                one.fact.superseded_by = None;
            }
        }
        let kind = kind_of(holder);
        let sees = |whose: &Subject| {
            whose.tenant == holder.tenant
                && (holder.agent.is_empty() || whose.agent == holder.agent)
                && (holder.user.is_empty() || whose.user == holder.user)
        };
        let builds = self.builds.iter_mut().filter(|((whose, _), _)| sees(whose));
        for row in builds.flat_map(|(_, build)| &mut build.rows) {
            if row.kind == kind && ids.contains(&&*row.id) {
                row.id.clear();
            }
        }
        Ok(())
    }

    fn row<R: Revised>(
        &self,
        subject: &Subject,
        id: &str,
        revision: Option<u64>,
    ) -> Answer<Option<R>> {
        let key = (R::TABLE, subject.clone(), id.to_owned());
        let Some(revisions) = self.rows.get(&key) else { return Ok(None) };
        let found = match revision {
            None => revisions.last(),
            Some(number) => revisions.iter().find(|revision| revision.number == number),
        };
        found.map(read).transpose()
    }

    fn rows<R: Revised>(&self, subject: &Subject, limit: usize) -> Answer<Vec<(String, R)>> {
        let own = self
            .rows
            .iter()
            .filter(|((table, whose, _), _)| *table == R::TABLE && whose == subject);
        let mut latest: Vec<(&String, &Revision)> =
            own.filter_map(|((.., id), revisions)| Some((id, revisions.last()?))).collect();
        latest.sort_by_key(|(id, revision)| (Reverse(revision.ordering), *id));
        latest.truncate(limit);
        latest.into_iter().map(|(id, revision)| Ok((id.clone(), read(revision)?))).collect()
    }

    fn rows_with<R: Revised>(
        &self,
        subject: &Subject,
        text: &str,
        skip: usize,
        limit: usize,
    ) -> Answer<Vec<(String, R)>> {
        let mut rows = Vec::new();
        for (id, row) in self.rows::<R>(subject, usize::MAX)? {
            if to_body(&row)?.contains(text) {
                rows.push((id, row));
            }
        }
        Ok(rows.into_iter().skip(skip).take(limit).collect())
    }

    fn put_row<R: Revised>(&mut self, subject: &Subject, id: &str, row: &R) -> Answer<()> {
        let key = (R::TABLE, subject.clone(), id.to_owned());
        let (number, ordering) = (row.revision(), row.ordering().0);
        let row = serde_json::to_value(row).map_err(|error| corrupt(error.to_string()))?;
        self.rows.entry(key).or_default().push(Revision { number, ordering, row });
        Ok(())
    }

    fn remove_row<R: Revised>(&mut self, subject: &Subject, id: &str) -> Answer<()> {
        self.rows.remove(&(R::TABLE, subject.clone(), id.to_owned()));
        Ok(())
    }

    fn put_build(&mut self, subject: &Subject, build: &Build) -> Answer<()> {
        self.builds.insert((subject.clone(), build.id.clone()), build.clone());
        Ok(())
    }

    fn build(&self, subject: &Subject, id: &str) -> Answer<Option<Build>> {
        Ok(self.builds.get(&(subject.clone(), id.to_owned())).cloned())
    }

    fn earlier_builds(
        &self,
        subject: &Subject,
        build: &Build,
        limit: usize,
    ) -> Answer<Vec<String>> {
        let key = |build: &Build| (build.built_at, build.id.clone());
        let own = self.builds.iter().filter(|((whose, _), _)| whose == subject);
        let mut earlier: Vec<_> = own
            .map(|(_, other)| other)
            .filter(|other| other.request.scope.session() == build.request.scope.session())
            .map(key)
            .filter(|other| *other < key(build))
            .collect();
        earlier.sort_by(|one, other| other.cmp(one));
        Ok(earlier.into_iter().take(limit).map(|(_, id)| id).collect())
    }

    fn selected(&self, subject: &Subject) -> Answer<BTreeSet<(RowKind, String)>> {
        let own = self.builds.iter().filter(|((whose, _), _)| whose == subject);
        let rows = own.flat_map(|(_, build)| &build.rows).filter(|row| row.selected);
        Ok(rows.map(|row| (row.kind, row.id.clone())).collect())
    }

    fn used(&self, subject: &Subject, ids: &[&str]) -> Answer<BTreeSet<String>> {
        let own = self.builds.iter().filter(|((whose, _), _)| whose == subject);
        let rows = own.flat_map(|(_, build)| &build.rows);
        Ok(rows.filter(|row| ids.contains(&&*row.id)).map(|row| row.id.clone()).collect())
    }
}

fn read<R: Revised>(revision: &Revision) -> Answer<R> {
    serde_json::from_value(revision.row.clone()).map_err(|error| corrupt(error.to_string()))
}
