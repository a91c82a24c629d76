//! Rebuilds an index of another version before it is read.

use countersign_store::StoreError;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use super::super::memory_error::MemoryError;
use super::super::row_store::MemoryResult;
use super::super::term_index;
use super::events;
use super::index::SubjectTermIndex;

/// The number of events that are read at once.
const EVENT_BATCH: usize = 1_000;

/// Rebuilds the index if it has another version. Several processes may try at the same time.
pub(super) fn rebuild_index_if_outdated(db: &mut Connection) -> Result<(), StoreError> {
    let version = term_index::index_version();
    if load_index_version(db)? == version {
        return Ok(());
    }
    let step = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Check again under the lock: another process may have rebuilt the index meanwhile.
    if load_index_version(&step)? != version {
        match rebuild_index(&step) {
            Ok(()) => {}
            Err(MemoryError::Store(error)) => return Err(error),
            Err(other) => return Err(StoreError::Corrupt { reason: other.to_string() }),
        }
        step.execute(
            "INSERT OR REPLACE INTO index_version (one, version) VALUES (1, ?1)",
            [&version],
        )?;
    }
    step.commit()?;
    Ok(())
}

fn load_index_version(db: &Connection) -> Result<String, StoreError> {
    let version =
        db.query_row("SELECT version FROM index_version", [], |row| row.get(0)).optional()?;
    Ok(version.unwrap_or_default())
}

fn rebuild_index(db: &Connection) -> MemoryResult<()> {
    db.execute_batch(
        "DELETE FROM postings; DELETE FROM terms; UPDATE subjects SET events = 0, terms = 0",
    )?;
    let mut subjects = db.prepare("SELECT DISTINCT subject FROM events ORDER BY subject")?;
    let subjects = subjects.query_map([], |row| row.get(0))?;
    for subject in subjects.collect::<Result<Vec<i64>, _>>()? {
        let mut after = None;
        loop {
            let some = events::load_events_after(db, subject, after, EVENT_BATCH)?;
            let Some(last) = some.last() else { break };
            after = Some(last.location);
            term_index::index_events(&SubjectTermIndex { db, subject }, &some)?;
        }
    }
    Ok(())
}
