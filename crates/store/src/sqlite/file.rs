//! One file with one writer and a few readers: what every store of ours in `SQLite` stands on. Knows no
//! table but the one that counts the steps of the schema.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;

use super::connection::{Place, Settings};
use super::migrate::{Schema, migrate};
use super::raw::RawFile;
use super::readers::Readers;
use super::writer::Writer;
use crate::{Cause, StoreError};

/// An open file: durable writes that share their flush, reads that wait for nobody.
///
/// Several processes may have it open. Dropping it finishes what is queued and closes the file.
#[derive(Debug)]
pub struct SqliteFile {
    path: PathBuf,
    // Dropped before the writer: the last one to leave copies the log into the file, and of several readers that
    // leave at once none is the last.
    readers: Readers,
    writer: Writer,
    // Dropped last.
    raw: Arc<RawFile>,
}

impl SqliteFile {
    /// Opens a file, makes it where there is none, and brings its schema forward.
    pub fn open(
        path: impl AsRef<Path>,
        settings: Settings,
        schema: Schema,
    ) -> Result<Self, StoreError> {
        Self::open_prepared(path, settings, schema, |_| Ok(()))
    }

    /// The same, with something to be done after its schema was brought forward and before anybody reads or writes.
    pub fn open_prepared(
        path: impl AsRef<Path>,
        settings: Settings,
        schema: Schema,
        prepare: impl FnOnce(&mut Connection) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let path = path.as_ref().to_owned();
        let raw = Arc::new(RawFile::new(&path, settings.read_ahead).map_err(unreachable)?);
        let place = Place { path: path.clone(), settings };
        let mut db = place.writer()?;
        migrate(&mut db, schema)?;
        prepare(&mut db)?;
        let trees = raw.trees(&db)?;
        if let Some(trees) = &trees {
            trees.fetch_roots();
        }
        let readers = (0..place.settings.readers.max(1)).map(|_| place.reader());
        let readers = Readers::start(readers.collect::<Result<_, _>>()?).map_err(unreachable)?;
        // Opening the readers took the disk long enough for the roots.
        if let Some(trees) = trees {
            trees.fetch_below_roots();
        }
        let writer = Writer::start(db, move || place.writer()).map_err(unreachable)?;
        Ok(Self { path, readers, writer, raw })
    }

    /// Has work done inside the next commit and answers when it is on the disk. An error undoes the
    /// work; it is done again where another of the same commit has to be undone.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writer.submit(work).await
    }

    /// Answers a question from one consistent view of the file.
    pub async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.readers.ask(question).await
    }

    /// The same, with the bytes of the file beside it.
    pub async fn read_raw<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection, &RawFile) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let raw = Arc::clone(&self.raw);
        self.readers.ask(move |db| question(db, &raw)).await
    }

    /// Writes the file anew without what was deleted, and empties its write-ahead log. Takes as long as
    /// the file is large; nobody writes meanwhile. `Busy` where someone else reads on for too long.
    pub async fn rebuild(&self) -> Result<(), StoreError> {
        self.writer
            .alone(|db| {
                db.execute_batch("VACUUM")?;
                empty_log(db)
            })
            .await
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn empty_log(db: &Connection) -> Result<(), StoreError> {
    let held: bool = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if held {
        let source: Cause = Arc::new(LogInUse);
        return Err(StoreError::Busy { source });
    }
    Ok(())
}

#[derive(Debug, thiserror::Error)]
#[error("the write-ahead log is still being read")]
struct LogInUse;

fn unreachable(error: std::io::Error) -> StoreError {
    let source: Cause = Arc::new(error);
    StoreError::Unavailable { source }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sqlite::Migration;

    const NOTES: Schema = Schema {
        application_id: 7,
        migrations: &[Migration {
            number: 1,
            name: "notes",
            sql: "PRAGMA application_id = 7; CREATE TABLE notes (text TEXT NOT NULL) STRICT;",
        }],
    };

    fn bytes(path: &Path) -> Vec<u8> {
        let mut all = fs::read(path).unwrap();
        let log = path.with_extension("db-wal");
        all.extend(fs::read(log).unwrap_or_default());
        all
    }

    #[tokio::test]
    async fn what_was_deleted_is_in_no_byte_after_a_rebuild() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.db");
        let settings = Settings { secure_delete: true, ..Settings::default() };
        let file = SqliteFile::open(&path, settings, NOTES).unwrap();
        let write = |sql: &'static str| file.write(move |db| Ok(db.execute(sql, [])?));
        write("INSERT INTO notes VALUES ('a canary'), ('a sparrow')").await.unwrap();
        write("DELETE FROM notes WHERE text = 'a canary'").await.unwrap();
        let has = |needle: &[u8]| bytes(&path).windows(needle.len()).any(|part| part == needle);
        assert!(has(b"a canary"), "the write-ahead log still has it");
        file.rebuild().await.unwrap();
        assert!(!has(b"a canary"));
        assert!(has(b"a sparrow"));
        let count = |db: &Connection| {
            Ok(db.query_row("SELECT count(*) FROM notes", [], |row| row.get::<_, i64>(0))?)
        };
        assert_eq!(file.read(count).await.unwrap(), 1);
    }

    #[test]
    fn a_file_of_another_kind_is_foreign() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        drop(crate::SqliteStore::open(&path).unwrap());
        let opened = SqliteFile::open(&path, Settings::default(), NOTES);
        assert!(matches!(opened, Err(StoreError::Foreign)), "{opened:?}");
    }
}
