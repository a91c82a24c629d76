//! The file's face: every question is one view, every write one commit.

use std::path::Path;

use countersign_core::run::Time;
use countersign_store::{Migration, Schema, Settings, SqliteFile, StoreError};
use rusqlite::Connection;

use super::super::memory::{Memory, Reply};
use super::super::shelves::{Answer, Shelves as _};
use super::super::{
    Audit, Build, Erased, Imported, Kept, Limits, Line, MemoryError, Misplaced, NewEvent,
    Provenance, Swept, Trace, Unembedded, Whom,
};
use super::super::{
    ageing, audit, candidates, carry, find, material, replay, session, sweep, vectors, write,
};
use super::shelves::Sql;
use super::{forget, misplaced, reindex, traces};
use crate::policy::Ageing;
use crate::record::{Candidate, Claim, Event, Origin, Summary, Working};
use crate::rules::{Aged, Assurance, Refusal};
use crate::summarize::Material;
use crate::{Found, Request, Scope, Scored, Subject, Vector};

/// The files that memory is kept in.
const SCHEMA: Schema = Schema {
    application_id: 0x434E_544D,
    migrations: &[
        Migration { number: 1, name: "memory", sql: include_str!("migrations/0001_memory.sql") },
        Migration { number: 2, name: "growth", sql: include_str!("migrations/0002_growth.sql") },
        Migration { number: 3, name: "vectors", sql: include_str!("migrations/0003_vectors.sql") },
    ],
};

/// Keeps memory in one `SQLite` file.
///
/// Several processes may have the file open. Dropping it finishes what is queued and closes the file.
#[derive(Debug)]
pub struct SqliteMemory {
    file: SqliteFile,
}

impl SqliteMemory {
    /// Opens a file, makes it where there is none, and brings its schema forward.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, MemoryError> {
        Self::open_with(path, Settings::default())
    }

    /// Opens a file in another way than the usual one. What is deleted is overwritten whatever the
    /// settings say.
    pub fn open_with(path: impl AsRef<Path>, mut settings: Settings) -> Result<Self, MemoryError> {
        settings.secure_delete = true;
        Ok(Self { file: SqliteFile::open_prepared(path, settings, SCHEMA, reindex::bring)? })
    }

    fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Sql<'_>) -> Answer<T> + Send + 'static,
    ) -> Reply<'_, T> {
        Box::pin(async move { self.file.write(move |db| refusable(db, &work)).await? })
    }

    fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Sql<'_>) -> Answer<T> + Send + 'static,
    ) -> Reply<'_, T> {
        Box::pin(async move { self.file.read(move |db| Ok(question(&Sql::new(db)))).await? })
    }
}

/// Does work that may be refused. Whatever is refused was refused before anything was put, so that the
/// commit need not be undone for it.
fn refusable<T>(
    db: &Connection,
    work: impl Fn(&mut Sql<'_>) -> Answer<T>,
) -> Result<Answer<T>, StoreError> {
    let before = db.total_changes();
    match work(&mut Sql::new(db)) {
        Err(MemoryError::Store(error)) => Err(error),
        Err(refused) if db.total_changes() != before => {
            Err(StoreError::Corrupt { what: format!("a refusal came too late: {refused}") })
        }
        other => Ok(other),
    }
}

impl Memory for SqliteMemory {
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
        // Done and undone, so that what is told is what will be done.
        self.write(move |shelves| {
            shelves.db.execute_batch("SAVEPOINT would_forget")?;
            let erased = forget::forget(shelves, &whom, Time::default());
            shelves.db.execute_batch("ROLLBACK TO would_forget; RELEASE would_forget")?;
            erased
        })
    }

    fn forget(&self, whom: Whom, now: Time) -> Reply<'_, Erased> {
        Box::pin(async move {
            let erased = self.write(move |shelves| forget::forget(shelves, &whom, now)).await?;
            // Also where there was nothing: a crash may have come between the two.
            self.file.rebuild().await?;
            Ok(erased)
        })
    }

    fn traces(&self, needles: Vec<Vec<u8>>) -> Reply<'_, Vec<Trace>> {
        let path = self.file.path().to_owned();
        self.read(move |_| traces::traces(&path, &needles))
    }

    fn misplaced(&self) -> Reply<'_, Vec<Misplaced>> {
        self.read(misplaced::misplaced)
    }

    fn expire(&self, now: Time) -> Reply<'_, Swept> {
        self.write(move |shelves| sweep::expire(shelves, now))
    }

    fn end_run<'a>(&'a self, scope: &'a Scope) -> Reply<'a, Swept> {
        let scope = scope.clone();
        self.write(move |shelves| sweep::end_run(shelves, &scope))
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

/// So many lines share a commit.
const LINES_AT_ONCE: usize = 1000;

async fn import(
    memory: &SqliteMemory,
    lines: Vec<Line>,
    provenance: Provenance,
    now: Time,
) -> Answer<Imported> {
    let mut imported = Imported::default();
    for (number, some) in (0_u64..).zip(lines.chunks(LINES_AT_ONCE)) {
        let (some, before) = (some.to_vec(), number * LINES_AT_ONCE as u64);
        let part = memory.write(move |shelves| carry::import(shelves, &some, provenance, now));
        let part = part.await?;
        imported.kept += part.kept;
        let refused = part.refused.into_iter().map(|(line, why)| (before + line, why));
        imported.refused.extend(refused);
    }
    Ok(imported)
}

#[cfg(test)]
mod tests {
    use countersign_core::json::sha256;

    use super::*;

    /// A step that was released is never written anew: another one is added behind it.
    #[test]
    fn released_steps_do_not_change() {
        let sums = SCHEMA.migrations.iter().map(|step| sha256(&[step.sql.as_bytes()]));
        assert_eq!(
            sums.collect::<Vec<_>>(),
            [
                "7fac0d7a64053c597dce0dc4a57c73a89545b958198d48b85824c1dd3aa01123",
                "a4458480647c5d2d099aa1bf8d84632453c90928acaef733f732b7b75dffc5bb",
                "928bb9fc8950e1c8eeef1f10a7a0bd2402bbb36e949da6ed05ca553adfe37b96"
            ]
        );
    }
}
