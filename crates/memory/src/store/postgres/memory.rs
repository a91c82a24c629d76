//! The database's face: every question is one view, every write one transaction.

use std::sync::Arc;

use countersign_core::run::Time;
use countersign_postgres::{Outage, Server};
use countersign_store::{
    PostgresDatabase, PostgresSchema, PostgresSettings, PostgresStep, Purpose, StoreError,
};
use tokio::sync::OnceCell;

use super::super::memory::Reply;
use super::super::shared::Shared;
use super::super::shelves::Answer;
use super::super::{Erased, MemoryError, Misplaced, Trace, Whom};
use super::shelves::Sql;
use super::{forget, misplaced, reindex, traces};

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

    /// Has the server take out what was deleted, from the tables and from their indexes. Where the role may not,
    /// the server does it by itself, some time later.
    async fn vacuum(&self) -> Answer<()> {
        // A connection of its own: this takes as long as the tables are large.
        let client = self.server().connect().await.map_err(StoreError::from)?;
        let unavailable = |error: tokio_postgres::Error| StoreError::from(Outage::of(&error));
        let rows = client.query_typed(OURS, &[]).await.map_err(unavailable)?;
        let ours: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        for table in forget::tables().map(|table| format!("memory_{table}")) {
            if ours.contains(&table) {
                // The server passes over indexes where few rows are gone, and those hold ids and words.
                let vacuum = format!("VACUUM (INDEX_CLEANUP on) countersign.{table}");
                client.batch_execute(&vacuum).await.map_err(unavailable)?;
            }
        }
        Ok(())
    }
}

impl Shared for PostgresMemory {
    type Shelves<'s> = Sql<'s>;

    const LINES_AT_ONCE: usize = 200;

    fn write<T: Send + 'static>(
        &self,
        work: impl for<'s> Fn(&mut Sql<'s>) -> Answer<T> + Send + Sync + 'static,
    ) -> Reply<'_, T> {
        self.work(Purpose::Change, work)
    }

    fn read<T: Send + 'static>(
        &self,
        question: impl for<'s> Fn(&Sql<'s>) -> Answer<T> + Send + Sync + 'static,
    ) -> Reply<'_, T> {
        self.work(Purpose::Look, move |shelves| question(shelves))
    }

    fn would_forget(&self, whom: Whom) -> Reply<'_, Erased> {
        // Done and undone, so that what is told is what will be done.
        self.work(Purpose::Rehearse, move |shelves| forget::forget(shelves, &whom, Time::default()))
    }

    fn forget(&self, whom: Whom, now: Time) -> Reply<'_, Erased> {
        Box::pin(async move {
            let erased = self.write(move |shelves| forget::forget(shelves, &whom, now)).await?;
            // Also where there was nothing: a crash may have come between the two.
            self.vacuum().await?;
            Ok(erased)
        })
    }

    fn traces(&self, needles: Vec<Vec<u8>>) -> Reply<'_, Vec<Trace>> {
        self.read(move |shelves| traces::traces(shelves, &needles))
    }

    fn misplaced(&self) -> Reply<'_, Vec<Misplaced>> {
        self.read(misplaced::misplaced)
    }
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
