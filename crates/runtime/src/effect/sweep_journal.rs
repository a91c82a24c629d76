//! Removes journal entries that a process left when it died, if the run has the result or is gone.

use countersign_store::StoreError;

use super::EffectJournal;
use crate::engine::Engine;

/// Maximum number of entries that are checked in one sweep.
const MAX_SWEPT_ENTRIES: usize = 10_000;

/// Removes the journal entries of effects that no run waits for any more. Returns their number.
///
/// # Errors
/// If the store cannot list the pending actions of a run; the remaining entries stay.
pub async fn sweep_journal(engine: &Engine, journal: &EffectJournal) -> Result<usize, StoreError> {
    let notes = journal.clone();
    let ids = tokio::task::spawn_blocking(move || notes.list_ids(MAX_SWEPT_ENTRIES)).await;
    let mut count = 0;
    for id in ids.unwrap_or_default() {
        let Some((run, action)) = id.rsplit_once('/') else { continue };
        let out = engine.store().list_actions(&engine.run_id(run)).await?;
        if out.iter().any(|row| row.id == action) {
            continue;
        }
        let notes = journal.clone();
        let forgotten = tokio::task::spawn_blocking(move || notes.remove_entry(&id)).await;
        count += usize::from(matches!(forgotten, Ok(Ok(()))));
    }
    Ok(count)
}
