//! Reads the conversations of `LoCoMo`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use countersign_memory::record::SpeakerRole;
use serde::Deserialize;

use super::locomo_date::parse_locomo_date;
use super::recall_data::{
    RecallConversation, RecallDataError, RecallEvidence, RecallQuestion, RecallTurn,
};

/// The name of the file inside the data folder.
const FILE: &str = "conversations.json";

/// The category of questions that nothing answers.
pub(crate) const UNANSWERABLE: &str = "without an answer";

#[derive(Debug, Deserialize)]
struct LocomoConversation {
    id: String,
    turns: Vec<LocomoTurn>,
    questions: Vec<LocomoQuestion>,
}

#[derive(Debug, Deserialize)]
struct LocomoTurn {
    id: String,
    /// The session number, starting at 1.
    session: u32,
    /// The date of the session, as `LoCoMo` writes it.
    date: String,
    speaker: String,
    text: String,
    /// A caption of the attached picture, if there is one.
    #[serde(default)]
    image: Option<String>,
}

#[derive(Debug, Deserialize)]
struct LocomoQuestion {
    question: String,
    category: u8,
    /// The ids of the turns that contain the answer.
    evidence: Vec<String>,
}

/// Reads the conversations from this file, or from the data folder.
pub(crate) fn read_conversations(
    path: Option<&Path>,
) -> Result<Vec<RecallConversation>, RecallDataError> {
    let path = match path {
        Some(path) => path.to_owned(),
        None => testkit::find_data("locomo-dev")
            .ok_or(RecallDataError::Absent { file: FILE })?
            .join(FILE),
    };
    let text = fs::read_to_string(&path)
        .map_err(|source| RecallDataError::Unread { path: path.clone(), source })?;
    let conversations: Vec<LocomoConversation> =
        serde_json::from_str(&text).map_err(|source| RecallDataError::Form { path, source })?;
    conversations.into_iter().map(convert_conversation).collect()
}

fn convert_conversation(
    conversation: LocomoConversation,
) -> Result<RecallConversation, RecallDataError> {
    let LocomoConversation { id, turns, questions } = conversation;
    let mut positions = BTreeMap::new();
    let turns = turns
        .into_iter()
        .map(|turn| {
            let date = || RecallDataError::Date {
                conversation: id.clone(),
                turn: turn.id.clone(),
                date: turn.date.clone(),
            };
            let ts = parse_locomo_date(&turn.date).ok_or_else(date)?;
            let position: &mut i64 = positions.entry(turn.session).or_insert(0);
            *position += 1;
            let text = match turn.image {
                Some(image) => format!("{} [{image}]", turn.text),
                None => turn.text,
            };
            Ok(RecallTurn {
                message: turn.id.clone(),
                id: turn.id,
                session: turn.session,
                ts: ts.plus_millis(*position),
                role: SpeakerRole::User,
                speaker: Some(turn.speaker),
                text,
            })
        })
        .collect::<Result<Vec<_>, RecallDataError>>()?;
    let known: BTreeSet<&str> = turns.iter().map(|turn| turn.id.as_str()).collect();
    let named = questions.iter().flat_map(|question| &question.evidence);
    if let Some(turn) = named.into_iter().find(|id| !known.contains(id.as_str())) {
        return Err(RecallDataError::Evidence { conversation: id, turn: turn.clone() });
    }
    let questions = questions.into_iter().map(convert_question).collect();
    Ok(RecallConversation { id, turns, questions })
}

fn convert_question(question: LocomoQuestion) -> RecallQuestion {
    let category = match question.category {
        1 => "multi-hop",
        2 => "temporal",
        3 => "open",
        4 => "single-hop",
        _ => UNANSWERABLE,
    };
    let evidence = question.evidence.into_iter();
    RecallQuestion {
        text: question.question,
        category: category.to_owned(),
        evidence: evidence.map(|message| RecallEvidence { message, words: None }).collect(),
    }
}
