//! The file's face: every question is one view, every write one commit.

use std::path::Path;

use countersign_core::run::Time;
use countersign_store::{Migration, RawFile, Schema, Settings, SqliteFile, StoreError};
use rusqlite::Connection;

use super::super::memory::Reply;
use super::super::shared::Shared;
use super::super::shelves::Answer;
use super::super::{Erased, MemoryError, Misplaced, Trace, Whom};
use super::shelves::Sql;
use super::{forget, misplaced, reindex, traces};

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
}

/// Does work that may be refused. Whatever is refused was refused before anything was put, so that the
/// commit need not be undone for it.
fn refusable<T>(
    db: &Connection,
    work: impl Fn(&mut Sql<'_>) -> Answer<T>,
) -> Result<Answer<T>, StoreError> {
    let before = db.total_changes();
    match work(&mut Sql::new(db, None)) {
        Err(MemoryError::Store(error)) => Err(error),
        Err(refused) if db.total_changes() != before => {
            Err(StoreError::Corrupt { what: format!("a refusal came too late: {refused}") })
        }
        other => Ok(other),
    }
}

impl Shared for SqliteMemory {
    type Shelves<'s> = Sql<'s>;

    const LINES_AT_ONCE: usize = 1000;

    fn write<T: Send + 'static>(
        &self,
        work: impl for<'s> Fn(&mut Sql<'s>) -> Answer<T> + Send + Sync + 'static,
    ) -> Reply<'_, T> {
        Box::pin(async move { self.file.write(move |db| refusable(db, &work)).await? })
    }

    fn read<T: Send + 'static>(
        &self,
        question: impl for<'s> Fn(&Sql<'s>) -> Answer<T> + Send + Sync + 'static,
    ) -> Reply<'_, T> {
        let ask = move |db: &Connection, raw: &RawFile| Ok(question(&Sql::new(db, Some(raw))));
        Box::pin(async move { self.file.read_raw(ask).await? })
    }

    fn check_ready(&self) -> Reply<'_, ()> {
        Box::pin(async move { Ok(self.file.check_ready().await?) })
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
        let ask = move |_: &Connection, raw: &RawFile| Ok(traces::traces(raw, &needles));
        Box::pin(async move { self.file.read_raw(ask).await? })
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
