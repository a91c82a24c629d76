//! Health check of the file itself: its schema, its journal mode, and the integrity of its pages.
//! It writes nothing, and works on a file that a store would refuse to open.

use std::path::Path;

use super::connector::{SqliteConnector, SqliteSettings};
use super::migrate::{RUNS_SCHEMA, load_applied_migrations};
use crate::StoreError;

/// Maximum number of integrity errors that are reported.
const MAX_INTEGRITY_ERRORS: u32 = 10;

/// The state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteHealth {
    /// Schema version of the file; 0 if it has none yet.
    pub schema: u32,
    /// Journal mode of the file, normally `wal`.
    pub journal_mode: String,
    /// Version of `SQLite` that ran the check.
    pub sqlite_version: String,
    /// Errors that a quick check of every page found; empty if there are none.
    pub integrity_errors: Vec<String>,
}

impl SqliteHealth {
    /// Opens a file and reads its state.
    pub fn probe(path: &Path) -> Result<Self, StoreError> {
        let place = SqliteConnector { path: path.to_owned(), settings: SqliteSettings::default() };
        let db = place.open_reader()?;
        let schema = load_applied_migrations(&db, RUNS_SCHEMA.application_id)?
            .last()
            .map_or(0, |(number, _)| *number);
        let journal = db.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        let engine = db.query_row("SELECT sqlite_version()", [], |row| row.get(0))?;
        let mut check = db.prepare(&format!("PRAGMA quick_check({MAX_INTEGRITY_ERRORS})"))?;
        let told = check.query_map([], |row| row.get::<_, String>(0))?;
        let mut faults = told.collect::<Result<Vec<_>, _>>()?;
        faults.retain(|fault| fault != "ok");
        Ok(Self { schema, journal_mode: journal, sqlite_version: engine, integrity_errors: faults })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::FileExt as _;

    use super::*;
    use crate::SqliteStore;

    #[test]
    fn a_sound_file_is_told_so_and_a_damaged_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        drop(SqliteStore::open(&path).unwrap());
        let health = SqliteHealth::probe(&path).unwrap();
        assert_eq!((health.schema, health.journal_mode.as_str()), (3, "wal"));
        assert_eq!(health.integrity_errors, [] as [String; 0]);

        let size = fs::metadata(&path).unwrap().len();
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all_at(&vec![0xAA; 4096], size - 4096).unwrap();
        assert!(
            SqliteHealth::probe(&path).is_err()
                || !SqliteHealth::probe(&path).unwrap().integrity_errors.is_empty()
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        assert!(SqliteHealth::probe(&path).is_err());
        assert!(!path.exists());
    }
}
