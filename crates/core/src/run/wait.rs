//! Waits: why a run stands still, what would move it, and who may.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Timestamp;
use crate::protocol::AnswerChoice;

/// One open wait. Exactly one answer is taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunWait {
    /// Unique in the run: `w1`, `w2`.
    pub id: String,
    /// What kind of answer moves it.
    pub kind: WaitKind,
    /// The phase that waits.
    pub phase: String,
    /// The question's id in the phase, the budget's name, or the phase a way leads to.
    pub name: String,
    /// The question's id in the file, where it is asked for each of several items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The item that it is asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Value>,
    /// The way that an approval is about, by its position among the workflow's transitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<usize>,
    /// What is asked, in a sentence.
    pub question: String,
    /// What an answer looks like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<WaitAnswerShape>,
    /// Who may answer; everybody when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Until when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Since when.
    pub opened_at: Timestamp,
}

/// What kind of answer a wait takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitKind {
    /// An answer.
    Question,
    /// A file.
    Document,
    /// Yes or no to one way.
    Approval,
    /// More of a budget, or the end.
    Budget,
    /// A reply or a patch handed in by hand.
    Work,
    /// A person's look: something went wrong for good.
    Trouble,
}

impl WaitKind {
    /// The word in output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Document => "document",
            Self::Approval => "approval",
            Self::Budget => "budget",
            Self::Work => "work",
            Self::Trouble => "trouble",
        }
    }
}

/// What an answer looks like, for forms and for people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "snake_case")]
pub enum WaitAnswerShape {
    /// A value under this JSON Schema.
    Value {
        /// The schema.
        schema: Value,
    },
    /// One of these.
    Choices {
        /// In the order they are shown.
        choices: Vec<AnswerChoice>,
    },
    /// A file.
    Document {
        /// Where it is looked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        suggested_path: Option<String>,
        /// Extensions that are taken; any when empty.
        accepts: Vec<String>,
    },
}

/// How a wait ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum WaitResolution {
    /// It was answered.
    Answered {
        /// By whom.
        by: String,
    },
    /// It was approved.
    Approved {
        /// By whom.
        by: String,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// It was denied.
    Denied {
        /// By whom.
        by: String,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// Its deadline passed.
    Expired,
    /// The run went on, or ended, without it.
    Dropped,
}
