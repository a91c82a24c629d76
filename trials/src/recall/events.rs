//! Converts a conversation into memory events.

use std::collections::BTreeMap;

use countersign_memory::record::{
    EventLocation, MemoryEvent, MemoryEventKind, MemoryOrigin, SpeakerRole,
};
use countersign_memory::{MemoryScope, MemoryScopeError};

use super::conversation::{LocomoConversation, LocomoTurn};
use super::locomo_date;

/// Builds one event per turn, in order.
pub(crate) fn build_events(
    conversation: &LocomoConversation,
) -> Result<Vec<MemoryEvent>, MemoryScopeError> {
    let mut positions = BTreeMap::new();
    let mut events = Vec::new();
    for turn in &conversation.turns {
        let position = positions.entry(turn.session).or_insert(0);
        *position += 1;
        events.push(build_event(conversation, turn, *position)?);
    }
    Ok(events)
}

fn build_event(
    conversation: &LocomoConversation,
    turn: &LocomoTurn,
    position: u32,
) -> Result<MemoryEvent, MemoryScopeError> {
    let session = format!("session-{}", turn.session);
    let ts =
        locomo_date::parse_locomo_date(&turn.date).expect("dates were checked when they were read");
    let ts = ts.plus_millis(i64::from(position));
    Ok(MemoryEvent {
        id: turn.id.clone(),
        scope: MemoryScope::new("locomo", conversation.id.as_str(), "recall", session, "run")?,
        location: EventLocation { session: turn.session, position },
        ts,
        recorded_at: ts,
        role: SpeakerRole::User,
        kind: MemoryEventKind::Message,
        origin: MemoryOrigin::User,
        speaker: Some(turn.speaker.clone()),
        text: turn.text_with_image(),
        tags: Vec::new(),
        entities: Vec::new(),
        expires: None,
        seen_insights: Vec::new(),
    })
}
