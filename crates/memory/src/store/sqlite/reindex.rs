//! An index that was made by other rules is made anew, before anybody reads it.

use countersign_store::StoreError;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use super::super::error::MemoryError;
use super::super::index;
use super::super::shelves::Answer;
use super::events;
use super::index::OfSubject;

/// So many events are read at once.
const AT_ONCE: usize = 1_000;

/// Makes the index anew where it was made by other rules than these. Several processes may do so at once.
pub(super) fn bring(db: &mut Connection) -> Result<(), StoreError> {
    let version = index::version();
    if made_by(db)? == version {
        return Ok(());
    }
    let step = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Asked again under the lock: another process may have done it meanwhile.
    if made_by(&step)? != version {
        match anew(&step) {
            Ok(()) => {}
            Err(MemoryError::Store(error)) => return Err(error),
            Err(other) => return Err(StoreError::Corrupt { what: other.to_string() }),
        }
        step.execute(
            "INSERT OR REPLACE INTO index_version (one, version) VALUES (1, ?1)",
            [&version],
        )?;
    }
    step.commit()?;
    Ok(())
}

fn made_by(db: &Connection) -> Result<String, StoreError> {
    let version =
        db.query_row("SELECT version FROM index_version", [], |row| row.get(0)).optional()?;
    Ok(version.unwrap_or_default())
}

fn anew(db: &Connection) -> Answer<()> {
    db.execute_batch(
        "DELETE FROM postings; DELETE FROM terms; UPDATE subjects SET events = 0, terms = 0",
    )?;
    let mut subjects = db.prepare("SELECT DISTINCT subject FROM events ORDER BY subject")?;
    let subjects = subjects.query_map([], |row| row.get(0))?;
    for subject in subjects.collect::<Result<Vec<i64>, _>>()? {
        let mut after = None;
        loop {
            let some = events::behind(db, subject, after, AT_ONCE)?;
            let Some(last) = some.last() else { break };
            after = Some(last.place);
            index::add(&OfSubject { db, subject }, &some)?;
        }
    }
    Ok(())
}
