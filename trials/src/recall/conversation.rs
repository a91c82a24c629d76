//! A `LoCoMo` conversation and the questions about it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

use super::locomo_date;

/// The name of the file inside the data folder.
const FILE: &str = "conversations.json";

/// Why the conversations cannot be used.
#[derive(Debug, Error)]
pub(crate) enum LocomoDataError {
    /// The data is not installed.
    #[error(
        "the `LoCoMo` conversations are missing: put them into `locomo-dev/{FILE}` of the folder that \
         `COUNTERSIGN_DATA` names, or name the file with `--data`"
    )]
    Absent,
    /// The file cannot be read.
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
}

/// A conversation with its questions.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LocomoConversation {
    pub(crate) id: String,
    pub(crate) turns: Vec<LocomoTurn>,
    pub(crate) questions: Vec<LocomoQuestion>,
}

/// A turn of a conversation.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LocomoTurn {
    pub(crate) id: String,
    /// The session number, starting at 1.
    pub(crate) session: u32,
    /// The date of the session, as `LoCoMo` writes it.
    pub(crate) date: String,
    pub(crate) speaker: String,
    pub(crate) text: String,
    /// A caption of the attached picture, if there is one.
    #[serde(default)]
    pub(crate) image: Option<String>,
}

/// A question and the ids of the turns that contain its answer.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LocomoQuestion {
    #[serde(rename = "question")]
    pub(crate) text: String,
    /// The category: 1 multi-hop, 2 temporal, 3 open, 4 single-hop, 5 without an answer.
    pub(crate) category: u8,
    pub(crate) evidence: Vec<String>,
}

/// Reads the conversations from this file, or from the data folder.
pub(crate) fn read_conversations(
    path: Option<&Path>,
) -> Result<Vec<LocomoConversation>, LocomoDataError> {
    let path = match path {
        Some(path) => path.to_owned(),
        None => testkit::find_data("locomo-dev").ok_or(LocomoDataError::Absent)?.join(FILE),
    };
    let text = fs::read_to_string(&path)
        .map_err(|source| LocomoDataError::Unread { path: path.clone(), source })?;
    let conversations: Vec<LocomoConversation> =
        serde_json::from_str(&text).map_err(|source| LocomoDataError::Form { path, source })?;
    conversations.iter().try_for_each(LocomoConversation::validate)?;
    Ok(conversations)
}

impl LocomoConversation {
    /// Returns the position of each turn by its id.
    pub(crate) fn index_by_id(&self) -> BTreeMap<&str, usize> {
        self.turns.iter().enumerate().map(|(at, turn)| (turn.id.as_str(), at)).collect()
    }

    fn validate(&self) -> Result<(), LocomoDataError> {
        let conversation = || self.id.clone();
        if let Some(turn) =
            self.turns.iter().find(|turn| locomo_date::parse_locomo_date(&turn.date).is_none())
        {
            let (turn, date) = (turn.id.clone(), turn.date.clone());
            return Err(LocomoDataError::Date { conversation: conversation(), turn, date });
        }
        let known = self.index_by_id();
        let named = self.questions.iter().flat_map(|question| &question.evidence);
        match named.into_iter().find(|id| !known.contains_key(id.as_str())) {
            Some(turn) => {
                Err(LocomoDataError::Evidence { conversation: conversation(), turn: turn.clone() })
            }
            None => Ok(()),
        }
    }
}

impl LocomoTurn {
    /// Returns the text of the turn with the caption of its picture.
    pub(crate) fn text_with_image(&self) -> String {
        match &self.image {
            Some(image) => format!("{} [{image}]", self.text),
            None => self.text.clone(),
        }
    }

    /// Formats the turn as a line of a prompt.
    pub(crate) fn to_prompt_line(&self) -> String {
        format!("{}: {}\n", self.speaker, self.text_with_image())
    }
}
