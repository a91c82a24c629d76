//! The file of what a person trusts, private to that person and outside of every workspace.
//!
//! It is read again for every action that it decides on, so that trust takes effect immediately
//! when it is given or revoked, also for a running server.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use countersign_run::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::AllowList;
use crate::private_files;

/// The version of the file format.
const FORMAT: u32 = 1;

/// Maximum size of the file, in bytes. A larger one is not read, and nothing is trusted.
const MAX_BYTES: u64 = 4 << 20;

/// Why the file cannot be used. Nothing is trusted in that case.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The file system returned an error.
    #[error("`{}` is not accessible: {source}", path.display())]
    Io {
        /// Path of the trust file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is not a valid trust file.
    #[error("`{}` is not a valid trust file: {why}", path.display())]
    Unreadable {
        /// Path of the trust file.
        path: PathBuf,
        /// What is wrong with the content.
        why: String,
    },
    /// Other users could have written the file.
    #[error("other users can write to `{}`, so it cannot be trusted; run `chmod 600` on it", path.display())]
    NotPrivate {
        /// Path of the trust file.
        path: PathBuf,
    },
}

/// A list that a person trusts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRecord {
    /// Digest of the list, the protocol's name and the folder; identifies the record.
    pub digest: String,
    /// What is trusted, for people: `protocol NAME`, or `settings` for an allow-list.
    pub subject: String,
    /// The working folder that the trust applies to.
    pub folder: PathBuf,
    /// The list, one entry per line.
    pub list: Vec<String>,
    /// Commands of the programs in the list; no run may change the files that they name.
    #[serde(default)]
    pub commands: Vec<Vec<String>>,
    /// The person who trusted the list.
    pub by: String,
    /// When the list was trusted.
    pub trusted_at: Timestamp,
}

impl TrustRecord {
    /// Creates the record of a server that a run names and that may receive prompts of this
    /// folder's runs.
    #[must_use]
    pub fn for_model_server(server: &str, folder: &Path, by: &str, trusted_at: Timestamp) -> Self {
        let list = AllowList::with_model_server(server);
        Self {
            digest: list.trust_digest(folder),
            subject: "models of runs".to_owned(),
            folder: folder.to_owned(),
            list: list.describe(),
            commands: Vec::new(),
            by: by.to_owned(),
            trusted_at,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct TrustFileContent {
    v: u32,
    trusted: Vec<TrustRecord>,
}

/// The file that stores trust records. Cheap to clone; the file need not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustFile {
    path: PathBuf,
}

impl TrustFile {
    /// Uses the file at a path, without opening it.
    #[must_use]
    pub fn from_path(path: PathBuf) -> Self {
        Self { path }
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns all trust records, oldest first; empty if the file does not exist.
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
                self.to_unreadable_error(format!("it is larger than {} MiB", MAX_BYTES >> 20))
            );
        }
        let content: TrustFileContent = serde_json::from_str(&text)
            .map_err(|error| self.to_unreadable_error(error.to_string()))?;
        if content.v != FORMAT {
            let why = format!("its format is {}; this program supports {FORMAT}", content.v);
            return Err(self.to_unreadable_error(why));
        }
        Ok(content.trusted)
    }

    /// Returns whether a list is trusted.
    pub fn contains_digest(&self, digest: &str) -> Result<bool, TrustError> {
        Ok(self.read_records()?.iter().any(|record| record.digest == digest))
    }

    /// Adds a record. Returns whether it is new.
    pub fn add(&self, record: TrustRecord) -> Result<bool, TrustError> {
        self.update_records(|trusted| {
            let is_new = trusted.iter().all(|known| known.digest != record.digest);
            if is_new {
                trusted.push(record);
            }
            is_new
        })
    }

    /// Removes the chosen records, and returns them.
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

    /// Reads, changes and writes the file under a lock against other processes.
    fn update_records<T>(
        &self,
        change: impl FnOnce(&mut Vec<TrustRecord>) -> T,
    ) -> Result<T, TrustError> {
        let lock = private_files::lock_file(&self.path.with_extension("lock"));
        let lock = lock.map_err(|source| self.to_io_error(source))?;
        let mut trusted = self.read_records()?;
        let result = change(&mut trusted);
        let text = serde_json::to_string_pretty(&TrustFileContent { v: FORMAT, trusted })
            .expect("strings and numbers serialize to JSON");
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
