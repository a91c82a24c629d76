//! What was said in a session, in order.

use countersign_core::run::Timestamp;

use super::row_store::{MemoryResult, RowStore};
use crate::MemoryScope;
use crate::record::MemoryEvent;
use crate::rules::is_expired;

/// The latest events of a session behind a position, in their order; without what is over in this run.
pub(super) fn list_session_events(
    shelves: &impl RowStore,
    scope: &MemoryScope,
    after: u32,
    limit: usize,
    now: Timestamp,
) -> MemoryResult<Vec<MemoryEvent>> {
    scope.check()?;
    let Some(last) = shelves.load_last_location(scope)? else { return Ok(Vec::new()) };
    // No place is given twice, so there are no more behind it than this.
    let behind = last.position.saturating_sub(after) as usize;
    if behind == 0 || limit == 0 {
        return Ok(Vec::new());
    }
    let mut events = shelves.load_window(scope, behind.min(limit))?;
    events.retain(|event| {
        let over = is_expired(event.expires, event.scope.run(), scope.run(), now);
        event.place.position > after && !over
    });
    Ok(events)
}
