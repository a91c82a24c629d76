//! Reads the talks of `trials/talks`: what a person says over some weeks, what an assistant
//! advises, and questions with the keys of what answers them.
//!
//! ```text
//! language: en                 say KEY: something the person says
//! held-out: yes                tell KEY: something only the assistant says
//! ask: a message without news  ? CATEGORY KEY,KEY: a question
//! head: a heading of a reply   advice: a line of a reply
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use super::recall_data::RecallDataError;

/// The material of a talk.
#[derive(Debug, Clone, Default)]
pub(crate) struct TalkSource {
    pub(crate) id: String,
    pub(crate) language: String,
    pub(crate) held_out: bool,
    /// In the order in which they are said.
    pub(crate) statements: Vec<TalkStatement>,
    pub(crate) questions: Vec<TalkQuestion>,
    pub(crate) asks: Vec<String>,
    pub(crate) headings: Vec<String>,
    pub(crate) advice: Vec<String>,
}

/// Something that a question may be about.
#[derive(Debug, Clone)]
pub(crate) struct TalkStatement {
    pub(crate) key: String,
    /// Whether the assistant says it, and not the person.
    pub(crate) by_assistant: bool,
    pub(crate) text: String,
}

/// A question about a talk.
#[derive(Debug, Clone)]
pub(crate) struct TalkQuestion {
    pub(crate) category: String,
    /// The keys of the statements that answer it.
    pub(crate) keys: Vec<String>,
    pub(crate) text: String,
}

/// Reads all talks of a folder, by name.
pub(crate) fn read_talks(folder: &Path) -> Result<Vec<TalkSource>, RecallDataError> {
    let unread = |path: &Path| {
        let path = path.to_owned();
        move |source| RecallDataError::Unread { path, source }
    };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).map_err(unread(folder))? {
        let path = entry.map_err(unread(folder))?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            paths.push(path);
        }
    }
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).map_err(unread(path))?;
        parse_talk(path, &text)
    };
    paths.iter().map(read).collect()
}

fn parse_talk(path: &Path, text: &str) -> Result<TalkSource, RecallDataError> {
    let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut talk = TalkSource { id, ..TalkSource::default() };
    for (number, line) in (1..).zip(text.lines()) {
        let fault = |expected| RecallDataError::TalkLine {
            path: path.to_owned(),
            line: number,
            found: line.to_owned(),
            expected,
        };
        if line.trim().is_empty() {
            continue;
        }
        let (head, text) = line.split_once(": ").ok_or_else(|| fault("`KIND: TEXT`"))?;
        let words: Vec<&str> = head.split(' ').collect();
        let text = text.trim().to_owned();
        match words.as_slice() {
            ["title"] => {}
            ["language"] => talk.language = text,
            ["held-out"] => talk.held_out = text == "yes",
            ["ask"] => talk.asks.push(text),
            ["head"] => talk.headings.push(text),
            ["advice"] => talk.advice.push(text),
            [kind @ ("say" | "tell"), key] => talk.statements.push(TalkStatement {
                key: (*key).to_owned(),
                by_assistant: *kind == "tell",
                text,
            }),
            ["?", category, keys] => {
                let keys: Vec<String> = keys.split(',').map(str::to_owned).collect();
                let known = |key: &String| talk.statements.iter().any(|one| one.key == *key);
                if !keys.iter().all(known) {
                    return Err(fault("keys of statements above"));
                }
                talk.questions.push(TalkQuestion { category: (*category).to_owned(), keys, text });
            }
            _ => return Err(fault("a kind that the module names")),
        }
    }
    Ok(talk)
}
