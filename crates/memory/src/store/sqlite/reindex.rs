//! An index that was made by other rules is made anew, before anybody reads it.

use countersign_store::StoreError;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use super::super::memory_error::MemoryError;
use super::super::row_store::MemoryResult;
use super::super::term_index;
use super::events;
use super::index::SubjectTermIndex;

/// So many events are read at once.
const EVENT_BATCH: usize = 1_000;

/// Makes the index anew where it was made by other rules than these. Several processes may do so at once.
pub(super) fn rebuild_index_if_outdated(db: &mut Connection) -> Result<(), StoreError> {
    let version = term_index::index_version();
    if load_index_version(db)? == version {
        return Ok(());
    }
    let step = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Asked again under the lock: another process may have done it meanwhile.
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
            after = Some(last.place);
            term_index::index_events(&SubjectTermIndex { db, subject }, &some)?;
        }
    }
    Ok(())
}
