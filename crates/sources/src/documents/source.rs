//! The source of kind `documents`.

use std::path::PathBuf;

use countersign_runtime::effect::{BoxFuture, EffectError, EffectErrorKind, Source};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::folder::Folder;
use super::index::question_words;
use super::library::{Library, ending};
use super::reader::PdfReader;
use crate::evidence::{Evidence, escaped};
use crate::settings::Settings;

const MOST_PASSAGES: u64 = 50;
const LONGEST_QUESTION: usize = 2_000;

/// A folder of documents that can be asked.
pub(crate) struct Documents {
    folder: Folder,
    pdf: PdfReader,
    limit: u64,
    /// What the best confidence of a passage is multiplied by.
    trust: f64,
    library: Mutex<Library>,
}

impl Documents {
    /// Reads the settings. The folder is read when it is asked.
    pub(crate) fn configure(settings: &Settings<'_>, pdf: PdfReader) -> Result<Self, EffectError> {
        let place = settings.place("path")?;
        let path: PathBuf = place
            .ok_or_else(|| settings.fault("has no `path` or `path_env`; a folder was expected"))?;
        let base = settings.get("path").map(|_| settings.base().to_owned());
        Ok(Self {
            folder: Folder { name: settings.name.to_owned(), path, base },
            pdf,
            limit: settings.count("limit", 8, MOST_PASSAGES)?,
            trust: settings.confidence(1.0)?,
            library: Mutex::new(Library::default()),
        })
    }

    pub(crate) const SETTINGS: &[&str] = &["path", "path_env", "limit", "confidence"];

    async fn answer(&self, query: &Value) -> Result<Value, EffectError> {
        let (text, limit) = self.question(query)?;
        let read = self.library.lock().await.refresh(&self.folder, &self.pdf).await?;
        let (name, text, trust) = (self.folder.name.clone(), text.to_owned(), self.trust);
        let searched = spawn_blocking(move || {
            let mut evidence = Evidence::of(&name);
            let (found, more) = read.index.search(&text, limit as usize);
            for found in found {
                let (path, passage) = (found.path, found.passage);
                let place = if passage.anchor.is_empty() {
                    reference(path)
                } else {
                    format!("{}#{}", reference(path), passage.anchor)
                };
                let data = json!({
                    "path": path,
                    "headings": passage.headings,
                    "score": (found.score * 1_000.0).round() / 1_000.0,
                });
                if !evidence.add(&place, &passage.text, data, found.confidence * trust)? {
                    break;
                }
            }
            if more {
                evidence.cut_off();
            }
            for (path, why) in &read.skipped {
                evidence.skip(&reference(path), why);
            }
            Ok(evidence.finish())
        });
        searched.await.unwrap_or_else(|_| Err(ending()))
    }

    /// What is asked: a text, or `text` with a `limit` of its own.
    fn question<'q>(&self, query: &'q Value) -> Result<(&'q str, u64), EffectError> {
        let fault = |what: &str| {
            let message = format!("the query to source `{}` {what}", self.folder.name);
            EffectError::lasting(EffectErrorKind::Invalid, message)
        };
        let expected = "is neither a text nor an object with `text` and `limit`";
        let (text, limit) = match query {
            Value::String(text) => (text.as_str(), self.limit),
            Value::Object(fields) if fields.keys().all(|key| key == "text" || key == "limit") => {
                let text = fields.get("text").and_then(Value::as_str);
                let text = text.ok_or_else(|| fault(expected))?;
                let limit = match fields.get("limit") {
                    None => Some(self.limit),
                    Some(limit) => {
                        limit.as_u64().filter(|limit| (1..=MOST_PASSAGES).contains(limit))
                    }
                };
                let wrong = "has a `limit` that is not a number from 1 to 50";
                (text, limit.ok_or_else(|| fault(wrong))?)
            }
            _ => return Err(fault(expected)),
        };
        if text.len() > LONGEST_QUESTION {
            return Err(fault("is longer than 2000 bytes"));
        }
        if question_words(text).is_empty() {
            return Err(fault("has no words"));
        }
        Ok((text, limit))
    }
}

/// A path as it stands in a reference.
fn reference(path: &str) -> String {
    path.split('/').map(escaped).collect::<Vec<_>>().join("/")
}

impl Source for Documents {
    fn retrieve<'a>(&'a self, query: &'a Value) -> BoxFuture<'a, Result<Value, EffectError>> {
        Box::pin(self.answer(query))
    }
}
