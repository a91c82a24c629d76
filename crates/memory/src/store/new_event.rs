//! Events before the store assigns their location.

use countersign_contract::Timestamp;

use crate::MemoryScope;
use crate::record::{
    EventLocation, MemoryEvent, MemoryEventKind, MemoryExpiry, MemoryOrigin, SpeakerRole,
};
use crate::rules::MemoryRefusal;

/// The maximum length of the text of an event, in bytes (1 MiB).
const MAX_TEXT_BYTES: usize = 1 << 20;

/// An event as the caller reports it. The memory assigns its location.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMemoryEvent {
    /// The event id, unique within its subject. Writing the same id again means the same event.
    pub id: String,
    /// The owner, session and run of the event.
    pub scope: MemoryScope,
    /// The timestamp at which the event happened.
    pub ts: Timestamp,
    /// The timestamp at which the event is recorded.
    pub recorded_at: Timestamp,
    /// The role of the speaker.
    pub role: SpeakerRole,
    /// The kind of event: a message, tool result, decision or state change.
    pub kind: MemoryEventKind,
    /// The origin of the event, which determines how far it is trusted.
    pub origin: MemoryOrigin,
    /// The name of the speaker, if it is known.
    pub speaker: Option<String>,
    /// The text of the event, verbatim; at most 1 MiB.
    pub text: String,
    /// Tags that the cues of a request match.
    pub tags: Vec<String>,
    /// The people and things that the event is about; the cues of a request match them.
    pub entities: Vec<String>,
    /// When the event stops being visible; never when absent.
    pub expires: Option<MemoryExpiry>,
    /// The id of the build whose packet the author was shown, if there was one. The memory records
    /// the insights in that packet; an unknown id has no effect.
    pub build: Option<String>,
    /// The ids of further insights that the author is known to have seen.
    pub seen_insights: Vec<String>,
}

impl NewMemoryEvent {
    /// Creates an event for a user message at the current time, with no other details.
    #[must_use]
    pub fn from_user_message(
        scope: MemoryScope,
        id: impl Into<String>,
        text: impl Into<String>,
        now: Timestamp,
    ) -> Self {
        Self {
            id: id.into(),
            scope,
            ts: now,
            recorded_at: now,
            role: SpeakerRole::User,
            kind: MemoryEventKind::Message,
            origin: MemoryOrigin::User,
            speaker: None,
            text: text.into(),
            tags: Vec::new(),
            entities: Vec::new(),
            expires: None,
            build: None,
            seen_insights: Vec::new(),
        }
    }

    pub(crate) fn into_event(self, place: EventLocation) -> MemoryEvent {
        MemoryEvent {
            id: self.id,
            scope: self.scope,
            location: place,
            ts: self.ts,
            recorded_at: self.recorded_at,
            role: self.role,
            kind: self.kind,
            origin: self.origin,
            speaker: self.speaker,
            text: self.text,
            tags: self.tags,
            entities: self.entities,
            expires: self.expires,
            seen_insights: self.seen_insights,
        }
    }

    /// Returns whether this describes a stored event: everything is equal except the recording time
    /// and the insights that the memory recorded for its author.
    pub(super) fn is_same_event(&self, event: &MemoryEvent) -> bool {
        let mut told = self.clone().into_event(event.location);
        told.recorded_at = event.recorded_at;
        told.seen_insights.clone_from(&event.seen_insights);
        told == *event
    }

    pub(super) fn check(&self) -> Result<(), MemoryRefusal> {
        check_id(&self.id)?;
        if self.text.len() > MAX_TEXT_BYTES {
            return Err(MemoryRefusal::malformed(
                "text",
                format!("at most {MAX_TEXT_BYTES} bytes"),
            ));
        }
        Ok(())
    }
}

impl From<MemoryEvent> for NewMemoryEvent {
    fn from(event: MemoryEvent) -> Self {
        Self {
            id: event.id,
            scope: event.scope,
            ts: event.ts,
            recorded_at: event.recorded_at,
            role: event.role,
            kind: event.kind,
            origin: event.origin,
            speaker: event.speaker,
            text: event.text,
            tags: event.tags,
            entities: event.entities,
            expires: event.expires,
            build: None,
            seen_insights: event.seen_insights,
        }
    }
}

/// Checks that an id has 1 to 256 bytes without control characters.
pub(super) fn check_id(id: &str) -> Result<(), MemoryRefusal> {
    if id.is_empty() || id.len() > 256 || id.chars().any(char::is_control) {
        return Err(MemoryRefusal::malformed("id", "1 to 256 bytes without control characters"));
    }
    Ok(())
}
