//! What a store must be able to do: put rows where their scope says, and read them there. Every question
//! names whose rows it asks for; nothing here decides anything.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::memory::long_term::ScopeLevel;
use countersign_core::run::Time;
use serde::Deserialize;

use super::error::MemoryError;
use super::revised::Revised;
use super::{Build, Limits, RowKind, Unembedded};
use crate::rank::{Hit, Near, Query, Read};
use crate::record::{Event, EventKind, Expiry, Origin, Place};
use crate::rules::{Standing, is_over};
use crate::{Cited, Request, Scope, Subject, Vector};

/// What a shelf answers.
pub(super) type Answer<T> = Result<T, MemoryError>;

/// Rows by scope. Putting follows checking: whoever refuses something has put nothing before.
pub(super) trait Shelves {
    /// Is told what will be asked for, and may fetch it beforehand.
    fn will_find(&self, _request: &Request, _query: &Query, _limits: Limits) -> Answer<()> {
        Ok(())
    }

    /// Is told which events will be asked for, and may fetch them beforehand.
    fn will_read(&self, _subject: &Subject, _places: &[Place]) -> Answer<()> {
        Ok(())
    }

    /// Which of these marks of a subject's rows stand for something forgotten.
    fn forgotten(&self, subject: &Subject, marks: &[String]) -> Answer<BTreeSet<String>>;

    /// Holds a subject, so that nobody else writes to it meanwhile. Subjects are held before those whose facts they
    /// share, and of these an agent before the tenant: in one order, so that nobody waits for one who waits for him.
    fn hold(&self, _subject: &Subject) -> Answer<()> {
        Ok(())
    }

    /// Which of these marks of a holder's rows stand for something forgotten, where these rows will only be named:
    /// whoever writes to the holder waits, others who name them do not.
    fn forgotten_beside(&self, holder: &Subject, marks: &[String]) -> Answer<BTreeSet<String>> {
        self.forgotten(holder, marks)
    }

    /// The last place of a session; `None` before its first event.
    fn last_place(&self, scope: &Scope) -> Answer<Option<Place>>;

    /// The highest number a session of this subject ever had.
    fn last_session(&self, subject: &Subject) -> Answer<u32>;

    /// Keeps events of one subject with their index.
    fn put_events(&mut self, subject: &Subject, events: &[Event]) -> Answer<()>;

    /// Takes events out again, and out of the index.
    fn remove_events(&mut self, subject: &Subject, events: &[Event]) -> Answer<()>;

    /// The events with these ids, by id; those that are not there are left out.
    fn named(&self, subject: &Subject, ids: &[&str]) -> Answer<BTreeMap<String, Event>>;

    /// What a citation shows of the events with these ids, by id; those that are not there are left out.
    fn cited(&self, subject: &Subject, ids: &[&str]) -> Answer<BTreeMap<String, Seen>>;

    /// The events at these places, in the order of the question; those that are not there are left out.
    fn events_at(&self, subject: &Subject, places: &[Place]) -> Answer<Vec<Event>>;

    /// Every event, in the order of places.
    fn events(&self, subject: &Subject) -> Answer<Vec<Event>>;

    /// Events that will be over some time.
    fn expiring(&self, subject: &Subject) -> Answer<Vec<Event>>;

    /// The latest events of the session, in the order of places.
    fn window(&self, scope: &Scope, limit: usize) -> Answer<Vec<Event>>;

    /// The places that answer a question, best first, at most so many; and what was read for it.
    fn ranked(&self, subject: &Subject, query: &Query, limit: usize) -> Answer<Ranked>;

    /// How similar the newest events that have a vector of the same embedder are, at most so many.
    fn nearest(&self, subject: &Subject, vector: &Vector, newest: usize) -> Answer<Near>;

    /// How many numbers the vectors of an embedder have, where there is one.
    fn dimensions(&self, subject: &Subject, embedder: &str) -> Answer<Option<usize>>;

    /// The newest events without a vector of an embedder, at most so many, looked for among so many.
    fn unembedded(
        &self,
        subject: &Subject,
        embedder: &str,
        among: usize,
        limit: usize,
    ) -> Answer<Unembedded>;

    /// Keeps vectors of events.
    fn put_vectors(&mut self, subject: &Subject, vectors: &[(Place, &Vector)]) -> Answer<()>;

    /// A fact; its latest revision where none is named.
    fn fact(&self, holder: &Subject, id: &str, revision: Option<u32>) -> Answer<Option<Standing>>;

    /// The latest revisions of facts, those written down last first.
    fn facts(&self, holder: &Subject, which: Which<'_>) -> Answer<Vec<Standing>>;

    /// Keeps a revision of a fact.
    fn put_fact(&mut self, holder: &Subject, standing: &Standing) -> Answer<()>;

    /// Takes the ids of facts that are gone out of every revision of the holder's other facts, and out of every build
    /// that used them.
    fn unname(&mut self, holder: &Subject, ids: &[&str]) -> Answer<()>;

    /// A row; its latest revision where none is named.
    fn row<R: Revised>(
        &self,
        subject: &Subject,
        id: &str,
        revision: Option<u64>,
    ) -> Answer<Option<R>>;

    /// The latest revision of rows with their ids, the latest rows first.
    fn rows<R: Revised>(&self, subject: &Subject, limit: usize) -> Answer<Vec<(String, R)>>;

    /// The same of those in whose body a text stands; so many of these are passed over.
    fn rows_with<R: Revised>(
        &self,
        subject: &Subject,
        text: &str,
        skip: usize,
        limit: usize,
    ) -> Answer<Vec<(String, R)>>;

    /// Keeps a revision of a row.
    fn put_row<R: Revised>(&mut self, subject: &Subject, id: &str, row: &R) -> Answer<()>;

    /// Takes a row out again, with all its revisions.
    fn remove_row<R: Revised>(&mut self, subject: &Subject, id: &str) -> Answer<()>;

    /// Keeps a build.
    fn put_build(&mut self, subject: &Subject, build: &Build) -> Answer<()>;

    /// A build.
    fn build(&self, subject: &Subject, id: &str) -> Answer<Option<Build>>;

    /// The builds of a session before one of them, the latest first.
    fn earlier_builds(&self, subject: &Subject, build: &Build, limit: usize)
    -> Answer<Vec<String>>;

    /// What ever went into a packet.
    fn selected(&self, subject: &Subject) -> Answer<BTreeSet<(RowKind, String)>>;

    /// Which of these ids were looked at for a build.
    fn used(&self, subject: &Subject, ids: &[&str]) -> Answer<BTreeSet<String>>;
}

/// An event as far as a citation shows it, and by what it may be seen. Its other fields are passed over.
#[derive(Debug, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names are those of the record")]
pub(super) struct Seen {
    kind: EventKind,
    origin: Origin,
    ts: Time,
    text: String,
    scope: OfRun,
    #[serde(default)]
    expires: Option<Expiry>,
    #[serde(default)]
    seen_insights: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct OfRun {
    run: String,
}

impl Seen {
    /// Whether it may no longer be seen in a run.
    pub(super) fn is_over(&self, in_run: &str, now: Time) -> bool {
        is_over(self.expires, &self.scope.run, in_run, now)
    }
}

impl From<Seen> for Cited {
    fn from(seen: Seen) -> Self {
        let Seen { kind, origin, ts, text, seen_insights, .. } = seen;
        Self { kind, origin, ts, text, seen_insights }
    }
}

impl From<&Event> for Seen {
    fn from(event: &Event) -> Self {
        let (kind, origin, ts, expires) = (event.kind, event.origin, event.ts, event.expires);
        let scope = OfRun { run: event.scope.run().to_owned() };
        let (text, seen_insights) = (event.text.clone(), event.seen_insights.clone());
        Self { kind, origin, ts, text, scope, expires, seen_insights }
    }
}

/// The places that answer a question.
#[derive(Debug, Default)]
pub(super) struct Ranked {
    /// Best first.
    pub(super) hits: Vec<Hit>,
    /// What was read of each term, the rarest first.
    pub(super) reads: Vec<Read>,
}

/// Which facts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Which<'a> {
    /// Active and disputed ones under a key.
    Under(&'a str),
    /// Active and disputed ones, at most so many.
    Standing(usize),
    /// Those that others took the place of, at most so many.
    Superseded(usize),
    /// All of them.
    All,
}

/// Who holds the facts of a level that a subject sees. What a level does not name is empty, which no id
/// of a scope is.
pub(super) fn holder(subject: &Subject, level: ScopeLevel) -> Subject {
    let mut holder = subject.clone();
    if level != ScopeLevel::User {
        holder.user.clear();
    }
    if level == ScopeLevel::Tenant {
        holder.agent.clear();
    }
    holder
}

/// Every level, the nearest first.
pub(super) const LEVELS: [ScopeLevel; 3] =
    [ScopeLevel::User, ScopeLevel::Agent, ScopeLevel::Tenant];
