//! A conversation as the events that a memory keeps.

use std::collections::BTreeMap;

use countersign_memory::record::{Event, EventKind, Origin, Place, Role};
use countersign_memory::{Scope, ScopeError};

use super::conversation::{Conversation, Turn};
use super::moment;

/// Every turn as an event, in their order.
pub(crate) fn events(conversation: &Conversation) -> Result<Vec<Event>, ScopeError> {
    let mut positions = BTreeMap::new();
    let mut events = Vec::new();
    for turn in &conversation.turns {
        let position = positions.entry(turn.session).or_insert(0);
        *position += 1;
        events.push(event(conversation, turn, *position)?);
    }
    Ok(events)
}

fn event(conversation: &Conversation, turn: &Turn, position: u32) -> Result<Event, ScopeError> {
    let session = format!("session-{}", turn.session);
    let ts = moment::parse(&turn.date).expect("dates were checked when they were read");
    let ts = ts.after(i64::from(position));
    Ok(Event {
        id: turn.id.clone(),
        scope: Scope::new("locomo", conversation.id.as_str(), "recall", session, "run")?,
        place: Place { session: turn.session, position },
        ts,
        recorded_at: ts,
        role: Role::User,
        kind: EventKind::Message,
        origin: Origin::User,
        speaker: Some(turn.speaker.clone()),
        text: turn.words(),
        tags: Vec::new(),
        entities: Vec::new(),
        expires: None,
        seen_insights: Vec::new(),
    })
}
