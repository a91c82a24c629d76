//! Events: what was said or done. Events never change; they expire or are erased.

use countersign_contract::Timestamp;
use serde::{Deserialize, Serialize};

use super::MemoryExpiry;
use crate::MemoryScope;

/// Something that was said or done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryEvent {
    /// The event id, unique within its subject. Writing the same id again means the same event.
    pub id: String,
    /// The owner, session and run of the event.
    pub scope: MemoryScope,
    /// The position of the event among the events of its subject.
    pub location: EventLocation,
    /// The timestamp at which the event happened.
    pub ts: Timestamp,
    /// The timestamp at which the event was recorded.
    pub recorded_at: Timestamp,
    /// The role of the speaker.
    pub role: SpeakerRole,
    /// The kind of event: a message, tool result, decision or state change.
    pub kind: MemoryEventKind,
    /// The origin of the event, which determines how far it is trusted.
    pub origin: MemoryOrigin,
    /// The name of the speaker, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// The text of the event, verbatim.
    pub text: String,
    /// Tags that the cues of a request match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The people and things that the event is about; the cues of a request match them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<String>,
    /// When the event stops being visible; never when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<MemoryExpiry>,
    /// The ids of the insights in the packet that the author of the event was shown, and of those
    /// that the authors of that packet's content had seen. A responder sees the event only after
    /// all of them are validated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen_insights: Vec<String>,
}

/// The position of an event among the events of its subject. Sessions are numbered in the order
/// they began, events in the order they were written; neighbours differ by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventLocation {
    /// The number of the session within its subject, starting at 1.
    pub session: u32,
    /// The number of the event within its session, starting at 1.
    pub position: u32,
}

/// The role of a speaker in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum SpeakerRole {
    User,
    Assistant,
    Tool,
}

/// The kind of an event, shown in the type of its citation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryEventKind {
    /// A message of a conversation.
    Message,
    /// The result of a tool call.
    ToolResult,
    /// A decision, by a person or a model.
    Decision,
    /// A change to the document of a run.
    StatePatch,
}

/// The origin of an event, which determines how far it is trusted. The summary of its citation
/// begins with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryOrigin {
    /// A person said it.
    User,
    /// One of the application's own tools returned it.
    Tool,
    /// It was read in a web page or a document.
    Web,
    /// A model wrote it.
    Model,
    /// The runtime itself recorded it.
    System,
    /// It was imported from another memory and nobody has confirmed it.
    Imported,
}
