//! The shelves of a database: each method goes to the file of its table.
//!
//! Whoever may write locks a subject before anything of it is read, until the end of the transaction: one writes to
//! a subject at a time, and what a rule was decided on is still so when it is written.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use countersign_core::json::canonical;
use countersign_store::{Call, Dialogue, Purpose, Scope as Sight};
use serde_json::json;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::super::error::corrupt;
use super::super::index;
use super::super::revised::Revised;
use super::super::shelves::{Answer, Ranked, Seen, Shelves, Which};
use super::super::{Build, RowKind, Unembedded};
use super::shelf::{Shelf, get, is_text};
use super::{builds, events, facts, rows, vectors};
use crate::rank::{Near, Query};
use crate::record::{Event, Place};
use crate::rules::Standing;
use crate::{Scope, Subject, Vector};

/// What tells locks of subjects from others: the bytes "CNTM".
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended($1, 1129206861))";
/// For those who only name what belongs to a subject: in nobody's way but a writer's.
const LOCK_BESIDE: &str = "SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 1129206861))";
const NUMBER: &str = "SELECT number FROM countersign.memory_subjects
    WHERE tenant = $1 AND user_id = $2 AND agent = $3";
const ADD: &str = "INSERT INTO countersign.memory_subjects (tenant, user_id, agent, index_version)
    VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
const FORGOTTEN: &str =
    "SELECT mark FROM countersign.memory_tombstones WHERE tenant = $1 AND mark = ANY ($2)";

/// What the lock of a subject is made of.
fn lock_name(subject: &Subject) -> String {
    let Subject { tenant, user, agent } = subject;
    canonical(&json!([tenant, user, agent]))
}

/// A transaction.
pub(in crate::store) struct Sql<'a> {
    pub(super) dialogue: &'a Dialogue<'a>,
    writes: bool,
    /// The numbers of subjects that were asked for; of one that may be written, it is locked.
    numbers: RefCell<BTreeMap<Subject, Option<i64>>>,
}

impl<'a> Sql<'a> {
    pub(super) fn new(dialogue: &'a Dialogue<'a>, purpose: Purpose) -> Self {
        Self { dialogue, writes: purpose != Purpose::Look, numbers: RefCell::default() }
    }

    /// The number of a subject, which nobody else writes to from here on.
    pub(super) fn number(&self, subject: &Subject) -> Answer<Option<i64>> {
        if let Some(number) = self.numbers.borrow().get(subject) {
            return Ok(*number);
        }
        let Subject { tenant, user, agent } = subject;
        if ![tenant, user, agent].into_iter().all(|name| is_text(name)) {
            return Ok(None);
        }
        let name = lock_name(subject);
        let mut calls = vec![Call::new(NUMBER).text(tenant).text(user).text(agent)];
        if self.writes {
            calls.insert(0, Call::new(LOCK).text(&name));
        }
        let answers = self.dialogue.ask_all(Sight::Tenant(tenant), &calls)?;
        let row = answers.last().and_then(|rows| rows.first());
        let number = row.map(|row| get(row, 0)).transpose()?;
        self.numbers.borrow_mut().insert(subject.clone(), number);
        Ok(number)
    }

    fn number_or_new(&self, subject: &Subject) -> Answer<i64> {
        if let Some(number) = self.number(subject)? {
            return Ok(number);
        }
        let number = self.reference(subject)?;
        self.numbers.borrow_mut().insert(subject.clone(), Some(number));
        Ok(number)
    }

    /// The number of somebody who is only named: nothing of theirs is read or written, so they are not locked.
    fn reference(&self, subject: &Subject) -> Answer<i64> {
        if let Some(Some(number)) = self.numbers.borrow().get(subject) {
            return Ok(*number);
        }
        let Subject { tenant, user, agent } = subject;
        let version = index::version();
        let add = Call::new(ADD).text(tenant).text(user).text(agent).text(&version);
        let find = Call::new(NUMBER).text(tenant).text(user).text(agent);
        let answers = self.dialogue.ask_all(Sight::Tenant(tenant), &[add, find])?;
        let row = answers.last().and_then(|rows| rows.first());
        get(row.ok_or_else(|| corrupt("a subject was made and is not there"))?, 0)
    }

    /// Where the rows of a subject lie; `None` where it has none.
    pub(super) fn shelf<'s>(&'s self, subject: &'s Subject) -> Answer<Option<Shelf<'s>>> {
        let number = self.number(subject)?;
        Ok(number.map(|number| Shelf::new(self.dialogue, &subject.tenant, number)))
    }

    fn new_shelf<'s>(&'s self, subject: &'s Subject) -> Answer<Shelf<'s>> {
        Ok(Shelf::new(self.dialogue, &subject.tenant, self.number_or_new(subject)?))
    }
}

/// A subject that stands in three columns.
pub(super) fn read_subject(row: &Row) -> Answer<Subject> {
    Ok(Subject { tenant: get(row, 0)?, user: get(row, 1)?, agent: get(row, 2)? })
}

impl Shelves for Sql<'_> {
    fn forgotten(&self, subject: &Subject, marks: &[String]) -> Answer<BTreeSet<String>> {
        // Locked before it is asked: who forgets must not come between the question and the write.
        self.number(subject)?;
        let call = Call::new(FORGOTTEN).text(&subject.tenant).with(&marks, Type::TEXT_ARRAY);
        let rows = self.dialogue.ask(Sight::Tenant(&subject.tenant), call)?;
        rows.iter().map(|row| get(row, 0)).collect()
    }

    fn hold(&self, subject: &Subject) -> Answer<()> {
        self.number(subject).map(drop)
    }

    fn forgotten_beside(&self, holder: &Subject, marks: &[String]) -> Answer<BTreeSet<String>> {
        if self.numbers.borrow().contains_key(holder) {
            return self.forgotten(holder, marks);
        }
        let name = lock_name(holder);
        let lock = Call::new(LOCK_BESIDE).text(&name);
        let asked = Call::new(FORGOTTEN).text(&holder.tenant).with(&marks, Type::TEXT_ARRAY);
        let answers = self.dialogue.ask_all(Sight::Tenant(&holder.tenant), &[lock, asked])?;
        answers.last().into_iter().flatten().map(|row| get(row, 0)).collect()
    }

    fn last_place(&self, scope: &Scope) -> Answer<Option<Place>> {
        match self.shelf(&scope.subject())? {
            Some(own) => events::last_place(&own, scope.session()),
            None => Ok(None),
        }
    }

    fn last_session(&self, subject: &Subject) -> Answer<u32> {
        self.shelf(subject)?.map_or(Ok(0), |own| events::last_session(&own))
    }

    fn put_events(&mut self, subject: &Subject, events: &[Event]) -> Answer<()> {
        let own = self.new_shelf(subject)?;
        events::put(&own, events)?;
        index::add(&own, events)
    }

    fn remove_events(&mut self, subject: &Subject, events: &[Event]) -> Answer<()> {
        let Some(own) = self.shelf(subject)? else { return Ok(()) };
        events::remove(&own, events)?;
        index::remove(&own, events)
    }

    fn named(&self, subject: &Subject, ids: &[&str]) -> Answer<BTreeMap<String, Event>> {
        self.shelf(subject)?.map_or(Ok(BTreeMap::new()), |own| events::named(&own, ids))
    }

    fn cited(&self, subject: &Subject, ids: &[&str]) -> Answer<BTreeMap<String, Seen>> {
        self.shelf(subject)?.map_or(Ok(BTreeMap::new()), |own| events::named(&own, ids))
    }

    fn events_at(&self, subject: &Subject, places: &[Place]) -> Answer<Vec<Event>> {
        self.shelf(subject)?.map_or(Ok(Vec::new()), |own| events::at(&own, places))
    }

    fn events(&self, subject: &Subject) -> Answer<Vec<Event>> {
        self.shelf(subject)?.map_or(Ok(Vec::new()), |own| events::behind(&own, None, usize::MAX))
    }

    fn expiring(&self, subject: &Subject) -> Answer<Vec<Event>> {
        self.shelf(subject)?.map_or(Ok(Vec::new()), |own| events::expiring(&own))
    }

    fn window(&self, scope: &Scope, limit: usize) -> Answer<Vec<Event>> {
        match self.shelf(&scope.subject())? {
            Some(own) => events::window(&own, scope.session(), limit),
            None => Ok(Vec::new()),
        }
    }

    fn ranked(&self, subject: &Subject, query: &Query, limit: usize) -> Answer<Ranked> {
        self.shelf(subject)?.map_or(Ok(Ranked::default()), |own| index::ranked(&own, query, limit))
    }

    fn nearest(&self, subject: &Subject, vector: &Vector, newest: usize) -> Answer<Near> {
        self.shelf(subject)?
            .map_or(Ok(Near::default()), |own| vectors::nearest(&own, vector, newest))
    }

    fn dimensions(&self, subject: &Subject, embedder: &str) -> Answer<Option<usize>> {
        self.shelf(subject)?.map_or(Ok(None), |own| vectors::dimensions(&own, embedder))
    }

    fn unembedded(
        &self,
        subject: &Subject,
        embedder: &str,
        among: usize,
        limit: usize,
    ) -> Answer<Unembedded> {
        self.shelf(subject)?
            .map_or(Ok(Unembedded::default()), |own| vectors::missing(&own, embedder, among, limit))
    }

    fn put_vectors(&mut self, subject: &Subject, vectors: &[(Place, &Vector)]) -> Answer<()> {
        self.shelf(subject)?.map_or(Ok(()), |own| vectors::put(&own, vectors))
    }

    fn fact(&self, holder: &Subject, id: &str, revision: Option<u32>) -> Answer<Option<Standing>> {
        self.shelf(holder)?.map_or(Ok(None), |own| facts::one(&own, &holder.tenant, id, revision))
    }

    fn facts(&self, holder: &Subject, which: Which<'_>) -> Answer<Vec<Standing>> {
        self.shelf(holder)?.map_or(Ok(Vec::new()), |own| facts::some(&own, &holder.tenant, which))
    }

    fn put_fact(&mut self, holder: &Subject, standing: &Standing) -> Answer<()> {
        let own = self.new_shelf(holder)?;
        let claimed_by = self.reference(&standing.by)?;
        let sources = standing.sources.iter().map(|source| self.reference(source));
        facts::put(&own, standing, claimed_by, &sources.collect::<Answer<Vec<i64>>>()?)
    }

    fn unname(&mut self, holder: &Subject, ids: &[&str]) -> Answer<()> {
        let Some(own) = self.shelf(holder)? else { return Ok(()) };
        facts::unname(&own, ids)?;
        builds::unname(&own, holder, ids)
    }

    fn row<R: Revised>(
        &self,
        subject: &Subject,
        id: &str,
        revision: Option<u64>,
    ) -> Answer<Option<R>> {
        self.shelf(subject)?.map_or(Ok(None), |own| rows::one(&own, id, revision))
    }

    fn rows<R: Revised>(&self, subject: &Subject, limit: usize) -> Answer<Vec<(String, R)>> {
        self.shelf(subject)?.map_or(Ok(Vec::new()), |own| rows::latest(&own, limit))
    }

    fn rows_with<R: Revised>(
        &self,
        subject: &Subject,
        text: &str,
        skip: usize,
        limit: usize,
    ) -> Answer<Vec<(String, R)>> {
        let own = self.shelf(subject)?;
        own.map_or(Ok(Vec::new()), |own| rows::latest_with(&own, text, skip, limit))
    }

    fn put_row<R: Revised>(&mut self, subject: &Subject, id: &str, row: &R) -> Answer<()> {
        rows::put(&self.new_shelf(subject)?, id, row)
    }

    fn remove_row<R: Revised>(&mut self, subject: &Subject, id: &str) -> Answer<()> {
        self.shelf(subject)?.map_or(Ok(()), |own| rows::remove::<R>(&own, id))
    }

    fn put_build(&mut self, subject: &Subject, build: &Build) -> Answer<()> {
        builds::put(&self.new_shelf(subject)?, build)
    }

    fn build(&self, subject: &Subject, id: &str) -> Answer<Option<Build>> {
        self.shelf(subject)?.map_or(Ok(None), |own| builds::one(&own, id))
    }

    fn earlier_builds(
        &self,
        subject: &Subject,
        build: &Build,
        limit: usize,
    ) -> Answer<Vec<String>> {
        self.shelf(subject)?.map_or(Ok(Vec::new()), |own| builds::earlier(&own, build, limit))
    }

    fn selected(&self, subject: &Subject) -> Answer<BTreeSet<(RowKind, String)>> {
        self.shelf(subject)?.map_or(Ok(BTreeSet::new()), |own| builds::selected(&own))
    }

    fn used(&self, subject: &Subject, ids: &[&str]) -> Answer<BTreeSet<String>> {
        self.shelf(subject)?.map_or(Ok(BTreeSet::new()), |own| builds::used(&own, ids))
    }
}
