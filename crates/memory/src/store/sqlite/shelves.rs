//! The shelves of a file: each method goes to the file of its table.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use countersign_store::RawFile;
use rusqlite::Connection;

use super::super::index;
use super::super::revised::Revised;
use super::super::shelves::{Answer, LEVELS, Ranked, Seen, Shelves, Which, holder};
use super::super::{Build, Limits, RowKind, Unembedded};
use super::ahead::{Ahead, Asked};
use super::index::OfSubject;
use super::{builds, events, facts, rows, subjects, vectors};
use crate::rank::{Near, Query};
use crate::record::{Event, Place};
use crate::rules::Standing;
use crate::{Request, Scope, Subject, Vector};

/// A connection inside a transaction.
pub(in crate::store) struct Sql<'a> {
    pub(super) db: &'a Connection,
    pub(super) ahead: Ahead<'a>,
    /// The subject that was asked for last: it is asked for again and again.
    last: RefCell<Option<(Subject, i64)>>,
}

impl<'a> Sql<'a> {
    pub(super) fn new(db: &'a Connection, raw: Option<&'a RawFile>) -> Self {
        Self { db, ahead: Ahead::new(db, raw), last: RefCell::new(None) }
    }

    pub(super) fn number(&self, subject: &Subject) -> Answer<Option<i64>> {
        if let Some((last, number)) = &*self.last.borrow()
            && last == subject
        {
            return Ok(Some(*number));
        }
        let number = subjects::number(self.db, subject)?;
        *self.last.borrow_mut() = number.map(|number| (subject.clone(), number));
        Ok(number)
    }
}

impl Shelves for Sql<'_> {
    fn will_find(&self, request: &Request, query: &Query, limits: Limits) -> Answer<()> {
        let subject = request.scope.subject();
        let Some(number) = self.number(&subject)? else { return Ok(()) };
        if self.ahead.is_cold(number, query)? {
            let mut holders = Vec::new();
            for level in LEVELS {
                holders.extend(self.number(&holder(&subject, level))?);
            }
            let asked = Asked { subject: number, holders: &holders, request, query, limits };
            self.ahead.packet(asked);
        }
        Ok(())
    }

    fn will_read(&self, subject: &Subject, places: &[Place]) -> Answer<()> {
        if let Some(number) = self.number(subject)? {
            self.ahead.places(number, places);
        }
        Ok(())
    }

    fn forgotten(&self, _subject: &Subject, marks: &[String]) -> Answer<BTreeSet<String>> {
        let mut query = self.db.prepare_cached("SELECT 1 FROM tombstones WHERE mark = ?1")?;
        let mut forgotten = BTreeSet::new();
        for mark in marks {
            if query.exists([mark])? {
                forgotten.insert(mark.clone());
            }
        }
        Ok(forgotten)
    }

    fn last_place(&self, scope: &Scope) -> Answer<Option<Place>> {
        let Some(number) = self.number(&scope.subject())? else { return Ok(None) };
        events::last_place(self.db, number, scope.session())
    }

    fn last_session(&self, subject: &Subject) -> Answer<u32> {
        let Some(number) = self.number(subject)? else { return Ok(0) };
        events::last_session(self.db, number)
    }

    fn put_events(&mut self, subject: &Subject, events: &[Event]) -> Answer<()> {
        let number = subjects::number_or_new(self.db, subject)?;
        events::put(self.db, number, events)?;
        index::add(&OfSubject { db: self.db, subject: number }, events)
    }

    fn remove_events(&mut self, subject: &Subject, events: &[Event]) -> Answer<()> {
        let Some(number) = self.number(subject)? else { return Ok(()) };
        events::remove(self.db, number, events)?;
        index::remove(&OfSubject { db: self.db, subject: number }, events)
    }

    fn named(&self, subject: &Subject, ids: &[&str]) -> Answer<BTreeMap<String, Event>> {
        let Some(number) = self.number(subject)? else { return Ok(BTreeMap::new()) };
        events::named(self.db, number, ids)
    }

    fn cited(&self, subject: &Subject, ids: &[&str]) -> Answer<BTreeMap<String, Seen>> {
        let Some(number) = self.number(subject)? else { return Ok(BTreeMap::new()) };
        self.ahead.named(number, ids);
        events::named(self.db, number, ids)
    }

    fn events_at(&self, subject: &Subject, places: &[Place]) -> Answer<Vec<Event>> {
        let Some(number) = self.number(subject)? else { return Ok(Vec::new()) };
        events::at(self.db, number, places)
    }

    fn events(&self, subject: &Subject) -> Answer<Vec<Event>> {
        let Some(number) = self.number(subject)? else { return Ok(Vec::new()) };
        events::all(self.db, number)
    }

    fn expiring(&self, subject: &Subject) -> Answer<Vec<Event>> {
        let Some(number) = self.number(subject)? else { return Ok(Vec::new()) };
        events::expiring(self.db, number)
    }

    fn window(&self, scope: &Scope, limit: usize) -> Answer<Vec<Event>> {
        let Some(number) = self.number(&scope.subject())? else { return Ok(Vec::new()) };
        events::window(self.db, number, scope.session(), limit)
    }

    fn ranked(&self, subject: &Subject, query: &Query, limit: usize) -> Answer<Ranked> {
        let Some(number) = self.number(subject)? else { return Ok(Ranked::default()) };
        index::ranked(&OfSubject { db: self.db, subject: number }, query, limit)
    }

    fn nearest(&self, subject: &Subject, vector: &Vector, newest: usize) -> Answer<Near> {
        let Some(number) = self.number(subject)? else { return Ok(Near::default()) };
        vectors::nearest(self.db, number, vector, newest)
    }

    fn dimensions(&self, subject: &Subject, embedder: &str) -> Answer<Option<usize>> {
        let Some(number) = self.number(subject)? else { return Ok(None) };
        vectors::dimensions(self.db, number, embedder)
    }

    fn unembedded(
        &self,
        subject: &Subject,
        embedder: &str,
        among: usize,
        limit: usize,
    ) -> Answer<Unembedded> {
        let Some(number) = self.number(subject)? else { return Ok(Unembedded::default()) };
        vectors::missing(self.db, number, embedder, among, limit)
    }

    fn put_vectors(&mut self, subject: &Subject, vectors: &[(Place, &Vector)]) -> Answer<()> {
        let Some(number) = self.number(subject)? else { return Ok(()) };
        vectors::put(self.db, number, vectors)
    }

    fn fact(&self, holder: &Subject, id: &str, revision: Option<u32>) -> Answer<Option<Standing>> {
        let Some(number) = self.number(holder)? else { return Ok(None) };
        facts::one(self.db, number, id, revision)
    }

    fn facts(&self, holder: &Subject, which: Which<'_>) -> Answer<Vec<Standing>> {
        let Some(number) = self.number(holder)? else { return Ok(Vec::new()) };
        facts::some(self.db, number, which)
    }

    fn put_fact(&mut self, holder: &Subject, standing: &Standing) -> Answer<()> {
        facts::put(self.db, subjects::number_or_new(self.db, holder)?, standing)
    }

    fn unname(&mut self, holder: &Subject, ids: &[&str]) -> Answer<()> {
        let Some(number) = self.number(holder)? else { return Ok(()) };
        facts::unname(self.db, number, ids)?;
        builds::unname(self.db, holder, ids)
    }

    fn row<R: Revised>(
        &self,
        subject: &Subject,
        id: &str,
        revision: Option<u64>,
    ) -> Answer<Option<R>> {
        let Some(number) = self.number(subject)? else { return Ok(None) };
        rows::one(self.db, number, id, revision)
    }

    fn rows<R: Revised>(&self, subject: &Subject, limit: usize) -> Answer<Vec<(String, R)>> {
        let Some(number) = self.number(subject)? else { return Ok(Vec::new()) };
        rows::latest(self.db, number, limit)
    }

    fn rows_with<R: Revised>(
        &self,
        subject: &Subject,
        text: &str,
        skip: usize,
        limit: usize,
    ) -> Answer<Vec<(String, R)>> {
        let Some(number) = self.number(subject)? else { return Ok(Vec::new()) };
        rows::latest_with(self.db, number, text, skip, limit)
    }

    fn put_row<R: Revised>(&mut self, subject: &Subject, id: &str, row: &R) -> Answer<()> {
        rows::put(self.db, subjects::number_or_new(self.db, subject)?, id, row)
    }

    fn remove_row<R: Revised>(&mut self, subject: &Subject, id: &str) -> Answer<()> {
        let Some(number) = self.number(subject)? else { return Ok(()) };
        rows::remove::<R>(self.db, number, id)
    }

    fn put_build(&mut self, subject: &Subject, build: &Build) -> Answer<()> {
        builds::put(self.db, subjects::number_or_new(self.db, subject)?, build)
    }

    fn build(&self, subject: &Subject, id: &str) -> Answer<Option<Build>> {
        let Some(number) = self.number(subject)? else { return Ok(None) };
        builds::one(self.db, number, id)
    }

    fn earlier_builds(
        &self,
        subject: &Subject,
        build: &Build,
        limit: usize,
    ) -> Answer<Vec<String>> {
        let Some(number) = self.number(subject)? else { return Ok(Vec::new()) };
        builds::earlier(self.db, number, build, limit)
    }

    fn selected(&self, subject: &Subject) -> Answer<BTreeSet<(RowKind, String)>> {
        let Some(number) = self.number(subject)? else { return Ok(BTreeSet::new()) };
        builds::selected(self.db, number)
    }

    fn used(&self, subject: &Subject, ids: &[&str]) -> Answer<BTreeSet<String>> {
        let Some(number) = self.number(subject)? else { return Ok(BTreeSet::new()) };
        builds::used(self.db, number, ids)
    }
}
