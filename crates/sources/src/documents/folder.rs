//! The files of a folder, held as a capability: what is there, and what has changed.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use countersign_runtime::effect::{EffectError, EffectErrorKind};

use super::pdf;
use crate::settings::not_configured;

const MOST_FILES: usize = 2_000;
const DEEPEST: usize = 16;

/// How large a text file may be.
const LARGEST_TEXT: u64 = 4 * 1024 * 1024;

/// A file that was written so short a time ago may be written again without its time changing.
const FRESH: Duration = Duration::from_secs(2);

/// A folder of documents.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// The folder of work, where the documents must lie in it.
    pub(super) base: Option<PathBuf>,
}

/// What kind of document a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Markdown,
    Text,
    Pdf,
}

/// What tells one state of a file from another without reading it; `None` where that cannot be told.
pub(super) type Stamp = Option<(SystemTime, u64)>;

/// What the folder holds now.
pub(super) struct Look {
    /// Every document, with its stamp.
    pub(super) stamps: BTreeMap<String, Stamp>,
    /// Those that may have changed: their bytes, or why they cannot be read.
    pub(super) fresh: Vec<(String, Format, Result<Vec<u8>, String>)>,
}

impl Folder {
    /// Looks again. Files whose stamp is as it was are not read.
    pub(super) fn look(&self, known: &BTreeMap<String, Stamp>) -> Result<Look, EffectError> {
        let dir = self.open()?;
        let mut files = Vec::new();
        self.walk(&dir, "", 0, &mut files)?;
        files.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        let mut look = Look { stamps: BTreeMap::new(), fresh: Vec::new() };
        for (path, format, stamp) in files {
            if stamp.is_none() || known.get(&path) != Some(&stamp) {
                look.fresh.push((path.clone(), format, read(&dir, &path, format)));
            }
            look.stamps.insert(path, stamp);
        }
        Ok(look)
    }

    fn open(&self) -> Result<Dir, EffectError> {
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
                _ => "has a folder that cannot be opened, or that leads out of the folder of work",
            };
            not_configured(&self.name, what)
        })
    }

    fn walk(
        &self,
        dir: &Dir,
        before: &str,
        depth: usize,
        files: &mut Vec<(String, Format, Stamp)>,
    ) -> Result<(), EffectError> {
        let large = |what: String| {
            let message = format!("source `{}` {what}", self.name);
            EffectError::lasting(EffectErrorKind::TooLarge, message)
        };
        let lost = |_: io::Error| {
            let message = format!("source `{}` has a folder that cannot be listed", self.name);
            EffectError::passing(EffectErrorKind::Unavailable, message)
        };
        if depth > DEEPEST {
            return Err(large("has folders that lie too deep".to_owned()));
        }
        for entry in dir.entries().map_err(lost)? {
            let entry = entry.map_err(lost)?;
            // A name that is not UTF-8 could not be referred to.
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name.starts_with('.') {
                continue;
            }
            // The kind of a link is `link`, so links are followed nowhere.
            let kind = entry.file_type().map_err(lost)?;
            let path = format!("{before}{name}");
            if kind.is_dir() {
                let inner = entry.open_dir().map_err(lost)?;
                self.walk(&inner, &format!("{path}/"), depth + 1, files)?;
            } else if let Some(format) = format(&name).filter(|_| kind.is_file()) {
                if files.len() == MOST_FILES {
                    return Err(large(format!("has more than {MOST_FILES} files")));
                }
                files.push((path, format, stamp(&entry)));
            }
        }
        Ok(())
    }
}

fn stamp(entry: &cap_std::fs::DirEntry) -> Stamp {
    let metadata = entry.metadata().ok()?;
    let modified = metadata.modified().ok()?.into_std();
    let settled = modified.elapsed().is_ok_and(|age| age > FRESH);
    settled.then(|| (modified, metadata.len()))
}

fn format(name: &str) -> Option<Format> {
    let (_, extension) = name.rsplit_once('.')?;
    match extension.to_lowercase().as_str() {
        "md" => Some(Format::Markdown),
        "txt" => Some(Format::Text),
        "pdf" => Some(Format::Pdf),
        _ => None,
    }
}

fn read(dir: &Dir, path: &str, format: Format) -> Result<Vec<u8>, String> {
    let limit = if format == Format::Pdf { pdf::LARGEST_FILE } else { LARGEST_TEXT };
    let mut bytes = Vec::new();
    let read = dir.open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes));
    match read {
        Err(_) => Err("cannot be opened".to_owned()),
        Ok(_) if bytes.len() as u64 > limit => Err(format!("is larger than {} MiB", limit >> 20)),
        Ok(_) => Ok(bytes),
    }
}
