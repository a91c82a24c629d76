//! What was said in a session, in order.

use countersign_core::run::Time;

use super::shelves::{Answer, Shelves};
use crate::Scope;
use crate::record::Event;
use crate::rules::is_over;

/// The latest events of a session behind a position, in their order; without what is over in this run.
pub(super) fn session(
    shelves: &impl Shelves,
    scope: &Scope,
    after: u32,
    limit: usize,
    now: Time,
) -> Answer<Vec<Event>> {
    scope.check()?;
    let Some(last) = shelves.last_place(scope)? else { return Ok(Vec::new()) };
    // No place is given twice, so there are no more behind it than this.
    let behind = last.position.saturating_sub(after) as usize;
    if behind == 0 || limit == 0 {
        return Ok(Vec::new());
    }
    let mut events = shelves.window(scope, behind.min(limit))?;
    events.retain(|event| {
        let over = is_over(event.expires, event.scope.run(), scope.run(), now);
        event.place.position > after && !over
    });
    Ok(events)
}
