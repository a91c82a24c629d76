//! The source kind `files`: finds passages in the text files of a folder by their words.
//!
//! Nothing is cached between queries and nothing is random: equal files and equal queries give
//! equal answers. Words are matched as substrings, so scripts without spaces work too.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::{EffectError, EffectErrorKind, RetrieverFuture, SourceRetriever};
use crate::workspace::{WalkOutcome, Workspace, WorkspaceError, WorkspacePath};

const MAX_FILES: usize = 2_000;
const MAX_BYTES: u64 = 32 * 1024 * 1024;
const MAX_PASSAGES: u64 = 50;
const MAX_QUERY_BYTES: usize = 2_000;

/// Maximum length of a returned passage, in characters.
const MAX_PASSAGE_CHARS: usize = 1_200;

/// A folder of text files that can be searched.
#[derive(Debug, Clone)]
pub struct FilesRetriever {
    name: String,
    folder: PathBuf,
    extensions: Vec<String>,
    limit: u64,
}

/// A passage of a file, delimited by blank lines.
struct FilePassage {
    path: String,
    line: usize,
    text: String,
    lower: String,
}

impl FilesRetriever {
    /// Reads the settings: `path`, and optionally `extensions` (default `[md, txt]`) and `limit`
    /// (default 10, from 1 to 50).
    ///
    /// The folder itself is opened for each query, so it may appear and disappear.
    pub fn open(name: &str, settings: &Value, base: &Path) -> Result<Self, EffectError> {
        let fault = |what: &str| {
            let message = format!("source `{name}` {what}");
            EffectError::new_permanent(EffectErrorKind::NotConfigured, message)
        };
        let path = settings.get("path").and_then(Value::as_str);
        let path = path.ok_or_else(|| fault("has no `path`; expected a folder"))?;
        let extensions = match settings.get("extensions") {
            None => vec!["md".to_owned(), "txt".to_owned()],
            Some(Value::Array(list)) => {
                let names = list.iter().map(Value::as_str).collect::<Option<Vec<_>>>();
                let names = names.ok_or_else(|| fault("has `extensions` that are not strings"))?;
                names.into_iter().map(|name| name.trim_start_matches('.').to_lowercase()).collect()
            }
            Some(_) => return Err(fault("has `extensions` that are not a list")),
        };
        let limit = match settings.get("limit") {
            None => 10,
            Some(limit) => limit
                .as_u64()
                .filter(|limit| (1..=MAX_PASSAGES).contains(limit))
                .ok_or_else(|| fault("has a `limit` that is not a number from 1 to 50"))?,
        };
        Ok(Self { name: name.to_owned(), folder: base.join(path), extensions, limit })
    }

    fn search(&self, question: &str, limit: u64) -> Result<Value, EffectError> {
        let passages = self.read_passages()?;
        let words = split_words(question);
        let phrase = words.join(" ");
        // A word that occurs in few passages weighs more than one that occurs in all.
        let weights: Vec<f64> = words
            .iter()
            .map(|word| passages.iter().filter(|passage| passage.lower.contains(word)).count())
            .map(|passages| 1.0 / (1.0 + passages as f64))
            .collect();
        let whole: f64 = weights.iter().sum();
        let mut found: Vec<(i64, &FilePassage)> = Vec::new();
        for passage in &passages {
            let has = words.iter().zip(&weights).filter(|(word, _)| passage.lower.contains(*word));
            let share: f64 = has.map(|(_, weight)| weight).sum::<f64>() / whole;
            let bonus = if words.len() > 1 && passage.lower.contains(&phrase) { 1.0 } else { 0.0 };
            if share > 0.0 {
                found.push((((share + bonus) * 10_000.0).round() as i64, passage));
            }
        }
        found.sort_by(|(a, one), (b, other)| {
            b.cmp(a).then_with(|| (&one.path, one.line).cmp(&(&other.path, other.line)))
        });
        let hits = found.into_iter().take(limit as usize).map(|(score, passage)| {
            json!({
                "id": format!("{}/{}#{}", self.name, passage.path, passage.line),
                "source": self.name,
                "path": passage.path,
                "line": passage.line,
                "text": passage.text.chars().take(MAX_PASSAGE_CHARS).collect::<String>(),
                "score": score as f64 / 10_000.0,
            })
        });
        Ok(Value::Array(hits.collect()))
    }

    fn read_passages(&self) -> Result<Vec<FilePassage>, EffectError> {
        let gone = |error: WorkspaceError| {
            let message = format!("source `{}`: {error}", self.name);
            EffectError::new_permanent(EffectErrorKind::NotConfigured, message)
        };
        let large = |what: String| {
            let message = format!("source `{}` {what}", self.name);
            EffectError::new_permanent(EffectErrorKind::TooLarge, message)
        };
        let folder = Workspace::open(&self.folder).map_err(gone)?;
        let mut files = Vec::new();
        let walked = folder.walk(&WorkspacePath::root(), &mut |file: &WorkspacePath| {
            if self.accepts_file(file) {
                files.push(file.to_string());
            }
            if files.len() > MAX_FILES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match walked.map_err(gone)? {
            WalkOutcome::Complete => {}
            WalkOutcome::Stopped => return Err(large(format!("has more than {MAX_FILES} files"))),
            WalkOutcome::TooDeep => {
                return Err(large("has folders that are nested too deeply".to_owned()));
            }
        }
        let mut left = MAX_BYTES;
        let mut passages = Vec::new();
        for path in files {
            let content = folder.read(&path, left).map_err(gone)?;
            if content.truncated {
                return Err(large(format!("has more than {} MiB of text", MAX_BYTES >> 20)));
            }
            left -= content.bytes.len() as u64;
            split_passages(&path, &String::from_utf8_lossy(&content.bytes), &mut passages);
        }
        Ok(passages)
    }

    fn accepts_file(&self, file: &WorkspacePath) -> bool {
        let name = file.names().last().map(|name| name.to_lowercase()).unwrap_or_default();
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        extension.is_some_and(|extension| self.extensions.iter().any(|taken| taken == extension))
    }

    /// Parses a query: a text, or an object with `text` and its own `limit`.
    fn parse_query<'q>(&self, query: &'q Value) -> Result<(&'q str, u64), EffectError> {
        let fault = |what: &str| {
            let message = format!("the query to source `{}` {what}", self.name);
            EffectError::new_permanent(EffectErrorKind::Invalid, message)
        };
        let expected = "is neither a string nor an object with `text`";
        let (text, limit) = match query {
            Value::String(text) => (text.as_str(), self.limit),
            Value::Object(fields) => {
                let text = fields.get("text").and_then(Value::as_str);
                let text = text.ok_or_else(|| fault(expected))?;
                let limit = match fields.get("limit") {
                    None => Some(self.limit),
                    Some(limit) => {
                        limit.as_u64().filter(|limit| (1..=MAX_PASSAGES).contains(limit))
                    }
                };
                let wrong = "has a `limit` that is not a number from 1 to 50";
                (text, limit.ok_or_else(|| fault(wrong))?)
            }
            _ => return Err(fault(expected)),
        };
        if split_words(text).is_empty() {
            return Err(fault("has no words"));
        }
        if text.len() > MAX_QUERY_BYTES {
            return Err(fault("is longer than 2000 bytes"));
        }
        Ok((text, limit))
    }
}

impl SourceRetriever for FilesRetriever {
    fn retrieve<'a>(&'a self, query: &'a Value) -> RetrieverFuture<'a, Result<Value, EffectError>> {
        Box::pin(async move {
            let (text, limit) = self.parse_query(query)?;
            let (files, text) = (self.clone(), text.to_owned());
            spawn_blocking(move || files.search(&text, limit)).await.unwrap_or_else(|_| {
                let message = "the search was cancelled because the runtime is shutting down";
                Err(EffectError::new_transient(EffectErrorKind::Unavailable, message))
            })
        })
    }
}

/// Returns the distinct words of a query in their order.
fn split_words(text: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let lower = text.to_lowercase();
    let words =
        lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.filter(|word| seen.insert((*word).to_owned())).map(str::to_owned).collect()
}

fn split_passages(path: &str, text: &str, passages: &mut Vec<FilePassage>) {
    let mut start = None;
    let mut lines: Vec<&str> = Vec::new();
    for (index, line) in text.lines().chain([""]).enumerate() {
        if line.trim().is_empty() {
            if let Some(line) = start.take() {
                let text = lines.join("\n");
                let lower = text.to_lowercase();
                passages.push(FilePassage { path: path.to_owned(), line, text, lower });
                lines.clear();
            }
        } else {
            start.get_or_insert(index + 1);
            lines.push(line);
        }
    }
}
