//! How the file is opened: the settings of a connection that make it safe. Nothing here knows tables.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::{SharedError, StoreError};

/// How a file is opened.
#[derive(Debug, Clone)]
pub struct SqliteSettings {
    /// How long to wait for another process that writes.
    pub busy_timeout: Duration,
    /// How many reads run at the same time.
    pub readers: usize,
    /// The largest size of the file, in pages of 4 KB; no limit but `SQLite`'s where absent.
    pub max_pages: Option<u32>,
    /// Whether what is deleted is overwritten at once, and not only let go.
    pub secure_delete: bool,
    /// Bytes that should be free on the disk; with fewer the file is not ready.
    pub min_free_bytes: u64,
    /// Whether pages may be fetched before they are needed, where that is known and the system can.
    pub read_ahead: bool,
}

impl Default for SqliteSettings {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            readers: 4,
            max_pages: None,
            secure_delete: false,
            min_free_bytes: 32 << 20,
            read_ahead: true,
        }
    }
}

/// A place to open connections to.
#[derive(Debug, Clone)]
pub(super) struct SqliteConnector {
    pub(super) path: PathBuf,
    pub(super) settings: SqliteSettings,
}

const STATEMENT_CACHE_SIZE: usize = 64;

/// Memory for pages that a connection has seen.
const CACHE_KIB: i64 = 16 << 10;

/// Pages in the write-ahead log before it is copied into the file: 16 MB.
const CHECKPOINT_PAGES: i64 = 4000;

/// How often the change to WAL is tried: `SQLite` does not wait for others there.
const WAL_ATTEMPTS: u32 = 200;

impl SqliteConnector {
    /// A connection that may write. It makes no file: a path that lost its file gets no empty one instead.
    pub(super) fn open_writer(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = self.open_connection(flags)?;
        enable_wal(&db)?;
        // Every acknowledged commit is on the disk, not only in the system's memory.
        db.pragma_update(None, "synchronous", "FULL")?;
        db.pragma_update(None, "foreign_keys", true)?;
        // The log is not copied back into the file every few flushes.
        db.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        // A log that once grew large does not stay so.
        db.pragma_update(None, "journal_size_limit", 64 << 20)?;
        if let Some(pages) = self.settings.max_pages {
            db.pragma_update(None, "max_page_count", pages)?;
        }
        if self.settings.secure_delete {
            db.pragma_update(None, "secure_delete", true)?;
        }
        Ok(db)
    }

    /// A connection that cannot write.
    pub(super) fn open_reader(&self) -> Result<Connection, StoreError> {
        // Opened for writing, because the last one to leave tidies up the write-ahead log.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = self.open_connection(flags)?;
        db.pragma_update(None, "query_only", true)?;
        Ok(db)
    }

    fn open_connection(&self, flags: OpenFlags) -> Result<Connection, StoreError> {
        let db = Connection::open_with_flags(&self.path, flags)
            .map_err(|error| open_error(&self.path, error))?;
        db.busy_timeout(self.settings.busy_timeout)?;
        // A plan does not depend on what is bound: else every statement with a limit is planned anew each
        // time it is asked.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        // What a savepoint must remember stays in memory.
        db.pragma_update(None, "temp_store", "MEMORY")?;
        // Many runs touch many pages, and a packet reads a few hundred: keep them at hand.
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
