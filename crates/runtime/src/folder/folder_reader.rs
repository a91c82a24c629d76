//! Reads a protocol folder into a bundle of texts.
//!
//! Only files that belong to a protocol are read, and nothing that a link brings in from outside.
//! The core interprets the texts.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use countersign_protocol::ProtocolBundle;

use super::FolderError;
use super::find_protocol_folder::INDEX_FILES;
use crate::workspace::is_escape_error;

/// Maximum number of files in a protocol.
pub const MAX_PROTOCOL_FILES: usize = 1_000;

/// Maximum total size of the files, in bytes.
pub const MAX_PROTOCOL_BYTES: u64 = 4 * 1024 * 1024;

/// The subfolders of a protocol.
pub(super) const PROTOCOL_FOLDERS: [&str; 6] =
    ["workflows", "agents", "rules", "contracts", "memory", SKILL_FOLDER];

/// The folder of skills. Of the folder of a skill, only `SKILL.md` is read: the rest may be programs
/// and images for coding agents.
const SKILL_FOLDER: &str = "skills";
const SKILL_FILE: &str = "SKILL.md";

/// Maximum nesting depth of folders below those.
const MAX_DEPTH: usize = 8;

/// Reads the files of a protocol: the index, and every file below its subfolders whose name does
/// not begin with a dot.
pub fn read_protocol_folder(dir: &Path) -> Result<ProtocolBundle, FolderError> {
    let root = Dir::open_ambient_dir(dir, ambient_authority())
        .map_err(|source| FolderError::Io { path: dir.display().to_string(), source })?;
    let mut reading = FolderReader { root, files: BTreeMap::new(), bytes_left: MAX_PROTOCOL_BYTES };
    for name in INDEX_FILES {
        if reading.root.symlink_metadata(name).is_ok() {
            reading.read_file(name)?;
        }
    }
    if reading.files.is_empty() {
        return Err(FolderError::NoIndex { dir: dir.to_owned() });
    }
    for folder in PROTOCOL_FOLDERS {
        if reading.root.symlink_metadata(folder).is_ok() {
            reading.read_folder(folder, 0)?;
        }
    }
    Ok(ProtocolBundle { files: reading.files })
}

struct FolderReader {
    root: Dir,
    files: BTreeMap<String, String>,
    bytes_left: u64,
}

impl FolderReader {
    fn read_folder(&mut self, folder: &str, depth: usize) -> Result<(), FolderError> {
        if depth > MAX_DEPTH {
            return Err(FolderError::TooDeep { folder: folder.to_owned() });
        }
        let fault = |source| to_folder_error(folder, source);
        let mut names = Vec::new();
        for entry in self.root.read_dir(folder).map_err(fault)? {
            let Ok(name) = entry.map_err(fault)?.file_name().into_string() else {
                return Err(FolderError::NameNotUtf8 { folder: folder.to_owned() });
            };
            if !name.starts_with('.') {
                names.push(name);
            }
        }
        // Sorted, so that the first fault is the same on every machine.
        names.sort();
        for name in names {
            let path = format!("{folder}/{name}");
            let found =
                self.root.metadata(&path).map_err(|source| self::to_folder_error(&path, source))?;
            let in_skill = depth > 0 && path.split('/').next() == Some(SKILL_FOLDER);
            if in_skill && (found.is_dir() || name != SKILL_FILE) {
                continue;
            }
            if found.is_dir() {
                self.read_folder(&path, depth + 1)?;
            } else {
                self.read_file(&path)?;
            }
        }
        Ok(())
    }

    fn read_file(&mut self, path: &str) -> Result<(), FolderError> {
        let fault = |source| to_folder_error(path, source);
        let found = self.root.metadata(path).map_err(fault)?;
        if !found.is_file() {
            return Err(FolderError::UnsupportedFileType { file: path.to_owned() });
        }
        if self.files.len() >= MAX_PROTOCOL_FILES {
            return Err(FolderError::TooManyFiles);
        }
        let mut bytes = Vec::new();
        let file = self.root.open(path).map_err(fault)?;
        file.take(self.bytes_left + 1).read_to_end(&mut bytes).map_err(fault)?;
        self.bytes_left = self
            .bytes_left
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

fn to_folder_error(path: &str, source: io::Error) -> FolderError {
    if is_escape_error(&source) {
        FolderError::OutsideFolder { file: path.to_owned() }
    } else {
        FolderError::Io { path: path.to_owned(), source }
    }
}
