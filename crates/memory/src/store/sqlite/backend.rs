//! The `SQLite` backend: every read is one snapshot, every write one commit.

use std::path::Path;

use countersign_contract::Timestamp;
use countersign_store::{
    RawFile, SqliteFile, SqliteMigration, SqliteSchema, SqliteSettings, StoreError,
};
use rusqlite::Connection;

use super::super::memory::MemoryFuture;
use super::super::row_store::MemoryResult;
use super::super::transactional_store::TransactionalStore;
use super::super::{EraseReport, EraseTarget, MemoryError, ResidueMatch, ScopeViolation};
use super::transaction::SqliteMemoryTransaction;
use super::{forget, reindex, residue_scan, scope_violations};

/// The schema of memory files.
pub(super) const SCHEMA: SqliteSchema = SqliteSchema {
    application_id: 0x434E_544D,
    migrations: &[
        SqliteMigration {
            number: 1,
            name: "memory",
            sql: include_str!("migrations/0001_memory.sql"),
        },
        SqliteMigration {
            number: 2,
            name: "growth",
            sql: include_str!("migrations/0002_growth.sql"),
        },
        SqliteMigration {
            number: 3,
            name: "vectors",
            sql: include_str!("migrations/0003_vectors.sql"),
        },
    ],
};

/// A memory in one `SQLite` file.
///
/// Several processes may have the file open. Dropping the memory finishes queued work and closes
/// the file.
#[derive(Debug)]
pub struct SqliteMemory {
    file: SqliteFile,
}

impl SqliteMemory {
    /// Opens a file, creates it if it does not exist, and migrates its schema.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, MemoryError> {
        Self::open_with(path, SqliteSettings::default())
    }

    /// Opens a file with other settings than the default. Deleted content is overwritten whatever
    /// the settings say.
    pub fn open_with(
        path: impl AsRef<Path>,
        mut settings: SqliteSettings,
    ) -> Result<Self, MemoryError> {
        settings.secure_delete = true;
        Ok(Self {
            file: SqliteFile::open_with_setup(
                path,
                settings,
                SCHEMA,
                reindex::rebuild_index_if_outdated,
            )?,
        })
    }
}

/// Runs a write that may be refused. A refusal happens before anything is written, so the commit
/// need not be rolled back.
fn run_refusable<T>(
    db: &Connection,
    work: impl Fn(&mut SqliteMemoryTransaction<'_>) -> MemoryResult<T>,
) -> Result<MemoryResult<T>, StoreError> {
    let before = db.total_changes();
    match work(&mut SqliteMemoryTransaction::new(db)) {
        Err(MemoryError::Store(error)) => Err(error),
        Err(refused) if db.total_changes() != before => Err(StoreError::Corrupt {
            reason: format!("a refusal arrived after the write started: {refused}"),
        }),
        other => Ok(other),
    }
}

impl TransactionalStore for SqliteMemory {
    type Transaction<'s> = SqliteMemoryTransaction<'s>;

    const IMPORT_BATCH: usize = 1000;

    fn write<T: Send + 'static>(
        &self,
        work: impl for<'s> Fn(&mut SqliteMemoryTransaction<'s>) -> MemoryResult<T>
        + Send
        + Sync
        + 'static,
    ) -> MemoryFuture<'_, T> {
        Box::pin(async move { self.file.write(move |db| run_refusable(db, &work)).await? })
    }

    fn read<T: Send + 'static>(
        &self,
        question: impl for<'s> Fn(&SqliteMemoryTransaction<'s>) -> MemoryResult<T>
        + Send
        + Sync
        + 'static,
    ) -> MemoryFuture<'_, T> {
        let ask = move |db: &Connection| Ok(question(&SqliteMemoryTransaction::new(db)));
        Box::pin(async move { self.file.read(ask).await? })
    }

    fn check_ready(&self) -> MemoryFuture<'_, ()> {
        Box::pin(async move { Ok(self.file.check_ready().await?) })
    }

    fn preview_forget(&self, whom: EraseTarget) -> MemoryFuture<'_, EraseReport> {
        // Run the erasure and roll it back, so that the preview equals the later result.
        self.write(move |row_store| {
            row_store.db.execute_batch("SAVEPOINT would_forget")?;
            let erased = forget::forget(row_store, &whom, Timestamp::default());
            row_store.db.execute_batch("ROLLBACK TO would_forget; RELEASE would_forget")?;
            erased
        })
    }

    fn forget(&self, whom: EraseTarget, now: Timestamp) -> MemoryFuture<'_, EraseReport> {
        Box::pin(async move {
            let erased = self.write(move |row_store| forget::forget(row_store, &whom, now)).await?;
            // Vacuum even if nothing was erased: an earlier process may have crashed between the
            // two steps.
            self.file.vacuum().await?;
            Ok(erased)
        })
    }

    fn scan_residue(&self, needles: Vec<Vec<u8>>) -> MemoryFuture<'_, Vec<ResidueMatch>> {
        let ask =
            move |_: &Connection, raw: &RawFile| Ok(residue_scan::scan_residue(raw, &needles));
        Box::pin(async move { self.file.read_raw(ask).await? })
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
            [
                "0689139747abcfa03db10c2869fb403c5a1892bcd204d55eaa65f1069759b406",
                "062443f0cfd2ac8a2628ae36787b4c4f686df8e332b934fbd631b3f906cf1b48",
                "519747ffd1e16fd6604bb3cbee4bf5ff6eb976aea873e7c927d6fb7bcc0efec8"
            ]
        );
    }
}
