//! The cached content of a folder: passages per file, skipped files, and the index over them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_runtime::effect::{EffectError, EffectErrorKind};
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;

use super::document_folder::{DocumentFingerprint, DocumentFolder, DocumentFormat, FolderScan};
use super::passage_index::PassageIndex;
use super::pdf_reader::PdfReader;
use super::split::{DocumentPassage, split_document, split_page};

/// Maximum size of the text of all documents together.
const MAX_TOTAL_TEXT_BYTES: usize = 32 * 1024 * 1024;

/// How long reading PDF files may delay one query; the rest is read at the next query.
const PDF_READ_BUDGET: Duration = Duration::from_secs(30);

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
        pdf: &PdfReader,
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
                Ok(_) if format == DocumentFormat::Pdf && started.elapsed() > PDF_READ_BUDGET => {
                    // Without a fingerprint, the file is read at the next query.
                    stamps.insert(path.clone(), None);
                    let why = "was not read yet: other PDFs took too long".to_owned();
                    CachedDocument { digest: None, passages: Vec::new(), skip_reason: Some(why) }
                }
                Ok(bytes) => parse_document(bytes, format, digest, pdf, folder).await,
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
    bytes: Vec<u8>,
    format: DocumentFormat,
    digest: Option<[u8; 32]>,
    pdf: &PdfReader,
    folder: &DocumentFolder,
) -> CachedDocument {
    let skip =
        |why: String| CachedDocument { digest, passages: Vec::new(), skip_reason: Some(why) };
    if format != DocumentFormat::Pdf {
        return match String::from_utf8(bytes) {
            Ok(text) => {
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                CachedDocument { digest, passages: split_document(text, format), skip_reason: None }
            }
            Err(_) => skip("is not UTF-8".to_owned()),
        };
    }
    match pdf.read_pages(bytes, &folder.path).await {
        Ok(pages) => {
            let numbered = pages.texts.iter().zip(1..);
            let passages = numbered.flat_map(|(text, number)| split_page(text, number)).collect();
            let read = pages.texts.len();
            let cut = pages
                .truncated
                .then(|| format!("is a long PDF; only its first {read} pages were read"));
            CachedDocument { digest, passages, skip_reason: cut }
        }
        Err(fault) => skip(fault.to_string()),
    }
}

/// Error for a search that was interrupted because the runtime shuts down.
pub(super) fn shutdown_error() -> EffectError {
    let message = "the search was cancelled because the runtime is shutting down";
    EffectError::new_transient(EffectErrorKind::Unavailable, message)
}
