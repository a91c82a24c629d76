//! What was read of a folder: passages by file, what was skipped, and the index over them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_runtime::effect::{EffectError, EffectErrorKind};
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;

use super::folder::{Folder, Format, Look, Stamp};
use super::index::Index;
use super::reader::PdfReader;
use super::split::{Passage, split, split_page};

/// How much text all documents may have together.
const MOST_TEXT: usize = 32 * 1024 * 1024;

/// How long reading PDF files may hold up one question; the rest is read at the next.
const READING: Duration = Duration::from_secs(30);

/// The documents of a folder, as they were when it was last looked at.
#[derive(Debug, Default)]
pub(super) struct Library {
    stamps: BTreeMap<String, Stamp>,
    files: BTreeMap<String, File>,
    shelf: Arc<Shelf>,
}

/// What can be searched.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    pub(super) index: Index,
    /// Files of which something is missing, and why.
    pub(super) skipped: Vec<(String, String)>,
}

#[derive(Debug)]
struct File {
    digest: Option<[u8; 32]>,
    passages: Vec<Passage>,
    /// What is missing.
    skipped: Option<String>,
}

impl Library {
    /// Looks at the folder again and reads what has changed.
    pub(super) async fn refresh(
        &mut self,
        folder: &Folder,
        pdf: &PdfReader,
    ) -> Result<Arc<Shelf>, EffectError> {
        let (place, known) = (folder.clone(), self.stamps.clone());
        let look = spawn_blocking(move || place.look(&known)).await.map_err(|_| ending())??;
        let Look { mut stamps, fresh } = look;
        let before = self.files.len();
        self.files.retain(|path, _| stamps.contains_key(path));
        let mut changed = self.files.len() != before;
        let started = Instant::now();
        for (path, format, bytes) in fresh {
            let digest = bytes.as_ref().ok().map(|bytes| Sha256::digest(bytes).into());
            let same = |file: &File| file.digest.is_some() && file.digest == digest;
            if self.files.get(&path).is_some_and(same) {
                continue;
            }
            changed = true;
            let file = match bytes {
                Err(why) => File { digest: None, passages: Vec::new(), skipped: Some(why) },
                Ok(_) if format == Format::Pdf && started.elapsed() > READING => {
                    // Without its stamp it is read at the next question.
                    stamps.insert(path.clone(), None);
                    let why = "was not read yet: other PDFs took too long".to_owned();
                    File { digest: None, passages: Vec::new(), skipped: Some(why) }
                }
                Ok(bytes) => read(bytes, format, digest, pdf, folder).await,
            };
            self.files.insert(path, file);
        }
        self.stamps = stamps;
        if changed {
            self.shelf = self.shelve(folder).await?;
        }
        Ok(Arc::clone(&self.shelf))
    }

    async fn shelve(&mut self, folder: &Folder) -> Result<Arc<Shelf>, EffectError> {
        let mut passages = Vec::new();
        let mut skipped = Vec::new();
        let mut size = 0;
        for (path, file) in &self.files {
            for passage in &file.passages {
                size += passage.text.len();
                passages.push((path.clone(), passage.clone()));
            }
            if let Some(why) = &file.skipped {
                skipped.push((path.clone(), why.clone()));
            }
        }
        if size > MOST_TEXT {
            // Looked at afresh the next time: somebody may have made room.
            self.stamps.clear();
            self.files.clear();
            let message =
                format!("source `{}` has more than {} MiB of text", folder.name, MOST_TEXT >> 20);
            return Err(EffectError::lasting(EffectErrorKind::TooLarge, message));
        }
        let index = spawn_blocking(move || Index::build(passages)).await.map_err(|_| ending())?;
        Ok(Arc::new(Shelf { index, skipped }))
    }
}

async fn read(
    bytes: Vec<u8>,
    format: Format,
    digest: Option<[u8; 32]>,
    pdf: &PdfReader,
    folder: &Folder,
) -> File {
    let skip = |why: String| File { digest, passages: Vec::new(), skipped: Some(why) };
    if format != Format::Pdf {
        return match String::from_utf8(bytes) {
            Ok(text) => {
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                File { digest, passages: split(text, format), skipped: None }
            }
            Err(_) => skip("is not UTF-8".to_owned()),
        };
    }
    match pdf.read(bytes, &folder.path).await {
        Ok(pages) => {
            let numbered = pages.texts.iter().zip(1..);
            let passages = numbered.flat_map(|(text, number)| split_page(text, number)).collect();
            let read = pages.texts.len();
            let cut =
                pages.cut.then(|| format!("is a long PDF; only its first {read} pages were read"));
            File { digest, passages, skipped: cut }
        }
        Err(fault) => skip(fault.to_string()),
    }
}

/// The error of a search that the end of the runtime broke off.
pub(super) fn ending() -> EffectError {
    let message = "the search was broken off because the runtime is shutting down";
    EffectError::passing(EffectErrorKind::Unavailable, message)
}
