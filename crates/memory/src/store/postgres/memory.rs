//! The database's face: every question is one view, every write one transaction.

use std::sync::Arc;

use countersign_core::run::Time;
use countersign_postgres::{Outage, Server};
use countersign_store::{
    PostgresDatabase, PostgresSchema, PostgresSettings, PostgresStep, Purpose, StoreError,
};
use tokio::sync::OnceCell;

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

/// The tables of memory, in the schema of the runs and with a ledger of their own.
const SCHEMA: PostgresSchema = PostgresSchema {
    name: "countersign",
    ledger: "memory_migrations",
    steps: &[PostgresStep {
        number: 1,
        name: "memory",
        serves: 1,
        sql: include_str!("migrations/0001_memory.sql"),
    }],
};

/// Which tables this role may have swept.
const OURS: &str = "SELECT relname::text FROM pg_class
    WHERE relnamespace = to_regnamespace('countersign') AND relkind = 'r'
        AND pg_has_role(relowner, 'USAGE')";

/// Keeps memory in a `PostgreSQL` database, beside the runs or alone.
///
/// Any number of programs on any number of machines may use one. What is used of it must be inside a tokio
/// runtime.
#[derive(Debug)]
pub struct PostgresMemory {
    database: Arc<PostgresDatabase>,
    /// Set once every index was looked at.
    indexed: OnceCell<()>,
}

impl PostgresMemory {
    /// A memory on a server. Nothing is reached before it is asked, and its schema is brought forward
    /// before the first answer.
    #[must_use]
    pub fn new(server: Server, settings: PostgresSettings) -> Self {
        let database = Arc::new(PostgresDatabase::new(server, settings, SCHEMA));
        Self { database, indexed: OnceCell::new() }
    }

    /// The same, reached and brought forward.
    pub async fn open(server: Server, settings: PostgresSettings) -> Result<Self, MemoryError> {
        let memory = Self::new(server, settings);
        memory.ready().await?;
        Ok(memory)
    }

    /// The server behind it.
    #[must_use]
    pub fn server(&self) -> &Server {
        self.database.server()
    }

    /// Brings the schema forward, and makes anew what was indexed by other rules.
    async fn ready(&self) -> Answer<()> {
        let bring = || async {
            let others = self.done(Purpose::Look, |shelves| reindex::others(shelves)).await?;
            for subject in others {
                let anew = move |shelves: &mut Sql<'_>| reindex::anew(shelves, &subject);
                self.done(Purpose::Change, anew).await?;
            }
            Ok(())
        };
        self.indexed.get_or_try_init(bring).await.copied()
    }

    async fn done<T: Send + 'static>(
        &self,
        purpose: Purpose,
        work: impl Fn(&mut Sql<'_>) -> Answer<T> + Send + Sync + 'static,
    ) -> Answer<T> {
        let work =
            self.database.converse(purpose, move |dialogue| work(&mut Sql::new(dialogue, purpose)));
        work.await
    }

    fn work<T: Send + 'static>(
        &self,
        purpose: Purpose,
        work: impl Fn(&mut Sql<'_>) -> Answer<T> + Send + Sync + 'static,
    ) -> Reply<'_, T> {
        Box::pin(async move {
            self.ready().await?;
            self.done(purpose, work).await
        })
    }

    fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Sql<'_>) -> Answer<T> + Send + Sync + 'static,
    ) -> Reply<'_, T> {
        self.work(Purpose::Change, work)
    }

    fn read<T: Send + 'static>(
        &self,
        question: impl Fn(&Sql<'_>) -> Answer<T> + Send + Sync + 'static,
    ) -> Reply<'_, T> {
        self.work(Purpose::Look, move |shelves| question(shelves))
    }

    /// Has the server take out what was deleted, from the tables and from their indexes. Where the role may not,
    /// the server does it by itself, some time later.
    async fn sweep(&self) -> Answer<()> {
        // A connection of its own: this takes as long as the tables are large.
        let client = self.server().connect().await.map_err(StoreError::from)?;
        let unavailable = |error: tokio_postgres::Error| StoreError::from(Outage::of(&error));
        let rows = client.query_typed(OURS, &[]).await.map_err(unavailable)?;
        let ours: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        for table in forget::tables().map(|table| format!("memory_{table}")) {
            if ours.contains(&table) {
                // The server passes over indexes where few rows are gone, and those hold ids and words.
                let sweep = format!("VACUUM (INDEX_CLEANUP on) countersign.{table}");
                client.batch_execute(&sweep).await.map_err(unavailable)?;
            }
        }
        Ok(())
    }
}

impl Memory for PostgresMemory {
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
        self.work(Purpose::Rehearse, move |shelves| forget::forget(shelves, &whom, Time::default()))
    }

    fn forget(&self, whom: Whom, now: Time) -> Reply<'_, Erased> {
        Box::pin(async move {
            let erased = self.write(move |shelves| forget::forget(shelves, &whom, now)).await?;
            // Also where there was nothing: a crash may have come between the two.
            self.sweep().await?;
            Ok(erased)
        })
    }

    fn traces(&self, needles: Vec<Vec<u8>>) -> Reply<'_, Vec<Trace>> {
        self.read(move |shelves| traces::traces(shelves, &needles))
    }

    fn misplaced(&self) -> Reply<'_, Vec<Misplaced>> {
        self.read(misplaced::misplaced)
    }

    fn expire(&self, now: Time) -> Reply<'_, Swept> {
        Box::pin(async move {
            let mut swept = Swept::default();
            // Each by itself: whoever remembers meanwhile waits for one subject and not for all.
            for subject in self.read(|shelves| shelves.subjects()).await? {
                let one = self.write(move |shelves| sweep::expire_of(shelves, &subject, now));
                swept.add(one.await?);
            }
            Ok(swept)
        })
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
const LINES_AT_ONCE: usize = 200;

async fn import(
    memory: &PostgresMemory,
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
        let sums = SCHEMA.steps.iter().map(|step| sha256(&[step.sql.as_bytes()]));
        assert_eq!(
            sums.collect::<Vec<_>>(),
            ["f11cc4ce6bd6eb4e565bddfae77fef41cca74f8ca5cbb947d91e847c4de1591a"]
        );
    }
}
