//! Reads a protocol folder into a bundle of texts.
//!
//! Only what belongs to a protocol is read, and nothing that a link brings in from outside. What
//! the texts mean is the core's business.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use countersign_core::protocol::Bundle;

use super::FolderError;
use super::find::INDEX;
use crate::workspace::led_out;

/// How many files a protocol may have.
pub const MOST_FILES: usize = 1_000;

/// How many bytes they may have together.
pub const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// The folders of a protocol.
pub(super) const FOLDERS: [&str; 5] = ["workflows", "agents", "rules", "contracts", "memory"];

/// How deep folders may lie in those.
const DEEPEST: usize = 8;

/// Reads the files of a protocol: the index, and everything below its folders whose name does
/// not begin with a dot.
pub fn read(dir: &Path) -> Result<Bundle, FolderError> {
    let root = Dir::open_ambient_dir(dir, ambient_authority())
        .map_err(|source| FolderError::Io { path: dir.display().to_string(), source })?;
    let mut reading = Reading { root, files: BTreeMap::new(), left: MOST_BYTES };
    for name in INDEX {
        if reading.root.symlink_metadata(name).is_ok() {
            reading.file(name)?;
        }
    }
    if reading.files.is_empty() {
        return Err(FolderError::NoIndex { dir: dir.to_owned() });
    }
    for folder in FOLDERS {
        if reading.root.symlink_metadata(folder).is_ok() {
            reading.folder(folder, 0)?;
        }
    }
    Ok(Bundle { files: reading.files })
}

struct Reading {
    root: Dir,
    files: BTreeMap<String, String>,
    left: u64,
}

impl Reading {
    fn folder(&mut self, folder: &str, depth: usize) -> Result<(), FolderError> {
        if depth > DEEPEST {
            return Err(FolderError::TooDeep { folder: folder.to_owned() });
        }
        let fault = |source| fault(folder, source);
        let mut names = Vec::new();
        for entry in self.root.read_dir(folder).map_err(fault)? {
            let Ok(name) = entry.map_err(fault)?.file_name().into_string() else {
                return Err(FolderError::NameNotUtf8 { folder: folder.to_owned() });
            };
            if !name.starts_with('.') {
                names.push(name);
            }
        }
        // The first fault is the same on every machine.
        names.sort();
        for name in names {
            let path = format!("{folder}/{name}");
            let found = self.root.metadata(&path).map_err(|source| self::fault(&path, source))?;
            if found.is_dir() {
                self.folder(&path, depth + 1)?;
            } else {
                self.file(&path)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &str) -> Result<(), FolderError> {
        let fault = |source| fault(path, source);
        let found = self.root.metadata(path).map_err(fault)?;
        if !found.is_file() {
            return Err(FolderError::Strange { file: path.to_owned() });
        }
        if self.files.len() >= MOST_FILES {
            return Err(FolderError::TooManyFiles);
        }
        let mut bytes = Vec::new();
        let file = self.root.open(path).map_err(fault)?;
        file.take(self.left + 1).read_to_end(&mut bytes).map_err(fault)?;
        self.left = self
            .left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| FolderError::TooLarge { file: path.to_owned() })?;
        let text = String::from_utf8(bytes).map_err(|error| FolderError::NotUtf8 {
            file: path.to_owned(),
            offset: error.utf8_error().valid_up_to(),
        })?;
        self.files.insert(path.to_owned(), text);
        Ok(())
    }
}

fn fault(path: &str, source: io::Error) -> FolderError {
    if led_out(&source) {
        FolderError::LeadsOut { file: path.to_owned() }
    } else {
        FolderError::Io { path: path.to_owned(), source }
    }
}
