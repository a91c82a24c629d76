//! The source of kind `documents`.

use std::path::PathBuf;

use countersign_runtime::document::DocumentReader;
use countersign_runtime::effect::{EffectError, EffectErrorKind, RetrieverFuture, SourceRetriever};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::document_cache::{DocumentCache, shutdown_error};
use super::document_folder::DocumentFolder;
use super::passage_index::question_words;
use crate::evidence_builder::{EvidenceBuilder, percent_encode};
use crate::settings::SourceSettings;

const MAX_PASSAGES: u64 = 50;
const MAX_QUERY_BYTES: usize = 2_000;

/// A folder of documents that can be searched.
pub(crate) struct DocumentSource {
    folder: DocumentFolder,
    documents: DocumentReader,
    limit: u64,
    /// Factor for the confidence of every passage.
    confidence_factor: f64,
    cache: Mutex<DocumentCache>,
}

impl DocumentSource {
    /// Reads the settings. The folder is read at the first query.
    pub(crate) fn from_settings(
        settings: &SourceSettings<'_>,
        documents: DocumentReader,
    ) -> Result<Self, EffectError> {
        let configured = settings.get_path("path")?;
        let path: PathBuf = configured.ok_or_else(|| {
            settings.config_error("has no `path` or `path_env`; expected a folder")
        })?;
        let base = settings.get("path").map(|_| settings.base().to_owned());
        Ok(Self {
            folder: DocumentFolder { name: settings.name.to_owned(), path, base },
            documents,
            limit: settings.get_count("limit", 8, MAX_PASSAGES)?,
            confidence_factor: settings.get_confidence(1.0)?,
            cache: Mutex::new(DocumentCache::default()),
        })
    }

    pub(crate) const SETTINGS: &[&str] = &["path", "path_env", "limit", "confidence"];

    async fn search(&self, query: &Value) -> Result<Value, EffectError> {
        let (text, limit) = self.parse_query(query)?;
        let read = self.cache.lock().await.refresh(&self.folder, &self.documents).await?;
        let (name, text, trust) =
            (self.folder.name.clone(), text.to_owned(), self.confidence_factor);
        let searched = spawn_blocking(move || {
            let mut evidence = EvidenceBuilder::new(&name);
            let (found, more) = read.index.search(&text, limit as usize);
            for found in found {
                let (path, passage) = (found.path, found.passage);
                let reference = if passage.anchor.is_empty() {
                    encode_path(path)
                } else {
                    format!("{}#{}", encode_path(path), passage.anchor)
                };
                let data = json!({
                    "path": path,
                    "headings": passage.headings,
                    "score": (found.score * 1_000.0).round() / 1_000.0,
                });
                if !evidence.add_item(&reference, &passage.text, data, found.confidence * trust)? {
                    break;
                }
            }
            if more {
                evidence.mark_truncated();
            }
            for (path, why) in &read.skipped {
                evidence.add_skipped(&encode_path(path), why);
            }
            Ok(evidence.finish())
        });
        searched.await.unwrap_or_else(|_| Err(shutdown_error()))
    }

    /// Parses a query: a text, or `text` with its own `limit`.
    fn parse_query<'q>(&self, query: &'q Value) -> Result<(&'q str, u64), EffectError> {
        let fault = |what: &str| {
            let message = format!("the query to source `{}` {what}", self.folder.name);
            EffectError::new_permanent(EffectErrorKind::Invalid, message)
        };
        let expected = "is neither a string nor an object with `text` and `limit`";
        let (text, limit) = match query {
            Value::String(text) => (text.as_str(), self.limit),
            Value::Object(fields) if fields.keys().all(|key| key == "text" || key == "limit") => {
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
        if text.len() > MAX_QUERY_BYTES {
            return Err(fault("is longer than 2000 bytes"));
        }
        if question_words(text).is_empty() {
            return Err(fault("has no words"));
        }
        Ok((text, limit))
    }
}

/// Encodes a path for a reference.
fn encode_path(path: &str) -> String {
    path.split('/').map(percent_encode).collect::<Vec<_>>().join("/")
}

impl SourceRetriever for DocumentSource {
    fn retrieve<'a>(&'a self, query: &'a Value) -> RetrieverFuture<'a, Result<Value, EffectError>> {
        Box::pin(self.search(query))
    }
}
