//! Conversations and questions, whatever their source.

use std::path::PathBuf;

use countersign_contract::Timestamp;
use countersign_memory::record::SpeakerRole;
use thiserror::Error;

/// A conversation with its questions.
#[derive(Debug, Clone)]
pub(crate) struct RecallConversation {
    pub(crate) id: String,
    pub(crate) turns: Vec<RecallTurn>,
    pub(crate) questions: Vec<RecallQuestion>,
}

/// A turn of a conversation, or a piece of one.
#[derive(Debug, Clone)]
pub(crate) struct RecallTurn {
    pub(crate) id: String,
    /// The id of the message; the id of the turn unless it is a piece of a message.
    pub(crate) message: String,
    /// The session number, starting at 1.
    pub(crate) session: u32,
    pub(crate) ts: Timestamp,
    pub(crate) role: SpeakerRole,
    pub(crate) speaker: Option<String>,
    pub(crate) text: String,
}

/// A question and what answers it.
#[derive(Debug, Clone)]
pub(crate) struct RecallQuestion {
    pub(crate) text: String,
    pub(crate) category: String,
    pub(crate) evidence: Vec<RecallEvidence>,
}

/// A message that answers a question.
#[derive(Debug, Clone)]
pub(crate) struct RecallEvidence {
    pub(crate) message: String,
    /// The words that must be shown; any part of the message when absent.
    pub(crate) words: Option<String>,
}

/// Why the conversations cannot be used.
#[derive(Debug, Error)]
pub(crate) enum RecallDataError {
    /// The data is not installed.
    #[error(
        "the `LoCoMo` conversations are missing: put them into `locomo-dev/{file}` of the folder that \
         `COUNTERSIGN_DATA` names, or name the file with `--data`"
    )]
    Absent { file: &'static str },
    /// A file cannot be read.
    #[error("`{path}` cannot be read: {source}")]
    Unread {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The file has an unexpected format.
    #[error("`{path}` is not a list of conversations: {source}")]
    Form {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    /// A turn has a date with an unexpected format.
    #[error(
        "turn `{turn}` of `{conversation}` has the date `{date}`; expected `1:56 pm on 8 May, 2023`"
    )]
    Date { conversation: String, turn: String, date: String },
    /// A question references a turn that does not exist.
    #[error("a question about `{conversation}` names the turn `{turn}`, which does not exist")]
    Evidence { conversation: String, turn: String },
    /// A line of a talk cannot be read.
    #[error("line {line} of `{path}`: found `{found}`, expected {expected}")]
    TalkLine { path: PathBuf, line: usize, found: String, expected: &'static str },
}

impl RecallTurn {
    /// Formats the turn as a line of a prompt.
    pub(crate) fn to_prompt_line(&self) -> String {
        match &self.speaker {
            Some(speaker) => format!("{speaker}: {}\n", self.text),
            None => format!("{}\n", self.text),
        }
    }
}

impl RecallEvidence {
    /// Returns whether a quote of a message shows this evidence.
    pub(crate) fn is_shown_by(&self, message: &str, quote: &str) -> bool {
        self.message == message
            && self.words.as_ref().is_none_or(|words| flatten(quote).contains(&flatten(words)))
    }
}

/// Joins the words of a text with single spaces.
fn flatten(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
