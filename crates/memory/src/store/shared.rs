//! The one face of every store of shelves: which question or work each method of [`Memory`] is. What a store
//! cannot leave to the shelves it does itself.

use countersign_core::run::Time;

use super::memory::{Memory, Reply};
use super::shelves::{Answer, Shelves};
use super::{
    Audit, Build, Erased, Imported, Kept, Limits, Line, Misplaced, NewEvent, Provenance, Sweep,
    Swept, Trace, Unembedded, Whom, ageing, audit, candidates, carry, find, material, replay,
    session, sweep, vectors, write,
};
use crate::policy::Ageing;
use crate::record::{Candidate, Claim, Event, Origin, Summary, Working};
use crate::rules::{Aged, Assurance, Refusal};
use crate::summarize::Material;
use crate::{Found, Request, Scope, Scored, Subject, Vector};

/// Shelves that many may reach: a question is one view of them, and work is one commit.
pub(super) trait Shared: Send + Sync {
    /// As long as a view or a commit lasts.
    type Shelves<'s>: Shelves;

    /// So many lines of an import share a commit.
    const LINES_AT_ONCE: usize;

    /// Asks a question, perhaps more than once where the connection is lost.
    fn read<T: Send + 'static>(
        &self,
        question: impl for<'s> Fn(&Self::Shelves<'s>) -> Answer<T> + Send + Sync + 'static,
    ) -> Reply<'_, T>;

    /// Does work, perhaps more than once where the commit was not kept.
    fn write<T: Send + 'static>(
        &self,
        work: impl for<'s> Fn(&mut Self::Shelves<'s>) -> Answer<T> + Send + Sync + 'static,
    ) -> Reply<'_, T>;

    /// See [`Memory::check_ready`].
    fn check_ready(&self) -> Reply<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// See [`Memory::would_forget`].
    fn would_forget(&self, whom: Whom) -> Reply<'_, Erased>;

    /// See [`Memory::forget`].
    fn forget(&self, whom: Whom, now: Time) -> Reply<'_, Erased>;

    /// See [`Memory::traces`].
    fn traces(&self, needles: Vec<Vec<u8>>) -> Reply<'_, Vec<Trace>>;

    /// See [`Memory::misplaced`].
    fn misplaced(&self) -> Reply<'_, Vec<Misplaced>>;
}

impl<M: Shared> Memory for M {
    fn check_ready(&self) -> Reply<'_, ()> {
        Shared::check_ready(self)
    }

    fn remember(&self, events: Vec<NewEvent>) -> Reply<'_, Vec<Event>> {
        self.write(move |shelves| write::remember(shelves, &events))
    }

    fn keep<'a>(
        &'a self,
        scope: &'a Scope,
        claim: Claim,
        origin: Origin,
        assurance: Assurance,
        now: Time,
    ) -> Reply<'a, Kept> {
        let scope = scope.clone();
        self.write(move |shelves| write::keep(shelves, &scope, &claim, origin, assurance, now))
    }

    fn learn<'a>(
        &'a self,
        scope: &'a Scope,
        insight: &'a str,
        claim: Claim,
        origin: Origin,
        now: Time,
    ) -> Reply<'a, Kept> {
        let (scope, insight) = (scope.clone(), insight.to_owned());
        self.write(move |shelves| write::learn(shelves, &scope, &insight, &claim, origin, now))
    }

    fn write_working<'a>(
        &'a self,
        scope: &'a Scope,
        expected: u64,
        working: Working,
    ) -> Reply<'a, u64> {
        let scope = scope.clone();
        self.write(move |shelves| write::write_working(shelves, &scope, expected, &working))
    }

    fn write_summary<'a>(&'a self, scope: &'a Scope, summary: Summary) -> Reply<'a, u32> {
        let scope = scope.clone();
        self.write(move |shelves| write::write_summary(shelves, &scope, &summary))
    }

    fn material<'a>(&'a self, scope: &'a Scope, now: Time) -> Reply<'a, Material> {
        let scope = scope.clone();
        self.read(move |shelves| material::material(shelves, &scope, now))
    }

    fn propose<'a>(&'a self, scope: &'a Scope, candidate: Candidate) -> Reply<'a, ()> {
        let scope = scope.clone();
        self.write(move |shelves| candidates::propose(shelves, &scope, &candidate))
    }

    fn promote<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a str,
        assurance: Assurance,
        now: Time,
    ) -> Reply<'a, Result<Kept, Refusal>> {
        let (scope, id) = (scope.clone(), id.to_owned());
        self.write(move |shelves| candidates::promote(shelves, &scope, &id, assurance, now))
    }

    fn refuse<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a str,
        reason: &'a str,
        now: Time,
    ) -> Reply<'a, ()> {
        let (scope, id, reason) = (scope.clone(), id.to_owned(), reason.to_owned());
        self.write(move |shelves| candidates::refuse(shelves, &scope, &id, &reason, now))
    }

    fn candidates<'a>(&'a self, subject: &'a Subject, limit: usize) -> Reply<'a, Vec<Candidate>> {
        let subject = subject.clone();
        self.read(move |shelves| {
            Ok(shelves.rows(&subject, limit)?.into_iter().map(|(_, row)| row).collect())
        })
    }

    fn found<'a>(&'a self, request: &'a Request, limits: Limits) -> Reply<'a, Found> {
        let request = request.clone();
        self.read(move |shelves| find::found(shelves, &request, limits))
    }

    fn session<'a>(
        &'a self,
        scope: &'a Scope,
        after: u32,
        limit: usize,
        now: Time,
    ) -> Reply<'a, Vec<Event>> {
        let scope = scope.clone();
        self.read(move |shelves| session::session(shelves, &scope, after, limit, now))
    }

    fn working<'a>(&'a self, scope: &'a Scope) -> Reply<'a, Option<Working>> {
        let scope = scope.clone();
        self.read(move |shelves| find::working(shelves, &scope))
    }

    fn last_of_run<'a>(&'a self, scope: &'a Scope) -> Reply<'a, Option<Event>> {
        let scope = scope.clone();
        self.read(move |shelves| find::last_of_run(shelves, &scope))
    }

    fn search<'a>(&'a self, request: &'a Request, limit: usize) -> Reply<'a, Vec<Scored<Event>>> {
        let request = request.clone();
        self.read(move |shelves| find::search(shelves, &request, limit))
    }

    fn unembedded<'a>(
        &'a self,
        subject: &'a Subject,
        embedder: &'a str,
        among: usize,
        limit: usize,
    ) -> Reply<'a, Unembedded> {
        let (subject, embedder) = (subject.clone(), embedder.to_owned());
        self.read(move |shelves| vectors::unembedded(shelves, &subject, &embedder, among, limit))
    }

    fn keep_vectors<'a>(
        &'a self,
        subject: &'a Subject,
        vectors: Vec<(String, Vector)>,
    ) -> Reply<'a, u64> {
        let subject = subject.clone();
        self.write(move |shelves| vectors::keep(shelves, &subject, &vectors))
    }

    fn keep_build(&self, build: Build) -> Reply<'_, ()> {
        self.write(move |shelves| replay::keep_build(shelves, &build))
    }

    fn build<'a>(&'a self, subject: &'a Subject, id: &'a str) -> Reply<'a, Option<(Build, Found)>> {
        let (subject, id) = (subject.clone(), id.to_owned());
        self.read(move |shelves| replay::found_for(shelves, &subject, &id))
    }

    fn build_before<'a>(&'a self, subject: &'a Subject, id: &'a str) -> Reply<'a, Option<String>> {
        let (subject, id) = (subject.clone(), id.to_owned());
        self.read(move |shelves| replay::before(shelves, &subject, &id))
    }

    fn would_forget(&self, whom: Whom) -> Reply<'_, Erased> {
        Shared::would_forget(self, whom)
    }

    fn forget(&self, whom: Whom, now: Time) -> Reply<'_, Erased> {
        Shared::forget(self, whom, now)
    }

    fn traces(&self, needles: Vec<Vec<u8>>) -> Reply<'_, Vec<Trace>> {
        Shared::traces(self, needles)
    }

    fn misplaced(&self) -> Reply<'_, Vec<Misplaced>> {
        Shared::misplaced(self)
    }

    fn would_sweep<'a>(&'a self, scope: &'a Scope, sweep: Sweep, now: Time) -> Reply<'a, Swept> {
        let scope = scope.clone();
        self.read(move |shelves| sweep::would_sweep(shelves, &scope, sweep, now))
    }

    fn sweep<'a>(&'a self, scope: &'a Scope, sweep: Sweep, now: Time) -> Reply<'a, Swept> {
        Box::pin(async move {
            // Nearly always nothing is over, and nobody who writes waits for that.
            let would = self.would_sweep(scope, sweep, now).await?;
            if would.events + would.insights == 0 {
                return Ok(would);
            }
            let scope = scope.clone();
            self.write(move |shelves| sweep::sweep(shelves, &scope, sweep, now)).await
        })
    }

    fn would_age<'a>(
        &'a self,
        subject: &'a Subject,
        ageing: Ageing,
        now: Time,
    ) -> Reply<'a, Vec<Aged>> {
        let subject = subject.clone();
        self.read(move |shelves| Ok(ageing::ages(shelves, &subject, ageing, now)?.aged))
    }

    fn age<'a>(&'a self, subject: &'a Subject, ageing: Ageing, now: Time) -> Reply<'a, Vec<Aged>> {
        let subject = subject.clone();
        self.write(move |shelves| ageing::age(shelves, &subject, ageing, now))
    }

    fn audit<'a>(&'a self, subject: &'a Subject, now: Time) -> Reply<'a, Audit> {
        let subject = subject.clone();
        self.read(move |shelves| audit::audit(shelves, &subject, now))
    }

    fn export<'a>(&'a self, subject: &'a Subject) -> Reply<'a, Vec<Line>> {
        let subject = subject.clone();
        self.read(move |shelves| carry::export(shelves, &subject))
    }

    fn import(&self, lines: Vec<Line>, provenance: Provenance, now: Time) -> Reply<'_, Imported> {
        Box::pin(async move { import(self, lines, provenance, now).await })
    }
}

async fn import<M: Shared>(
    memory: &M,
    lines: Vec<Line>,
    provenance: Provenance,
    now: Time,
) -> Answer<Imported> {
    let mut imported = Imported::default();
    for (number, some) in (0_u64..).zip(lines.chunks(M::LINES_AT_ONCE)) {
        let (some, before) = (some.to_vec(), number * M::LINES_AT_ONCE as u64);
        let part = memory.write(move |shelves| carry::import(shelves, &some, provenance, now));
        let part = part.await?;
        imported.kept += part.kept;
        let refused = part.refused.into_iter().map(|(line, why)| (before + line, why));
        imported.refused.extend(refused);
    }
    Ok(imported)
}
