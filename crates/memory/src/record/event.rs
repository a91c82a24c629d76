//! Something that was said or done. Events never change; they expire, or are forgotten.

use countersign_core::run::Timestamp;
use serde::{Deserialize, Serialize};

use super::MemoryExpiry;
use crate::MemoryScope;

/// Something that was said or done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryEvent {
    /// Unique within its subject; the same id twice is the same event.
    pub id: String,
    /// Whose, in which session and run.
    pub scope: MemoryScope,
    /// Where it stands in its session.
    pub place: EventLocation,
    /// When it happened.
    pub ts: Timestamp,
    /// When it was written down.
    pub recorded_at: Timestamp,
    /// Who spoke.
    pub role: SpeakerRole,
    /// What it is.
    pub kind: MemoryEventKind,
    /// Where it came from.
    pub origin: MemoryOrigin,
    /// The name of whoever spoke, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// The words.
    pub text: String,
    /// By which cues find it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whom and what it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<String>,
    /// Until when it may be seen; without end where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<MemoryExpiry>,
    /// The insights that stood in the packet that its writer was shown, and those that the writers of what
    /// stood there were shown. A responder sees it once all of them are validated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen_insights: Vec<String>,
}

/// Where an event stands among those of its subject: sessions in the order they began, events in the
/// order they were written. Neighbours differ by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventLocation {
    /// The number of the session within its subject, from 1.
    pub session: u32,
    /// The number of the event within the session, from 1.
    pub position: u32,
}

/// Who spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum SpeakerRole {
    User,
    Assistant,
    Tool,
}

/// What an event is; shown in the type of its citation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryEventKind {
    /// Words of a conversation.
    Message,
    /// What a tool gave.
    ToolResult,
    /// What was decided, by whom it may be.
    Decision,
    /// A change of a run's document.
    StatePatch,
}

/// Where an event came from: what it may be trusted for. Shown in the type of its citation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryOrigin {
    /// A person said it.
    User,
    /// A tool of ours gave it.
    Tool,
    /// It was read in a page or a document.
    Web,
    /// A model wrote it.
    Model,
    /// The runtime itself.
    System,
    /// It came from another memory, and nobody has confirmed it.
    Imported,
}
