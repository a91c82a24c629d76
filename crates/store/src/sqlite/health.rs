//! A look at the file itself: its schema, its log, whether its pages are sound. Writes nothing, and
//! works on a file that a store would refuse to open.

use std::path::Path;

use super::connection::{Place, Settings};
use super::migrate::{RUNS_SCHEMA, applied};
use crate::StoreError;

/// How many faults are told at most.
const MOST_FAULTS: u32 = 10;

/// What a file is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The schema it has; 0 where it has none yet.
    pub schema: u32,
    /// How changes are kept safe: `wal`.
    pub journal: String,
    /// The version of `SQLite` that looked.
    pub engine: String,
    /// What a quick look at every page found wrong.
    pub faults: Vec<String>,
}

impl Health {
    /// Looks at a file.
    pub fn of(path: &Path) -> Result<Self, StoreError> {
        let place = Place { path: path.to_owned(), settings: Settings::default() };
        let db = place.reader()?;
        let schema =
            applied(&db, RUNS_SCHEMA.application_id)?.last().map_or(0, |(number, _)| *number);
        let journal = db.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        let engine = db.query_row("SELECT sqlite_version()", [], |row| row.get(0))?;
        let mut check = db.prepare(&format!("PRAGMA quick_check({MOST_FAULTS})"))?;
        let told = check.query_map([], |row| row.get::<_, String>(0))?;
        let mut faults = told.collect::<Result<Vec<_>, _>>()?;
        faults.retain(|fault| fault != "ok");
        Ok(Self { schema, journal, engine, faults })
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
        let health = Health::of(&path).unwrap();
        assert_eq!((health.schema, health.journal.as_str()), (3, "wal"));
        assert_eq!(health.faults, [] as [String; 0]);

        let size = fs::metadata(&path).unwrap().len();
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all_at(&vec![0xAA; 4096], size - 4096).unwrap();
        assert!(Health::of(&path).is_err() || !Health::of(&path).unwrap().faults.is_empty());
    }

    #[test]
    fn a_file_that_is_not_there_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        assert!(Health::of(&path).is_err());
        assert!(!path.exists());
    }
}
