//! Deliveries: what people are told about a run, through a channel.
//!
//! A delivery is requested in the decision that makes it true, and stored with the same commit. It
//! holds facts about the run; the runtime turns them into a request or a mail.

use countersign_contract::json::measure_json;
use countersign_protocol::{Assignee, ChannelEvent};
use serde::{Deserialize, Serialize};

use super::state::RunEndKind;
use super::wait::{ApprovalSubject, SubjectPart, WaitKind, WaitResolution};
use super::{RunWait, Timestamp};

/// Maximum size in bytes of the approved parts of a document that a delivery contains. Every attempt
/// is recorded with its delivery, and receivers bound what they take.
const MAX_DELIVERED_PARTS_BYTES: usize = 32 << 10;

/// A message about a run to the people behind a channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunDelivery {
    /// Id of the delivery in the run: that of the action of its first attempt. Every attempt has
    /// the same one.
    pub id: String,
    /// Name of the channel.
    pub channel: String,
    /// What happened to the run.
    pub event: ChannelEvent,
    /// When it happened.
    pub time: Timestamp,
    /// Name of the protocol.
    pub protocol: String,
    /// Id of the workflow.
    pub workflow: String,
    /// Id of the phase that the run is in.
    pub phase: String,
    /// Title of the run; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The wait that the event is about; absent if it is about the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<DeliveredWait>,
    /// How the run ended; absent unless it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<RunEndKind>,
    /// Why the run ended or is blocked, in a sentence; absent if there is nothing to add.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a delivery says about a wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeliveredWait {
    /// Id of the wait in the run.
    pub id: String,
    /// The kind of input that the wait takes.
    pub kind: WaitKind,
    /// Id of the phase that waits.
    pub phase: String,
    /// The question to the person; a long one is truncated.
    pub question: String,
    /// Who may answer; anyone if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub who: Vec<Assignee>,
    /// Last time at which an answer is accepted; no limit if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Digest of what an approval signs; absent for other kinds of wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What an approval signs; only if the channel's subscription asks for it, and not if it is
    /// larger than 32 KiB.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<SubjectPart>,
    /// Ids of the waits that this one replaces, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<String>,
    /// How the wait was closed; absent while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<WaitResolution>,
}

impl DeliveredWait {
    /// Copies what a delivery says about a wait. `with_subject` includes the parts of the document
    /// that an approval signs.
    pub(super) fn from_wait(wait: &RunWait, question: String, with_subject: bool) -> Self {
        let subject = wait.subject.as_ref();
        let fits = |subject: &&ApprovalSubject| {
            with_subject && measure_json(&subject.parts).bytes <= MAX_DELIVERED_PARTS_BYTES
        };
        let parts = subject.filter(fits).map(|subject| subject.parts.clone());
        Self {
            id: wait.id.clone(),
            kind: wait.kind,
            phase: wait.phase.clone(),
            question,
            who: wait.who.clone(),
            deadline: wait.deadline,
            subject: subject.map(|subject| subject.digest.clone()),
            parts: parts.unwrap_or_default(),
            supersedes: wait.supersedes.clone(),
            resolution: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn delivered(text: &str, with_subject: bool) -> DeliveredWait {
        let wait = json!({
            "id": "w1", "kind": "approval", "phase": "a", "name": "n", "question": "?", "opened_at": 0,
            "subject": { "digest": "d", "parts": [{ "pointer": "/text", "value": text }] },
        });
        let wait: RunWait = serde_json::from_value(wait).expect("a wait");
        DeliveredWait::from_wait(&wait, "?".to_owned(), with_subject)
    }

    #[test]
    fn a_large_subject_is_named_by_its_digest_only() {
        let small = delivered(&"x".repeat(30 << 10), true);
        assert_eq!((small.parts.len(), small.subject.as_deref()), (1, Some("d")));
        let large = delivered(&"x".repeat(33 << 10), true);
        assert_eq!((large.parts.len(), large.subject.as_deref()), (0, Some("d")));
        let unasked = delivered("x", false);
        assert_eq!((unasked.parts.len(), unasked.subject.as_deref()), (0, Some("d")));
    }
}
