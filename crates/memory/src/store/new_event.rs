//! An event before it has a place.

use countersign_core::run::Time;

use crate::Scope;
use crate::record::{Event, EventKind, Expiry, Origin, Place, Role};
use crate::rules::Refusal;

/// The longest text of one event, in bytes.
const LONGEST_TEXT: usize = 1 << 20;

/// Something that was said or done, as whoever saw it tells it: the memory gives it its place.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    /// Unique within its subject; the same id twice is the same event.
    pub id: String,
    /// Whose, in which session and run.
    pub scope: Scope,
    /// When it happened.
    pub ts: Time,
    /// When it is written down.
    pub recorded_at: Time,
    /// Who spoke.
    pub role: Role,
    /// What it is.
    pub kind: EventKind,
    /// Where it came from.
    pub origin: Origin,
    /// The name of whoever spoke, where it is known.
    pub speaker: Option<String>,
    /// The words.
    pub text: String,
    /// By which cues find it.
    pub tags: Vec<String>,
    /// Whom and what it is about.
    pub entities: Vec<String>,
    /// Until when it may be seen; without end where absent.
    pub expires: Option<Expiry>,
    /// The build of the packet that its writer was shown, where there is one: the memory notes which
    /// insights stood in it. One that is unknown says nothing.
    pub build: Option<String>,
    /// Insights that its writer is known to have seen besides.
    pub seen_insights: Vec<String>,
}

impl NewEvent {
    /// What a user said just now, and nothing more about it.
    #[must_use]
    pub fn said(scope: Scope, id: impl Into<String>, text: impl Into<String>, now: Time) -> Self {
        Self {
            id: id.into(),
            scope,
            ts: now,
            recorded_at: now,
            role: Role::User,
            kind: EventKind::Message,
            origin: Origin::User,
            speaker: None,
            text: text.into(),
            tags: Vec::new(),
            entities: Vec::new(),
            expires: None,
            build: None,
            seen_insights: Vec::new(),
        }
    }

    pub(crate) fn at(self, place: Place) -> Event {
        Event {
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
    pub(super) fn tells_of(&self, event: &Event) -> bool {
        let mut told = self.clone().at(event.place);
        told.recorded_at = event.recorded_at;
        told.seen_insights.clone_from(&event.seen_insights);
        told == *event
    }

    pub(super) fn check(&self) -> Result<(), Refusal> {
        check_id(&self.id)?;
        if self.text.len() > LONGEST_TEXT {
            return Err(Refusal::malformed("text", format!("at most {LONGEST_TEXT} bytes")));
        }
        Ok(())
    }
}

impl From<Event> for NewEvent {
    fn from(event: Event) -> Self {
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
pub(super) fn check_id(id: &str) -> Result<(), Refusal> {
    if id.is_empty() || id.len() > 256 || id.chars().any(char::is_control) {
        return Err(Refusal::malformed("id", "1 to 256 bytes without control characters"));
    }
    Ok(())
}
