//! Waits: why a run is waiting, what input continues it, and who may give that input.

use std::collections::BTreeMap;

use countersign_contract::patch::Patch;
use countersign_protocol::{
    AnswerChoice, ApprovalRules, Assignee, DistinctParty, NotePolicy, PresentationFormat,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{InputKind, InputRejection, Timestamp};

/// An open wait. Exactly one answer is accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunWait {
    /// Unique in the run: `w1`, `w2`.
    pub id: String,
    /// The kind of input that the wait takes.
    pub kind: WaitKind,
    /// Id of the phase that waits.
    pub phase: String,
    /// The question's id in the phase, the budget's name, or the phase that a transition leads to.
    pub name: String,
    /// The question's id in the protocol file, if the question is asked per item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition_id: Option<String>,
    /// The item that the question is about; absent if it is not asked per item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Value>,
    /// Position of the transition that an approval is for, among the workflow's transitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<usize>,
    /// The question to the person, in a sentence.
    pub question: String,
    /// Shape of the answer; absent for waits that take no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_shape: Option<WaitAnswerShape>,
    /// Who may answer; anyone if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub who: Vec<Assignee>,
    /// Last time at which an answer is accepted; no limit if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// When the wait was opened.
    pub opened_at: Timestamp,
    /// What an approval signs; absent for other kinds of wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<ApprovalSubject>,
    /// What the approver is shown of the subject, in this order; the whole subject if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub presented: Vec<PresentedPart>,
    /// Ids of the waits that this one replaces because their subject changed, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<String>,
    /// When each channel is told that the deadline is near, by the name of the channel. A channel
    /// that was told is removed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reminders: BTreeMap<String, Timestamp>,
    /// Id of the action that is held until the approval; absent if the approval is for a
    /// transition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// What a decision needs, and what was decided so far; absent for other kinds of wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<WaitApproval>,
}

impl RunWait {
    /// The rejection of a decision on `old`, a wait that this one replaces.
    #[must_use]
    pub fn reject_old_subject(&self, old: &str) -> InputRejection {
        let subject = self.subject.as_ref();
        InputRejection::SubjectChanged {
            wait: old.to_owned(),
            current: self.id.clone(),
            digest: subject.map(|subject| subject.digest.clone()).unwrap_or_default(),
            changes: subject.and_then(|subject| subject.changes.clone()),
        }
    }

    /// Builds the decision of a person who saw this wait with its subject.
    #[must_use]
    pub fn decide(&self, approve: bool, by: &str, note: Option<String>) -> InputKind {
        InputKind::ApprovalDecided {
            wait: self.id.clone(),
            approve,
            by: by.to_owned(),
            note,
            subject: self.subject.as_ref().map(|subject| subject.digest.clone()),
        }
    }
}

/// What an approval signs: a transition, and the parts of the document that it is based on.
///
/// The person who approves names the digest. If the document changes so that the digest changes,
/// the wait is superseded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalSubject {
    /// SHA-256 of the canonical JSON of the transition and the parts.
    pub digest: String,
    /// The approved pointers with their values, without engine-owned fields. Empty if `omitted`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<SubjectPart>,
    /// Whether the parts are too large to be stored with the wait; they are in the document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub omitted: bool,
    /// What changed since the first of the waits that this one replaces; absent for the first wait,
    /// or if the difference is too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Patch>,
}

/// What a decision on an approval needs, and what was decided so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitApproval {
    /// How many different people must approve.
    pub need: u32,
    /// Parties of the run that may not decide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distinct_from: Vec<DistinctParty>,
    /// Names of the people in these parties when the approval was requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<String>,
    /// Whether a claimed name is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verified: bool,
    /// When a decision must state a reason.
    #[serde(default)]
    pub note: NotePolicy,
    /// When more people may decide; absent if that is not planned or has happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalate_at: Option<Timestamp>,
    /// Who may decide then, beside those who may already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub escalate_to: Vec<Assignee>,
    /// Approvals given so far; the wait stays open until there are enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<ApprovalVote>,
    /// Who was asked to decide by somebody who may, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delegations: Vec<WaitDelegation>,
}

impl WaitApproval {
    /// Builds the state of an approval that was requested at `now`.
    #[must_use]
    pub fn from_rules(rules: &ApprovalRules, now: Timestamp) -> Self {
        let ApprovalRules { distinct_from, need, verified, note, escalation, .. } = rules.clone();
        let escalate_at =
            escalation.as_ref().map(|escalation| now.plus_millis(escalation.after.millis));
        Self {
            need,
            distinct_from,
            excluded: Vec::new(),
            verified,
            note,
            escalate_at,
            escalate_to: escalation.map_or_else(Vec::new, |escalation| escalation.to),
            votes: Vec::new(),
            delegations: Vec::new(),
        }
    }
}

/// One of several approvals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalVote {
    /// The person who approved.
    pub by: String,
    /// The stated reason; absent if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A decision that one person handed to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitDelegation {
    /// Who handed it over.
    pub by: String,
    /// Who may decide since then.
    pub to: String,
    /// The stated reason; absent if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One part of a subject, as the approver is shown it. The value is in the subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PresentedPart {
    /// The heading above the part.
    pub title: String,
    /// JSON Pointer of the part in the document.
    pub pointer: String,
    /// The format; text for strings and JSON for other values if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<PresentationFormat>,
    /// The value that was approved last; absent unless the format is `difference` and there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The file that the value names; absent unless the format is `file` or `image`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PresentedFile>,
}

/// A file of the workspace whose content is part of a subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PresentedFile {
    /// Path of the file inside the workspace.
    pub path: String,
    /// SHA-256 of the content; absent if there is no such file, or it is too large to be signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl ApprovalSubject {
    /// The value at a pointer of the document, as the subject has it; `None` if the subject does
    /// not include it, or its parts are omitted.
    #[must_use]
    pub fn find_value(&self, pointer: &str) -> Option<&Value> {
        self.parts.iter().find_map(|part| {
            let rest = pointer.strip_prefix(part.pointer.as_str())?;
            part.value.pointer(rest)
        })
    }
}

/// One approved part of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubjectPart {
    /// JSON Pointer of the part; empty for the whole document.
    pub pointer: String,
    /// The value; null if the document has none there.
    pub value: Value,
}

/// The kind of input that a wait takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitKind {
    /// An answer to a question.
    Question,
    /// A file that a person provides.
    Document,
    /// Approval or denial of one transition.
    Approval,
    /// A larger budget, or the end of the run.
    Budget,
    /// A reply or patch that a person submits.
    Work,
    /// A decision on an incident: something failed permanently, and a person decides whether to
    /// retry.
    Incident,
}

impl WaitKind {
    /// The name in output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Document => "document",
            Self::Approval => "approval",
            Self::Budget => "budget",
            Self::Work => "work",
            Self::Incident => "incident",
        }
    }
}

/// Shape of an answer, for forms and for people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WaitAnswerShape {
    /// A value that satisfies a JSON Schema.
    Value {
        /// The JSON Schema of the answer.
        schema: Value,
    },
    /// One of several choices.
    Choices {
        /// The choices, in display order.
        choices: Vec<AnswerChoice>,
    },
    /// A file from the workspace.
    Document {
        /// Path where the file is expected, inside the workspace; absent if the author suggests
        /// none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        suggested_path: Option<String>,
        /// Accepted extensions, with the dot; any if empty.
        accepts: Vec<String>,
    },
}

/// How a wait was closed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum WaitResolution {
    /// A person answered the question, or its default was used.
    Answered {
        /// Who answered it.
        by: String,
    },
    /// A person approved the request.
    Approved {
        /// Who approved it.
        by: String,
        /// The stated reason; absent if none was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A person denied the request.
    Denied {
        /// Who denied it.
        by: String,
        /// The stated reason; absent if none was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The subject of the approval changed; another wait asks again.
    Superseded,
    /// The deadline passed without an answer.
    Expired,
    /// The run continued or ended without an answer.
    Dropped,
}
