//! Lists the events of a session.

use countersign_contract::Timestamp;

use super::row_store::{MemoryResult, RowStore};
use crate::MemoryScope;
use crate::record::MemoryEvent;
use crate::rules::is_expired;

/// Lists the latest events of a session after a position, in order, without those that have expired
/// in this run.
pub(super) fn list_session_events(
    row_store: &impl RowStore,
    scope: &MemoryScope,
    after: u32,
    limit: usize,
    now: Timestamp,
) -> MemoryResult<Vec<MemoryEvent>> {
    scope.check()?;
    let Some(last) = row_store.load_last_location(scope)? else { return Ok(Vec::new()) };
    // A location is never assigned twice, so there are at most this many events after it.
    let behind = last.position.saturating_sub(after) as usize;
    if behind == 0 || limit == 0 {
        return Ok(Vec::new());
    }
    let mut events = row_store.load_window(scope, behind.min(limit))?;
    events.retain(|event| {
        let over = is_expired(event.expires, event.scope.run(), scope.run(), now);
        event.location.position > after && !over
    });
    Ok(events)
}
