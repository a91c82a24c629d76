//! The cached content of a folder: passages per file, skipped files, and the index over them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_documents::{DocumentPartKind, DocumentText};
use countersign_runtime::document::DocumentReader;
use countersign_runtime::effect::{EffectError, EffectErrorKind};
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;

use super::document_folder::{DocumentFingerprint, DocumentFolder, FileFormat, FolderScan};
use super::passage_index::PassageIndex;
use super::split::{DocumentPassage, split_document, split_part, split_text};
use crate::evidence_builder::percent_encode;

/// Maximum size of the text of all documents together.
const MAX_TOTAL_TEXT_BYTES: usize = 32 * 1024 * 1024;

/// How long reading documents may delay one query; the rest is read at the next query.
const DOCUMENT_READ_BUDGET: Duration = Duration::from_secs(30);

/// The documents of a folder, as of the last scan.
#[derive(Debug, Default)]
pub(super) struct DocumentCache {
    fingerprints: BTreeMap<String, DocumentFingerprint>,
    files: BTreeMap<String, CachedDocument>,
    index: Arc<DocumentIndex>,
}

/// The searchable content of a folder.
#[derive(Debug, Default)]
pub(super) struct DocumentIndex {
    pub(super) index: PassageIndex,
    /// Files that are missing in full or in part, with the reason.
    pub(super) skipped: Vec<(String, String)>,
}

#[derive(Debug)]
struct CachedDocument {
    digest: Option<[u8; 32]>,
    passages: Vec<DocumentPassage>,
    /// Why something is missing; `None` if the document is complete.
    skip_reason: Option<String>,
}

impl DocumentCache {
    /// Scans the folder again and reads what has changed.
    pub(super) async fn refresh(
        &mut self,
        folder: &DocumentFolder,
        documents: &DocumentReader,
    ) -> Result<Arc<DocumentIndex>, EffectError> {
        let (root, known) = (folder.clone(), self.fingerprints.clone());
        let look =
            spawn_blocking(move || root.scan(&known)).await.map_err(|_| shutdown_error())??;
        let FolderScan { fingerprints: mut stamps, changed: fresh } = look;
        let before = self.files.len();
        self.files.retain(|path, _| stamps.contains_key(path));
        let mut changed = self.files.len() != before;
        let started = Instant::now();
        for (path, format, bytes) in fresh {
            let digest = bytes.as_ref().ok().map(|bytes| Sha256::digest(bytes).into());
            let same = |file: &CachedDocument| file.digest.is_some() && file.digest == digest;
            if self.files.get(&path).is_some_and(same) {
                continue;
            }
            changed = true;
            let file = match bytes {
                Err(why) => {
                    CachedDocument { digest: None, passages: Vec::new(), skip_reason: Some(why) }
                }
                Ok(_)
                    if format == FileFormat::Document
                        && started.elapsed() > DOCUMENT_READ_BUDGET =>
                {
                    // Without a fingerprint, the file is read at the next query.
                    stamps.insert(path.clone(), None);
                    let why = "was not read yet: other documents took too long".to_owned();
                    CachedDocument { digest: None, passages: Vec::new(), skip_reason: Some(why) }
                }
                Ok(bytes) => parse_document(&path, bytes, format, digest, documents).await,
            };
            self.files.insert(path, file);
        }
        self.fingerprints = stamps;
        if changed {
            self.index = self.build_index(folder).await?;
        }
        Ok(Arc::clone(&self.index))
    }

    async fn build_index(
        &mut self,
        folder: &DocumentFolder,
    ) -> Result<Arc<DocumentIndex>, EffectError> {
        let mut passages = Vec::new();
        let mut skipped = Vec::new();
        let mut size = 0;
        for (path, file) in &self.files {
            for passage in &file.passages {
                size += passage.text.len();
                passages.push((path.clone(), passage.clone()));
            }
            if let Some(why) = &file.skip_reason {
                skipped.push((path.clone(), why.clone()));
            }
        }
        if size > MAX_TOTAL_TEXT_BYTES {
            // Scanned from scratch the next time: files may have been removed by then.
            self.fingerprints.clear();
            self.files.clear();
            let message = format!(
                "source `{}` has more than {} MiB of text",
                folder.name,
                MAX_TOTAL_TEXT_BYTES >> 20
            );
            return Err(EffectError::new_permanent(EffectErrorKind::TooLarge, message));
        }
        let index = spawn_blocking(move || PassageIndex::build(passages))
            .await
            .map_err(|_| shutdown_error())?;
        Ok(Arc::new(DocumentIndex { index, skipped }))
    }
}

async fn parse_document(
    path: &str,
    bytes: Vec<u8>,
    format: FileFormat,
    digest: Option<[u8; 32]>,
    documents: &DocumentReader,
) -> CachedDocument {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (passages, skip_reason) = match documents.read(name, bytes).await {
        Ok(document) => {
            let passages = split_parts(&document, format);
            let notes = (!document.notes.is_empty()).then(|| document.notes.join("; "));
            (passages, notes)
        }
        Err(error) => (Vec::new(), Some(error.message)),
    };
    CachedDocument { digest, passages, skip_reason }
}

/// Splits a document into passages that name the page, sheet, slide or attachment that they are on.
fn split_parts(document: &DocumentText, format: FileFormat) -> Vec<DocumentPassage> {
    let parts = document.parts.iter().zip(1..);
    let passages = parts.flat_map(|(part, number)| match (part.kind, format) {
        (DocumentPartKind::Body, FileFormat::Text) => split_text(&part.text),
        (DocumentPartKind::Body, _) => split_document(&part.text),
        (kind @ (DocumentPartKind::Sheet | DocumentPartKind::Attachment), _) => {
            split_part(&part.text, &format!("{}={}", kind.as_str(), percent_encode(&part.name)))
        }
        (kind, _) => split_part(&part.text, &format!("{}={number}", kind.as_str())),
    });
    passages.collect()
}

/// Error for a search that was interrupted because the runtime shuts down.
pub(super) fn shutdown_error() -> EffectError {
    let message = "the search was cancelled because the runtime is shutting down";
    EffectError::new_transient(EffectErrorKind::Unavailable, message)
}
