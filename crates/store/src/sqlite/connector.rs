//! Opens connections to the file with the settings that make it safe. This module knows no tables.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::{SharedError, StoreError};

/// Settings for opening a file.
#[derive(Debug, Clone)]
pub struct SqliteSettings {
    /// How long to wait for another process that writes. Default: 5 seconds.
    pub busy_timeout: Duration,
    /// Number of reads that run at the same time. Default: 4.
    pub readers: usize,
    /// Maximum size of the file in pages of 4 KB; `None` means only the limit of `SQLite`. Default:
    /// `None`.
    pub max_pages: Option<u32>,
    /// Whether deleted content is overwritten at once and not only unlinked. Default: `false`.
    pub secure_delete: bool,
    /// Bytes that should be free on the disk; with fewer, the file is not ready. Default: 32 MiB.
    pub min_free_bytes: u64,
}

impl Default for SqliteSettings {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            readers: 4,
            max_pages: None,
            secure_delete: false,
            min_free_bytes: 32 << 20,
        }
    }
}

/// A file path and the settings for connections to it.
#[derive(Debug, Clone)]
pub(super) struct SqliteConnector {
    pub(super) path: PathBuf,
    pub(super) settings: SqliteSettings,
}

const STATEMENT_CACHE_SIZE: usize = 64;

/// Page cache of a connection, in KiB.
const CACHE_KIB: i64 = 16 << 10;

/// Pages in the write-ahead log before a checkpoint copies it into the file: 16 MB.
const CHECKPOINT_PAGES: i64 = 4000;

/// Number of attempts to switch to WAL mode, because `SQLite` does not wait for other connections
/// there.
const WAL_ATTEMPTS: u32 = 200;

impl SqliteConnector {
    /// Opens a connection that may write. It does not create the file: if the file was lost, the
    /// path does not get an empty one instead.
    pub(super) fn open_writer(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = self.open_connection(flags)?;
        enable_wal(&db)?;
        // Every acknowledged commit is on disk, not only in the memory of the system.
        db.pragma_update(None, "synchronous", "FULL")?;
        db.pragma_update(None, "foreign_keys", true)?;
        // Checkpoints do not run every few flushes.
        db.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        // A log that once grew large shrinks again.
        db.pragma_update(None, "journal_size_limit", 64 << 20)?;
        if let Some(pages) = self.settings.max_pages {
            db.pragma_update(None, "max_page_count", pages)?;
        }
        if self.settings.secure_delete {
            db.pragma_update(None, "secure_delete", true)?;
        }
        Ok(db)
    }

    /// Opens a connection that cannot write.
    pub(super) fn open_reader(&self) -> Result<Connection, StoreError> {
        // Opened for writing, because the last connection to close removes the write-ahead log.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = self.open_connection(flags)?;
        db.pragma_update(None, "query_only", true)?;
        Ok(db)
    }

    fn open_connection(&self, flags: OpenFlags) -> Result<Connection, StoreError> {
        let db = Connection::open_with_flags(&self.path, flags)
            .map_err(|error| open_error(&self.path, error))?;
        db.busy_timeout(self.settings.busy_timeout)?;
        // Query plans do not depend on bound values; otherwise `SQLite` would plan every statement
        // with a limit again at each call.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        // Savepoint journals stay in memory.
        db.pragma_update(None, "temp_store", "MEMORY")?;
        // Many runs touch many pages, and building one memory packet reads a few hundred: cache
        // them.
        db.pragma_update(None, "cache_size", -CACHE_KIB)?;
        db.set_prepared_statement_cache_capacity(STATEMENT_CACHE_SIZE);
        Ok(db)
    }
}

fn enable_wal(db: &Connection) -> Result<(), StoreError> {
    let mut attempts = 0;
    loop {
        let answer =
            db.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match answer {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                let source: SharedError = Arc::new(WalUnavailable { mode });
                return Err(StoreError::Unavailable { source });
            }
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && attempts < WAL_ATTEMPTS =>
            {
                attempts += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error(
    "the file system cannot share memory between processes: journal mode `{mode}`, expected `wal`"
)]
struct WalUnavailable {
    mode: String,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot open `{}`", path.display())]
struct SqliteOpenError {
    path: PathBuf,
    #[source]
    source: rusqlite::Error,
}

fn open_error(path: &Path, source: rusqlite::Error) -> StoreError {
    match source.sqlite_error_code() {
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            let source: SharedError = Arc::new(SqliteOpenError { path: path.to_owned(), source });
            StoreError::Unavailable { source }
        }
        _ => source.into(),
    }
}
