//! The files of a folder, opened as a capability: which files exist, and which have changed.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use countersign_documents::limits::MAX_DOCUMENT_BYTES;
use countersign_runtime::effect::{EffectError, EffectErrorKind};

use crate::settings::source_config_error;

const MAX_FILES: usize = 2_000;
const MAX_DEPTH: usize = 16;

/// Maximum size of a text file.
const MAX_TEXT_BYTES: u64 = 4 * 1024 * 1024;

/// A file that was written less than this ago may be written again without a new timestamp.
const SETTLE_TIME: Duration = Duration::from_secs(2);

/// A folder of documents.
#[derive(Debug, Clone)]
pub(super) struct DocumentFolder {
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// The workspace folder, if the documents must be inside it.
    pub(super) base: Option<PathBuf>,
}

/// How a file of the folder is read, by its extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileFormat {
    Markdown,
    Text,
    /// By the reader of documents.
    Document,
}

/// Distinguishes states of a file without reading it; `None` if that is not possible.
pub(super) type DocumentFingerprint = Option<(SystemTime, u64)>;

/// The current content of the folder.
pub(super) struct FolderScan {
    /// Every document, with its fingerprint.
    pub(super) fingerprints: BTreeMap<String, DocumentFingerprint>,
    /// Documents that may have changed: their bytes, or why they cannot be read.
    pub(super) changed: Vec<(String, FileFormat, Result<Vec<u8>, String>)>,
}

impl DocumentFolder {
    /// Scans the folder again. Files with an unchanged fingerprint are not read.
    pub(super) fn scan(
        &self,
        known: &BTreeMap<String, DocumentFingerprint>,
    ) -> Result<FolderScan, EffectError> {
        let dir = self.open_dir()?;
        let mut files = Vec::new();
        self.collect_files(&dir, "", 0, &mut files)?;
        files.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        let mut look = FolderScan { fingerprints: BTreeMap::new(), changed: Vec::new() };
        for (path, format, stamp) in files {
            if stamp.is_none() || known.get(&path) != Some(&stamp) {
                look.changed.push((path.clone(), format, read_document(&dir, &path, format)));
            }
            look.fingerprints.insert(path, stamp);
        }
        Ok(look)
    }

    fn open_dir(&self) -> Result<Dir, EffectError> {
        let opened = match &self.base {
            Some(base) => {
                let inner = self.path.strip_prefix(base).unwrap_or(&self.path);
                let inner = if inner.as_os_str().is_empty() { Path::new(".") } else { inner };
                Dir::open_ambient_dir(base, ambient_authority()).and_then(|dir| dir.open_dir(inner))
            }
            None => Dir::open_ambient_dir(&self.path, ambient_authority()),
        };
        opened.map_err(|error| {
            let what = match error.kind() {
                io::ErrorKind::NotFound => "has no folder at its path",
                _ => "has a folder that cannot be opened, or that is outside the working folder",
            };
            source_config_error(&self.name, what)
        })
    }

    fn collect_files(
        &self,
        dir: &Dir,
        before: &str,
        depth: usize,
        files: &mut Vec<(String, FileFormat, DocumentFingerprint)>,
    ) -> Result<(), EffectError> {
        let large = |what: String| {
            let message = format!("source `{}` {what}", self.name);
            EffectError::new_permanent(EffectErrorKind::TooLarge, message)
        };
        let lost = |_: io::Error| {
            let message = format!("source `{}` has a folder that cannot be listed", self.name);
            EffectError::new_transient(EffectErrorKind::Unavailable, message)
        };
        if depth > MAX_DEPTH {
            return Err(large("has folders that are nested too deeply".to_owned()));
        }
        for entry in dir.entries().map_err(lost)? {
            let entry = entry.map_err(lost)?;
            // A reference cannot name a file whose name is not UTF-8.
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name.starts_with('.') {
                continue;
            }
            // The type of a link is `link`, so links are never followed.
            let kind = entry.file_type().map_err(lost)?;
            let path = format!("{before}{name}");
            if kind.is_dir() {
                let inner = entry.open_dir().map_err(lost)?;
                self.collect_files(&inner, &format!("{path}/"), depth + 1, files)?;
            } else if let Some(format) = detect_format(&name).filter(|_| kind.is_file()) {
                if files.len() == MAX_FILES {
                    return Err(large(format!("has more than {MAX_FILES} files")));
                }
                files.push((path, format, read_fingerprint(&entry)));
            }
        }
        Ok(())
    }
}

fn read_fingerprint(entry: &cap_std::fs::DirEntry) -> DocumentFingerprint {
    let metadata = entry.metadata().ok()?;
    let modified = metadata.modified().ok()?.into_std();
    let settled = modified.elapsed().is_ok_and(|age| age > SETTLE_TIME);
    settled.then(|| (modified, metadata.len()))
}

fn detect_format(name: &str) -> Option<FileFormat> {
    let (_, extension) = name.rsplit_once('.')?;
    match extension.to_lowercase().as_str() {
        "md" => Some(FileFormat::Markdown),
        "txt" => Some(FileFormat::Text),
        "pdf" | "docx" | "xlsx" | "pptx" | "html" | "htm" | "eml" => Some(FileFormat::Document),
        _ => None,
    }
}

fn read_document(dir: &Dir, path: &str, format: FileFormat) -> Result<Vec<u8>, String> {
    let limit = if format == FileFormat::Document { MAX_DOCUMENT_BYTES } else { MAX_TEXT_BYTES };
    let mut bytes = Vec::new();
    let read = dir.open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes));
    match read {
        Err(_) => Err("cannot be opened".to_owned()),
        Ok(_) if bytes.len() as u64 > limit => Err(format!("is larger than {} MiB", limit >> 20)),
        Ok(_) => Ok(bytes),
    }
}
