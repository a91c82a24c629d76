//! One file with one writer and a few readers. Every `SQLite` store is built on this; it knows no
//! table except the one that records schema migrations.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;

use super::connector::{SqliteConnector, SqliteSettings};
use super::file_identity::{FileIdentity, create_private_file, free_disk_bytes};
use super::migrate::{SqliteSchema, migrate};
use super::raw_file::RawFile;
use super::reader_pool::SqliteReaderPool;
use super::writer::SqliteWriter;
use crate::{SharedError, StoreError};

/// An open file: durable writes that share a flush, and reads that do not wait for writes.
///
/// Several processes may have the file open. Dropping it finishes the queued writes and closes the
/// file.
#[derive(Debug)]
pub struct SqliteFile {
    path: PathBuf,
    identity: FileIdentity,
    min_free_bytes: u64,
    // Dropped before the writer: the last connection to close copies the log into the file, and if
    // several readers close at once, none of them is the last.
    readers: SqliteReaderPool,
    writer: SqliteWriter,
    // Dropped last.
    raw: Arc<RawFile>,
}

impl SqliteFile {
    /// Opens a file, creates it if there is none, and migrates its schema.
    pub fn open(
        path: impl AsRef<Path>,
        settings: SqliteSettings,
        schema: SqliteSchema,
    ) -> Result<Self, StoreError> {
        Self::open_with_setup(path, settings, schema, |_| Ok(()))
    }

    /// Opens a file like [`SqliteFile::open`], and runs `prepare` after the migration and before
    /// any read or write.
    pub fn open_with_setup(
        path: impl AsRef<Path>,
        settings: SqliteSettings,
        schema: SqliteSchema,
        prepare: impl FnOnce(&mut Connection) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let path = path.as_ref().to_owned();
        let raw = Arc::new(RawFile::new(&path).map_err(io_error)?);
        let place = SqliteConnector { path: path.clone(), settings };
        // If the file cannot be created, `SQLite` reports the error.
        drop(create_private_file(&path));
        let mut db = place.open_writer()?;
        migrate(&mut db, schema)?;
        prepare(&mut db)?;
        let readers = (0..place.settings.readers.max(1)).map(|_| place.open_reader());
        let readers = SqliteReaderPool::start_threads(readers.collect::<Result<_, _>>()?)
            .map_err(io_error)?;
        let identity = FileIdentity::read_from(&path).map_err(io_error)?;
        let (same, min_free) = (identity.clone(), place.settings.min_free_bytes);
        let reopen = move || {
            same.check_unchanged()?;
            place.open_writer()
        };
        let same = identity.clone();
        let writer = SqliteWriter::start_thread(db, move || same.check_unchanged(), reopen)
            .map_err(io_error)?;
        Ok(Self { path, identity, min_free_bytes: min_free, readers, writer, raw })
    }

    /// Runs work inside the next commit and returns when it is on disk. An error rolls the work
    /// back; the work runs again if another job of the same commit has to be rolled back.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writer.submit_write(work).await
    }

    /// Runs a query in one consistent snapshot of the file.
    pub async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.readers.run_query(question).await
    }

    /// Runs a query like [`SqliteFile::read`], with access to the bytes of the file.
    pub async fn read_raw<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection, &RawFile) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let raw = Arc::clone(&self.raw);
        self.readers.run_query(move |db| question(db, &raw)).await
    }

    /// Checks that the next commit is likely to succeed: the file is at its path, its disk has
    /// room, and the last commit did not fail. If it failed, this tries a commit that changes
    /// nothing.
    pub async fn check_ready(&self) -> Result<(), StoreError> {
        let (identity, path, floor) =
            (self.identity.clone(), self.path.clone(), self.min_free_bytes);
        let look = move |_: &Connection| {
            identity.check_unchanged()?;
            match free_disk_bytes(&path) {
                Some(free) if free < floor => {
                    Err(StoreError::LowDiskSpace { free, required: floor })
                }
                _ => Ok(()),
            }
        };
        self.readers.run_query(look).await?;
        if self.writer.is_broken() { self.write(probe_write).await } else { Ok(()) }
    }

    /// Rewrites the file without deleted content, and empties its write-ahead log. Takes time in
    /// proportion to the size of the file, and blocks writers. Returns `Busy` if another reader
    /// keeps the file for too long.
    pub async fn vacuum(&self) -> Result<(), StoreError> {
        let identity = self.identity.clone();
        self.writer
            .run_exclusive(move |db| {
                identity.check_unchanged()?;
                db.execute_batch("VACUUM")?;
                truncate_wal(db)
            })
            .await
    }

    /// Path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Needs space for new pages and a flush, and leaves the file unchanged.
fn probe_write(db: &Connection) -> Result<(), StoreError> {
    db.execute_batch(
        "SAVEPOINT probe;
         CREATE TABLE readiness_probe (room BLOB) STRICT;
         INSERT INTO readiness_probe VALUES (zeroblob(65536));
         ROLLBACK TO probe;
         RELEASE probe;",
    )?;
    let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    db.pragma_update(None, "user_version", version)?;
    Ok(())
}

fn truncate_wal(db: &Connection) -> Result<(), StoreError> {
    let held: bool = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if held {
        let source: SharedError = Arc::new(WalInUse);
        return Err(StoreError::Busy { source });
    }
    Ok(())
}

#[derive(Debug, thiserror::Error)]
#[error("the write-ahead log is still being read")]
struct WalInUse;

fn io_error(error: std::io::Error) -> StoreError {
    let source: SharedError = Arc::new(error);
    StoreError::Unavailable { source }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sqlite::SqliteMigration;

    const NOTES: SqliteSchema = SqliteSchema {
        application_id: 7,
        migrations: &[SqliteMigration {
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
        let settings = SqliteSettings { secure_delete: true, ..SqliteSettings::default() };
        let file = SqliteFile::open(&path, settings, NOTES).unwrap();
        let write = |sql: &'static str| file.write(move |db| Ok(db.execute(sql, [])?));
        write("INSERT INTO notes VALUES ('a canary'), ('a sparrow')").await.unwrap();
        write("DELETE FROM notes WHERE text = 'a canary'").await.unwrap();
        let has = |needle: &[u8]| bytes(&path).windows(needle.len()).any(|part| part == needle);
        assert!(has(b"a canary"), "the write-ahead log still has it");
        file.vacuum().await.unwrap();
        assert!(!has(b"a canary"));
        assert!(has(b"a sparrow"));
        let count = |db: &Connection| {
            Ok(db.query_row("SELECT count(*) FROM notes", [], |row| row.get::<_, i64>(0))?)
        };
        assert_eq!(file.read(count).await.unwrap(), 1);
    }

    fn insert(file: &SqliteFile) -> impl Future<Output = Result<usize, StoreError>> {
        file.write(|db| Ok(db.execute("INSERT INTO notes VALUES ('kept')", [])?))
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_file_that_is_not_there_any_more_takes_no_commit_until_it_is_back() {
        let folder = tempfile::tempdir().unwrap();
        let [path, away] = ["notes.db", "away.db"].map(|name| folder.path().join(name));
        let file = SqliteFile::open(&path, SqliteSettings::default(), NOTES).unwrap();
        insert(&file).await.unwrap();
        file.check_ready().await.unwrap();
        fs::rename(&path, &away).unwrap();
        for _ in 0..2 {
            let refused = insert(&file).await.unwrap_err();
            assert!(matches!(refused, StoreError::FileReplaced { .. }), "{refused}");
            assert!(!path.exists(), "no empty file is put in its place");
        }
        let told = file.check_ready().await.unwrap_err();
        assert!(matches!(told, StoreError::FileReplaced { .. }), "{told}");
        // A program that opened it would empty the log next to it.
        fs::write(&path, "another file").unwrap();
        let refused = insert(&file).await.unwrap_err();
        assert!(matches!(refused, StoreError::FileReplaced { .. }), "another file is not ours");
        fs::rename(&away, &path).unwrap();
        insert(&file).await.unwrap();
        file.check_ready().await.unwrap();
        let log = folder.path().join("notes.db-wal");
        fs::rename(&log, &away).unwrap();
        let refused = insert(&file).await.unwrap_err();
        assert!(matches!(refused, StoreError::FileReplaced { .. }), "nor without its log");
    }

    #[tokio::test]
    async fn a_full_file_is_not_ready_until_there_is_room_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.db");
        let settings = SqliteSettings { max_pages: Some(40), ..SqliteSettings::default() };
        let file = SqliteFile::open(&path, settings, NOTES).unwrap();
        let fill_up = || {
            file.write(|db| {
                Ok(db.execute("INSERT INTO notes VALUES (printf('%.*c', 65536, 'x'))", [])?)
            })
        };
        let full = loop {
            if let Err(error) = fill_up().await {
                break error;
            }
        };
        assert!(matches!(full, StoreError::DiskFull), "{full}");
        assert!(matches!(file.check_ready().await, Err(StoreError::DiskFull)));
        file.write(|db| Ok(db.execute("DELETE FROM notes", [])?)).await.unwrap();
        file.check_ready().await.unwrap();
        let tight = SqliteSettings { min_free_bytes: u64::MAX, ..SqliteSettings::default() };
        let tight = SqliteFile::open(&path, tight, NOTES).unwrap();
        if cfg!(target_os = "linux") {
            assert!(matches!(tight.check_ready().await, Err(StoreError::LowDiskSpace { .. })));
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn only_its_owner_reads_the_file_and_what_lies_beside_it() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.db");
        let file = SqliteFile::open(&path, SqliteSettings::default(), NOTES).unwrap();
        insert(&file).await.unwrap();
        for name in ["notes.db", "notes.db-wal", "notes.db-shm"] {
            let found = fs::metadata(folder.path().join(name)).unwrap();
            assert_eq!(found.permissions().mode() & 0o777, 0o600, "{name}");
        }
    }

    #[test]
    fn a_file_of_another_kind_is_foreign() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        drop(crate::SqliteStore::open(&path).unwrap());
        let opened = SqliteFile::open(&path, SqliteSettings::default(), NOTES);
        assert!(matches!(opened, Err(StoreError::ForeignDatabase)), "{opened:?}");
    }
}
