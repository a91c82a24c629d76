//! Converts a conversation into memory events.

use std::collections::BTreeMap;

use countersign_memory::record::{
    EventLocation, MemoryEvent, MemoryEventKind, MemoryOrigin, SpeakerRole,
};
use countersign_memory::{MemoryScope, MemoryScopeError};

use super::recall_data::{RecallConversation, RecallTurn};

/// Builds one event per turn, in order.
pub(crate) fn build_events(
    conversation: &RecallConversation,
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
    conversation: &RecallConversation,
    turn: &RecallTurn,
    position: u32,
) -> Result<MemoryEvent, MemoryScopeError> {
    let session = format!("session-{}", turn.session);
    Ok(MemoryEvent {
        id: turn.id.clone(),
        scope: MemoryScope::new("recall", conversation.id.as_str(), "recall", session, "run")?,
        location: EventLocation { session: turn.session, position },
        ts: turn.ts,
        recorded_at: turn.ts,
        role: turn.role,
        kind: MemoryEventKind::Message,
        origin: match turn.role {
            SpeakerRole::User => MemoryOrigin::User,
            SpeakerRole::Assistant => MemoryOrigin::Model,
            SpeakerRole::Tool => MemoryOrigin::Tool,
        },
        speaker: turn.speaker.clone(),
        text: turn.text.clone(),
        tags: Vec::new(),
        entities: Vec::new(),
        expires: None,
        seen_insights: Vec::new(),
    })
}
