//! Reads a run's log. Its rows are interleaved with those of other runs, and each points to the row
//! of the previous version; so the log is read backwards from a later version. A read can start at
//! a snapshot, so the number of rows read in vain is bounded by the steps between two snapshots.

use rusqlite::{Connection, OptionalExtension, params};

use crate::{LogEntryRow, RunId, SnapshotRow, StoreError};

pub(super) const TAIL: &str =
    "SELECT number, version, tail FROM runs WHERE tenant = ?1 AND id = ?2";
pub(super) const SNAPSHOT: &str = "SELECT version, seq, body FROM snapshots
    WHERE run = ?1 AND version <= ?2 ORDER BY version DESC LIMIT 1";
pub(super) const NEXT_SNAPSHOT: &str = "SELECT entry, version FROM snapshots
    WHERE run = ?1 AND version >= ?2 ORDER BY version LIMIT 1";
pub(super) const ENTRY: &str =
    "SELECT previous, run, version, first_seq, last_seq, time, hash, body FROM log WHERE row = ?1";

/// The end of a run's log, from which it is read.
pub(super) struct SqliteRunLog<'d> {
    db: &'d Connection,
    run: i64,
    version: u64,
    tail: i64,
}

impl<'d> SqliteRunLog<'d> {
    /// Opens the log of a run; `None` if the run does not exist.
    pub(super) fn open(db: &'d Connection, run: &RunId) -> Result<Option<Self>, StoreError> {
        let mut statement = db.prepare_cached(TAIL)?;
        let found = statement.query_row((run.tenant.as_str(), &run.id), |row| {
            let version = row.get::<_, i64>(1)? as u64;
            Ok(Self { db, run: row.get(0)?, version, tail: row.get(2)? })
        });
        Ok(found.optional()?)
    }

    /// Finds the newest snapshot at or before a version.
    pub(super) fn find_snapshot(&self, version: u64) -> Result<Option<SnapshotRow>, StoreError> {
        let mut statement = self.db.prepare_cached(SNAPSHOT)?;
        let snapshot = statement.query_row(params![self.run, version as i64], |row| {
            let (version, seq) = (row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64);
            Ok(SnapshotRow { version, seq, body: row.get(2)? })
        });
        Ok(snapshot.optional()?)
    }

    /// Reads the entries after a version, up to and including `last`.
    pub(super) fn read_entries(
        &self,
        after: u64,
        last: u64,
    ) -> Result<Vec<LogEntryRow>, StoreError> {
        let last = last.min(self.version);
        if last <= after {
            return Ok(Vec::new());
        }
        let mut statement = self.db.prepare_cached(NEXT_SNAPSHOT)?;
        let beginning = statement.query_row(params![self.run, last as i64], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)? as u64))
        });
        let (mut row, beginning) = beginning.optional()?.unwrap_or((self.tail, self.version));
        let mut entries = Vec::new();
        for version in (after + 1..=beginning).rev() {
            let (previous, entry) = self.read_entry(row, version)?;
            if version <= last {
                entries.push(entry);
            }
            row = previous;
        }
        entries.reverse();
        Ok(entries)
    }

    /// The internal number of the run, by which its snapshots are stored.
    pub(super) fn run_number(&self) -> i64 {
        self.run
    }

    /// Reads every version with its row id, newest first.
    pub(super) fn read_all_rows(&self) -> Result<Vec<(i64, LogEntryRow)>, StoreError> {
        let (mut row, mut rows) = (self.tail, Vec::new());
        for version in (1..=self.version).rev() {
            let (previous, entry) = self.read_entry(row, version)?;
            rows.push((row, entry));
            row = previous;
        }
        Ok(rows)
    }

    fn read_entry(&self, place: i64, version: u64) -> Result<(i64, LogEntryRow), StoreError> {
        let mut statement = self.db.prepare_cached(ENTRY)?;
        let found = statement.query_row([place], |row| {
            let number = |column| row.get::<_, i64>(column).map(|number| number as u64);
            let entry = LogEntryRow {
                version: number(2)?,
                first_seq: number(3)?,
                last_seq: number(4)?,
                time: row.get(5)?,
                hash: row.get(6)?,
                body: row.get(7)?,
            };
            Ok((row.get(0)?, row.get::<_, i64>(1)?, entry))
        });
        match found.optional()? {
            Some((previous, run, entry)) if (run, entry.version) == (self.run, version) => {
                Ok((previous, entry))
            }
            _ => Err(StoreError::Corrupt {
                reason: format!("version {version} of the run is not in row {place} of the log"),
            }),
        }
    }
}
