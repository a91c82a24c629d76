//! The `PostgreSQL` backend: every read is one snapshot, every write one transaction.

use std::sync::Arc;

use countersign_contract::Timestamp;
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

/// The memory tables. They are in the schema of the runs and have their own migrations table.
const SCHEMA: PostgresSchema = PostgresSchema {
    name: "countersign",
    migrations_table: "memory_migrations",
    migrations: &[PostgresMigration {
        number: 1,
        name: "memory",
        compatible_from: 1,
        sql: include_str!("migrations/0001_memory.sql"),
    }],
};

/// Lists the tables that this role may vacuum.
const OWN_TABLES: &str = "SELECT relname::text FROM pg_class
    WHERE relnamespace = to_regnamespace('countersign') AND relkind = 'r'
        AND pg_has_role(relowner, 'USAGE')";

/// A memory in a `PostgreSQL` database, alone or next to the runs.
///
/// Any number of processes on any number of machines may use one database. Its methods must run
/// inside a tokio runtime.
#[derive(Debug)]
pub struct PostgresMemory {
    database: Arc<PostgresDatabase>,
    /// Set once every index has been checked.
    indexed: OnceCell<()>,
}

impl PostgresMemory {
    /// Creates a memory on a server. It connects on first use and migrates its schema before the
    /// first answer.
    #[must_use]
    pub fn new(server: PgServer, settings: PostgresSettings) -> Self {
        let database = Arc::new(PostgresDatabase::new(server, settings, SCHEMA));
        Self { database, indexed: OnceCell::new() }
    }

    /// Creates a memory, connects and migrates its schema.
    pub async fn open(server: PgServer, settings: PostgresSettings) -> Result<Self, MemoryError> {
        let memory = Self::new(server, settings);
        memory.ensure_ready().await?;
        Ok(memory)
    }

    /// Returns the server that the memory connects to.
    #[must_use]
    pub fn server(&self) -> &PgServer {
        self.database.server()
    }

    /// Migrates the schema and rebuilds outdated indexes.
    async fn ensure_ready(&self) -> MemoryResult<()> {
        let bring = || async {
            let others = self
                .run_transaction(PgTransactionMode::ReadOnly, |row_store| {
                    reindex::list_outdated_subjects(row_store)
                })
                .await?;
            for subject in others {
                let anew = move |row_store: &mut PgMemoryTransaction<'_>| {
                    reindex::rebuild_index(row_store, &subject)
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

    /// Vacuums deleted rows from the tables and their indexes. If the role lacks the permission,
    /// the server's autovacuum does it later.
    async fn vacuum(&self) -> MemoryResult<()> {
        // Use a separate connection, because this takes time in proportion to the table size.
        let client = self.server().connect().await.map_err(StoreError::from)?;
        let unavailable =
            |error: tokio_postgres::Error| StoreError::from(PgError::from_client_error(&error));
        let rows = client.query_typed(OWN_TABLES, &[]).await.map_err(unavailable)?;
        let ours: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        for table in forget::list_erased_tables().map(|table| format!("memory_{table}")) {
            if ours.contains(&table) {
                // By default the server skips indexes if few rows were deleted, but they contain
                // ids and words.
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
        self.run_when_ready(PgTransactionMode::ReadOnly, move |row_store| question(row_store))
    }

    fn preview_forget(&self, whom: EraseTarget) -> MemoryFuture<'_, EraseReport> {
        // Run the erasure and roll it back, so that the preview equals the later result.
        self.run_when_ready(PgTransactionMode::DryRun, move |row_store| {
            forget::forget(row_store, &whom, Timestamp::default())
        })
    }

    fn forget(&self, whom: EraseTarget, now: Timestamp) -> MemoryFuture<'_, EraseReport> {
        Box::pin(async move {
            let erased = self.write(move |row_store| forget::forget(row_store, &whom, now)).await?;
            // Vacuum even if nothing was erased: an earlier process may have crashed between the
            // two steps.
            self.vacuum().await?;
            Ok(erased)
        })
    }

    fn scan_residue(&self, needles: Vec<Vec<u8>>) -> MemoryFuture<'_, Vec<ResidueMatch>> {
        self.read(move |row_store| residue_scan::scan_residue(row_store, &needles))
    }

    fn find_scope_violations(&self) -> MemoryFuture<'_, Vec<ScopeViolation>> {
        self.read(scope_violations::find_scope_violations)
    }
}

#[cfg(test)]
mod tests {
    use countersign_contract::json::sha256_hex;

    use super::*;

    /// A released migration never changes; a new one is added instead.
    #[test]
    fn released_steps_do_not_change() {
        let sums = SCHEMA.migrations.iter().map(|step| sha256_hex(&[step.sql.as_bytes()]));
        assert_eq!(
            sums.collect::<Vec<_>>(),
            ["af21363edfc9cb1e25bb7ca9a4f2b587dd727a45a0b40d9bee96c75f175d2c61"]
        );
    }
}
