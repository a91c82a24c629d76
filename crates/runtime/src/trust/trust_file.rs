//! The file of what a person trusts, private to that person and outside of every workspace.
//!
//! It is read anew for every action it decides on, so that trust given or revoked counts at once,
//! also for a server that is running.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use countersign_core::run::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::AllowList;
use crate::private_files;

/// The version of the file's format.
const FORMAT: u32 = 1;

/// How long the file may be. A longer one is not read: nothing is trusted then.
const MAX_BYTES: u64 = 4 << 20;

/// Why the file cannot be used. Nothing is trusted then.
#[derive(Debug, Error)]
pub enum TrustError {
    /// The system refused.
    #[error("`{}` is not accessible: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is something else.
    #[error("`{}` is no file of trust: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Others could have written it.
    #[error("`{}` can be written by others, and so proves nothing; `chmod 600` it", path.display())]
    NotPrivate {
        /// The file.
        path: PathBuf,
    },
}

/// One list that somebody trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRecord {
    /// The key: a digest of the list, the protocol's name and the folder.
    pub digest: String,
    /// What is trusted, for people: `protocol NAME`, or `settings` for an allow-list.
    pub subject: String,
    /// The folder of work it holds for.
    pub folder: PathBuf,
    /// The list, an entry a line.
    pub list: Vec<String>,
    /// The commands of the programs in the list: no run may change the files they name.
    #[serde(default)]
    pub commands: Vec<Vec<String>>,
    /// The person who trusted it.
    pub by: String,
    /// When that was.
    pub at: Timestamp,
}

impl TrustRecord {
    /// The record of a server that prompts of a folder's runs may be sent to, because the run says so.
    #[must_use]
    pub fn for_model_server(server: &str, folder: &Path, by: &str, at: Timestamp) -> Self {
        let list = AllowList::with_model_server(server);
        Self {
            digest: list.trust_digest(folder),
            subject: "models of runs".to_owned(),
            folder: folder.to_owned(),
            list: list.describe(),
            commands: Vec::new(),
            by: by.to_owned(),
            at,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct TrustFileContent {
    v: u32,
    trusted: Vec<TrustRecord>,
}

/// Where trust is kept. Cheap to clone; the file need not be there yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustFile {
    path: PathBuf,
}

impl TrustFile {
    /// The file at a path.
    #[must_use]
    pub fn from_path(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything that is trusted, the oldest first.
    pub fn read_records(&self) -> Result<Vec<TrustRecord>, TrustError> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(self.to_io_error(source)),
        };
        let found = file.metadata().map_err(|source| self.to_io_error(source))?;
        if !private_files::is_owned_by_us(&found) {
            return Err(TrustError::NotPrivate { path: self.path.clone() });
        }
        let mut text = String::new();
        file.take(MAX_BYTES + 1)
            .read_to_string(&mut text)
            .map_err(|source| self.to_io_error(source))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(
                self.to_unreadable_error(format!("it has more than {} MiB", MAX_BYTES >> 20))
            );
        }
        let content: TrustFileContent = serde_json::from_str(&text)
            .map_err(|error| self.to_unreadable_error(error.to_string()))?;
        if content.v != FORMAT {
            let why = format!("its format is {}, and this program knows {FORMAT}", content.v);
            return Err(self.to_unreadable_error(why));
        }
        Ok(content.trusted)
    }

    /// Whether a list is trusted.
    pub fn contains_digest(&self, digest: &str) -> Result<bool, TrustError> {
        Ok(self.read_records()?.iter().any(|record| record.digest == digest))
    }

    /// Trusts a list; whether that is new.
    pub fn add(&self, record: TrustRecord) -> Result<bool, TrustError> {
        self.update_records(|trusted| {
            let is_new = trusted.iter().all(|known| known.digest != record.digest);
            if is_new {
                trusted.push(record);
            }
            is_new
        })
    }

    /// Revokes what is chosen; what that was.
    pub fn remove(
        &self,
        chosen: impl Fn(&TrustRecord) -> bool,
    ) -> Result<Vec<TrustRecord>, TrustError> {
        self.update_records(|trusted| {
            let (gone, kept) = trusted.drain(..).partition(|record| chosen(record));
            *trusted = kept;
            gone
        })
    }

    /// Reads, changes and writes the file while no other process does.
    fn update_records<T>(
        &self,
        change: impl FnOnce(&mut Vec<TrustRecord>) -> T,
    ) -> Result<T, TrustError> {
        let lock = private_files::lock_file(&self.path.with_extension("lock"));
        let lock = lock.map_err(|source| self.to_io_error(source))?;
        let mut trusted = self.read_records()?;
        let result = change(&mut trusted);
        let text = serde_json::to_string_pretty(&TrustFileContent { v: FORMAT, trusted })
            .expect("texts and numbers are JSON");
        let written = private_files::replace_file(&self.path, text.as_bytes());
        written.map_err(|source| self.to_io_error(source))?;
        drop(lock);
        Ok(result)
    }

    fn to_io_error(&self, source: io::Error) -> TrustError {
        TrustError::Io { path: self.path.clone(), source }
    }

    fn to_unreadable_error(&self, why: String) -> TrustError {
        TrustError::Unreadable { path: self.path.clone(), why }
    }
}
