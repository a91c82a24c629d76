//! An event before it has a place.

use countersign_core::run::Timestamp;

use crate::MemoryScope;
use crate::record::{
    EventLocation, MemoryEvent, MemoryEventKind, MemoryExpiry, MemoryOrigin, SpeakerRole,
};
use crate::rules::MemoryRefusal;

/// The longest text of one event, in bytes.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Something that was said or done, as whoever saw it tells it: the memory gives it its place.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMemoryEvent {
    /// Unique within its subject; the same id twice is the same event.
    pub id: String,
    /// Whose, in which session and run.
    pub scope: MemoryScope,
    /// When it happened.
    pub ts: Timestamp,
    /// When it is written down.
    pub recorded_at: Timestamp,
    /// Who spoke.
    pub role: SpeakerRole,
    /// What it is.
    pub kind: MemoryEventKind,
    /// Where it came from.
    pub origin: MemoryOrigin,
    /// The name of whoever spoke, where it is known.
    pub speaker: Option<String>,
    /// The words.
    pub text: String,
    /// By which cues find it.
    pub tags: Vec<String>,
    /// Whom and what it is about.
    pub entities: Vec<String>,
    /// Until when it may be seen; without end where absent.
    pub expires: Option<MemoryExpiry>,
    /// The build of the packet that its writer was shown, where there is one: the memory notes which
    /// insights stood in it. One that is unknown says nothing.
    pub build: Option<String>,
    /// Insights that its writer is known to have seen besides.
    pub seen_insights: Vec<String>,
}

impl NewMemoryEvent {
    /// What a user said just now, and nothing more about it.
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
            place,
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

    /// Whether this tells of that event: all is equal but when it was written down and what the memory noted of
    /// its writer.
    pub(super) fn is_same_event(&self, event: &MemoryEvent) -> bool {
        let mut told = self.clone().into_event(event.place);
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

/// Whether something may be called so.
pub(super) fn check_id(id: &str) -> Result<(), MemoryRefusal> {
    if id.is_empty() || id.len() > 256 || id.chars().any(char::is_control) {
        return Err(MemoryRefusal::malformed("id", "1 to 256 bytes without control characters"));
    }
    Ok(())
}
