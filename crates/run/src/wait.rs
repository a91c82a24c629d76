//! Waits: why a run is waiting, what input continues it, and who may give that input.

use countersign_protocol::AnswerChoice;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Timestamp;

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
    /// The assignee, who alone may answer; anyone if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Last time at which an answer is accepted; no limit if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// When the wait was opened.
    pub opened_at: Timestamp,
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
    /// The deadline passed without an answer.
    Expired,
    /// The run continued or ended without an answer.
    Dropped,
}
