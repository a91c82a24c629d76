//! The reference's face: one lock round its state.

use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_core::run::Time;

use super::super::memory::{Memory, Reply};
use super::super::shelves::{Answer, Shelves as _};
use super::super::{
    Audit, Build, Erased, Imported, Kept, Limits, Line, Misplaced, NewEvent, Provenance, Swept,
    Trace, Unembedded, Whom,
};
use super::super::{
    ageing, audit, candidates, carry, find, material, replay, session, sweep, vectors, write,
};
use super::state::State;
use crate::policy::Ageing;
use crate::record::{Candidate, Claim, Event, Origin, Summary, Working};
use crate::rules::{Aged, Assurance, Refusal};
use crate::summarize::Material;
use crate::{Found, Request, Scope, Scored, Subject, Vector};

/// Keeps memory as long as it lives.
#[derive(Debug, Default)]
pub struct InMemory {
    state: Mutex<State>,
}

impl InMemory {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<'a, T: Send + 'a>(
        &'a self,
        work: impl FnOnce(&mut State) -> Answer<T> + Send + 'a,
    ) -> Reply<'a, T> {
        Box::pin(async move { work(&mut self.lock()) })
    }
}

impl Memory for InMemory {
    fn remember(&self, events: Vec<NewEvent>) -> Reply<'_, Vec<Event>> {
        self.with(move |state| write::remember(state, &events))
    }

    fn keep<'a>(
        &'a self,
        scope: &'a Scope,
        claim: Claim,
        origin: Origin,
        assurance: Assurance,
        now: Time,
    ) -> Reply<'a, Kept> {
        self.with(move |state| write::keep(state, scope, &claim, origin, assurance, now))
    }

    fn learn<'a>(
        &'a self,
        scope: &'a Scope,
        insight: &'a str,
        claim: Claim,
        origin: Origin,
        now: Time,
    ) -> Reply<'a, Kept> {
        self.with(move |state| write::learn(state, scope, insight, &claim, origin, now))
    }

    fn write_working<'a>(
        &'a self,
        scope: &'a Scope,
        expected: u64,
        working: Working,
    ) -> Reply<'a, u64> {
        self.with(move |state| write::write_working(state, scope, expected, &working))
    }

    fn write_summary<'a>(&'a self, scope: &'a Scope, summary: Summary) -> Reply<'a, u32> {
        self.with(move |state| write::write_summary(state, scope, &summary))
    }

    fn material<'a>(&'a self, scope: &'a Scope, now: Time) -> Reply<'a, Material> {
        self.with(move |state| material::material(state, scope, now))
    }

    fn propose<'a>(&'a self, scope: &'a Scope, candidate: Candidate) -> Reply<'a, ()> {
        self.with(move |state| candidates::propose(state, scope, &candidate))
    }

    fn promote<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a str,
        assurance: Assurance,
        now: Time,
    ) -> Reply<'a, Result<Kept, Refusal>> {
        self.with(move |state| candidates::promote(state, scope, id, assurance, now))
    }

    fn refuse<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a str,
        reason: &'a str,
        now: Time,
    ) -> Reply<'a, ()> {
        self.with(move |state| candidates::refuse(state, scope, id, reason, now))
    }

    fn candidates<'a>(&'a self, subject: &'a Subject, limit: usize) -> Reply<'a, Vec<Candidate>> {
        self.with(move |state| {
            Ok(state.rows(subject, limit)?.into_iter().map(|(_, row)| row).collect())
        })
    }

    fn found<'a>(&'a self, request: &'a Request, limits: Limits) -> Reply<'a, Found> {
        self.with(move |state| find::found(state, request, limits))
    }

    fn session<'a>(
        &'a self,
        scope: &'a Scope,
        after: u32,
        limit: usize,
        now: Time,
    ) -> Reply<'a, Vec<Event>> {
        self.with(move |state| session::session(state, scope, after, limit, now))
    }

    fn working<'a>(&'a self, scope: &'a Scope) -> Reply<'a, Option<Working>> {
        self.with(move |state| find::working(state, scope))
    }

    fn last_of_run<'a>(&'a self, scope: &'a Scope) -> Reply<'a, Option<Event>> {
        self.with(move |state| find::last_of_run(state, scope))
    }

    fn search<'a>(&'a self, request: &'a Request, limit: usize) -> Reply<'a, Vec<Scored<Event>>> {
        self.with(move |state| find::search(state, request, limit))
    }

    fn unembedded<'a>(
        &'a self,
        subject: &'a Subject,
        embedder: &'a str,
        among: usize,
        limit: usize,
    ) -> Reply<'a, Unembedded> {
        self.with(move |state| vectors::unembedded(state, subject, embedder, among, limit))
    }

    fn keep_vectors<'a>(
        &'a self,
        subject: &'a Subject,
        vectors: Vec<(String, Vector)>,
    ) -> Reply<'a, u64> {
        self.with(move |state| vectors::keep(state, subject, &vectors))
    }

    fn keep_build(&self, build: Build) -> Reply<'_, ()> {
        self.with(move |state| replay::keep_build(state, &build))
    }

    fn build<'a>(&'a self, subject: &'a Subject, id: &'a str) -> Reply<'a, Option<(Build, Found)>> {
        self.with(move |state| replay::found_for(state, subject, id))
    }

    fn build_before<'a>(&'a self, subject: &'a Subject, id: &'a str) -> Reply<'a, Option<String>> {
        self.with(move |state| replay::before(state, subject, id))
    }

    fn would_forget(&self, whom: Whom) -> Reply<'_, Erased> {
        self.with(move |state| state.clone().forget(&whom))
    }

    fn forget(&self, whom: Whom, _now: Time) -> Reply<'_, Erased> {
        self.with(move |state| state.forget(&whom))
    }

    fn traces(&self, needles: Vec<Vec<u8>>) -> Reply<'_, Vec<Trace>> {
        self.with(move |state| Ok(state.traces(&needles)))
    }

    fn misplaced(&self) -> Reply<'_, Vec<Misplaced>> {
        self.with(move |state| Ok(state.misplaced()))
    }

    fn expire(&self, now: Time) -> Reply<'_, Swept> {
        self.with(move |state| sweep::expire(state, now))
    }

    fn end_run<'a>(&'a self, scope: &'a Scope) -> Reply<'a, Swept> {
        self.with(move |state| sweep::end_run(state, scope))
    }

    fn would_age<'a>(
        &'a self,
        subject: &'a Subject,
        ageing: Ageing,
        now: Time,
    ) -> Reply<'a, Vec<Aged>> {
        self.with(move |state| Ok(ageing::ages(state, subject, ageing, now)?.aged))
    }

    fn age<'a>(&'a self, subject: &'a Subject, ageing: Ageing, now: Time) -> Reply<'a, Vec<Aged>> {
        self.with(move |state| ageing::age(state, subject, ageing, now))
    }

    fn audit<'a>(&'a self, subject: &'a Subject, now: Time) -> Reply<'a, Audit> {
        self.with(move |state| audit::audit(state, subject, now))
    }

    fn export<'a>(&'a self, subject: &'a Subject) -> Reply<'a, Vec<Line>> {
        self.with(move |state| carry::export(state, subject))
    }

    fn import(&self, lines: Vec<Line>, provenance: Provenance, now: Time) -> Reply<'_, Imported> {
        self.with(move |state| carry::import(state, &lines, provenance, now))
    }
}
