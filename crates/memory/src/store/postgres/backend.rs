//! The database's face: every question is one view, every write one transaction.

use std::sync::Arc;

use countersign_core::run::Timestamp;
use countersign_postgres::{PgError, PgServer};
use countersign_store::{
    PgTransactionMode, PostgresDatabase, PostgresMigration, PostgresSchema, PostgresSettings,
    StoreError,
};
use tokio::sync::OnceCell;

use super::super::memory::MemoryFuture;
use super::super::row_store::MemoryResult;
use super::super::transactional_store::TransactionalStore;
use super::super::{EraseReport, EraseTarget, MemoryError, ResidueMatch, ScopeViolation};
use super::transaction::PgMemoryTransaction;
use super::{forget, reindex, residue_scan, scope_violations};

/// The tables of memory, in the schema of the runs and with a ledger of their own.
const SCHEMA: PostgresSchema = PostgresSchema {
    name: "countersign",
    migrations_table: "memory_migrations",
    migrations: &[PostgresMigration {
        number: 1,
        name: "memory",
        serves: 1,
        sql: include_str!("migrations/0001_memory.sql"),
    }],
};

/// Which tables this role may have swept.
const OWN_TABLES: &str = "SELECT relname::text FROM pg_class
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
    pub fn new(server: PgServer, settings: PostgresSettings) -> Self {
        let database = Arc::new(PostgresDatabase::new(server, settings, SCHEMA));
        Self { database, indexed: OnceCell::new() }
    }

    /// The same, reached and brought forward.
    pub async fn open(server: PgServer, settings: PostgresSettings) -> Result<Self, MemoryError> {
        let memory = Self::new(server, settings);
        memory.ensure_ready().await?;
        Ok(memory)
    }

    /// The server behind it.
    #[must_use]
    pub fn server(&self) -> &PgServer {
        self.database.server()
    }

    /// Brings the schema forward, and makes anew what was indexed by other rules.
    async fn ensure_ready(&self) -> MemoryResult<()> {
        let bring = || async {
            let others = self
                .run_transaction(PgTransactionMode::ReadOnly, |shelves| {
                    reindex::list_outdated_subjects(shelves)
                })
                .await?;
            for subject in others {
                let anew = move |shelves: &mut PgMemoryTransaction<'_>| {
                    reindex::rebuild_index(shelves, &subject)
                };
                self.run_transaction(PgTransactionMode::ReadWrite, anew).await?;
            }
            Ok(())
        };
        self.indexed.get_or_try_init(bring).await.copied()
    }

    async fn run_transaction<T: Send + 'static>(
        &self,
        purpose: PgTransactionMode,
        work: impl Fn(&mut PgMemoryTransaction<'_>) -> MemoryResult<T> + Send + Sync + 'static,
    ) -> MemoryResult<T> {
        let work = self.database.run_transaction(purpose, move |dialogue| {
            work(&mut PgMemoryTransaction::new(dialogue, purpose))
        });
        work.await
    }

    fn run_when_ready<T: Send + 'static>(
        &self,
        purpose: PgTransactionMode,
        work: impl Fn(&mut PgMemoryTransaction<'_>) -> MemoryResult<T> + Send + Sync + 'static,
    ) -> MemoryFuture<'_, T> {
        Box::pin(async move {
            self.ensure_ready().await?;
            self.run_transaction(purpose, work).await
        })
    }

    /// Has the server take out what was deleted, from the tables and from their indexes. Where the role may not,
    /// the server does it by itself, some time later.
    async fn vacuum(&self) -> MemoryResult<()> {
        // A connection of its own: this takes as long as the tables are large.
        let client = self.server().connect().await.map_err(StoreError::from)?;
        let unavailable =
            |error: tokio_postgres::Error| StoreError::from(PgError::from_client_error(&error));
        let rows = client.query_typed(OWN_TABLES, &[]).await.map_err(unavailable)?;
        let ours: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        for table in forget::list_erased_tables().map(|table| format!("memory_{table}")) {
            if ours.contains(&table) {
                // The server passes over indexes where few rows are gone, and those hold ids and words.
                let vacuum = format!("VACUUM (INDEX_CLEANUP on) countersign.{table}");
                client.batch_execute(&vacuum).await.map_err(unavailable)?;
            }
        }
        Ok(())
    }
}

impl TransactionalStore for PostgresMemory {
    type Transaction<'s> = PgMemoryTransaction<'s>;

    const IMPORT_BATCH: usize = 200;

    fn write<T: Send + 'static>(
        &self,
        work: impl for<'s> Fn(&mut PgMemoryTransaction<'s>) -> MemoryResult<T> + Send + Sync + 'static,
    ) -> MemoryFuture<'_, T> {
        self.run_when_ready(PgTransactionMode::ReadWrite, work)
    }

    fn read<T: Send + 'static>(
        &self,
        question: impl for<'s> Fn(&PgMemoryTransaction<'s>) -> MemoryResult<T> + Send + Sync + 'static,
    ) -> MemoryFuture<'_, T> {
        self.run_when_ready(PgTransactionMode::ReadOnly, move |shelves| question(shelves))
    }

    fn preview_forget(&self, whom: EraseTarget) -> MemoryFuture<'_, EraseReport> {
        // Done and undone, so that what is told is what will be done.
        self.run_when_ready(PgTransactionMode::DryRun, move |shelves| {
            forget::forget(shelves, &whom, Timestamp::default())
        })
    }

    fn forget(&self, whom: EraseTarget, now: Timestamp) -> MemoryFuture<'_, EraseReport> {
        Box::pin(async move {
            let erased = self.write(move |shelves| forget::forget(shelves, &whom, now)).await?;
            // Also where there was nothing: a crash may have come between the two.
            self.vacuum().await?;
            Ok(erased)
        })
    }

    fn scan_residue(&self, needles: Vec<Vec<u8>>) -> MemoryFuture<'_, Vec<ResidueMatch>> {
        self.read(move |shelves| residue_scan::scan_residue(shelves, &needles))
    }

    fn find_scope_violations(&self) -> MemoryFuture<'_, Vec<ScopeViolation>> {
        self.read(scope_violations::find_scope_violations)
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::json::sha256_hex;

    use super::*;

    /// A step that was released is never written anew: another one is added behind it.
    #[test]
    fn released_steps_do_not_change() {
        let sums = SCHEMA.migrations.iter().map(|step| sha256_hex(&[step.sql.as_bytes()]));
        assert_eq!(
            sums.collect::<Vec<_>>(),
            ["f11cc4ce6bd6eb4e565bddfae77fef41cca74f8ca5cbb947d91e847c4de1591a"]
        );
    }
}
