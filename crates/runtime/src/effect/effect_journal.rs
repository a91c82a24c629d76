//! The journal of effects that must not be had twice where once is known.
//!
//! An entry says that an effect was started, then what came of it. After a crash a finished one is
//! answered from here; one that was only started is done again, because nobody knows how far it got.
//! Entries are files of their own, written whole. The journal is not the log: what happened to a
//! run is in the store, and an entry may be forgotten once its result is there.

use std::io;
use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use countersign_core::json;
use countersign_core::json::sha256_hex;
use countersign_core::run::EffectCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::private_files;
use crate::workspace::{sync_folder, write_private};

/// How much of an id its file's name shows.
const MAX_ID_CHARS: usize = 80;

/// The folder of entries. Cheap to clone.
#[derive(Debug, Clone)]
pub struct EffectJournal {
    folder: Arc<Dir>,
}

/// Why the journal did not answer.
#[derive(Debug, Error)]
pub enum EffectJournalError {
    /// The file system refused.
    #[error("the journal of effects at `{path}` is not accessible: {source}")]
    Io {
        /// The folder or the entry.
        path: String,
        /// The system's words.
        source: io::Error,
    },
    /// An entry is not what was written.
    #[error(
        "the entry `{file}` in the journal of effects is not readable; was it changed by hand?"
    )]
    Corrupt {
        /// Its file.
        file: String,
    },
    /// The id was used before, for something else.
    #[error("action `{id}` was started before with another order")]
    EffectMismatch {
        /// The id.
        id: String,
    },
}

/// One entry as it is stored. A field may be added; one that is there keeps its meaning.
#[derive(Debug, Serialize, Deserialize)]
struct JournalEntry {
    id: String,
    /// The digest of the order.
    order: String,
    state: JournalEntryState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum JournalEntryState {
    Started,
    Finished,
}

impl EffectJournal {
    /// Opens the journal in a folder, which is made where it is missing.
    pub fn open(folder: &Path) -> Result<Self, EffectJournalError> {
        let fault = |source| EffectJournalError::Io { path: folder.display().to_string(), source };
        private_files::create_folder(folder).map_err(fault)?;
        let folder = Dir::open_ambient_dir(folder, ambient_authority()).map_err(fault)?;
        Ok(Self { folder: Arc::new(folder) })
    }

    /// What came of an effect, if that is known.
    pub fn load_result(
        &self,
        id: &str,
        order: &EffectCall,
    ) -> Result<Option<Value>, EffectJournalError> {
        let file = entry_file_name(id);
        let text = match self.folder.read(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(EffectJournalError::Io { path: file, source }),
        };
        let Ok(entry) = serde_json::from_slice::<JournalEntry>(&text) else {
            return Err(EffectJournalError::Corrupt { file });
        };
        if entry.id != id || entry.order != digest_effect(order) {
            return Err(EffectJournalError::EffectMismatch { id: id.to_owned() });
        }
        match (entry.state, entry.result) {
            (JournalEntryState::Started, _) => Ok(None),
            (JournalEntryState::Finished, Some(result)) => Ok(Some(result)),
            (JournalEntryState::Finished, None) => Err(EffectJournalError::Corrupt { file }),
        }
    }

    /// Writes down that an effect begins.
    pub fn record_start(&self, id: &str, order: &EffectCall) -> Result<(), EffectJournalError> {
        self.write_entry(id, order, JournalEntryState::Started, None)
    }

    /// Writes down what came of it.
    pub fn record_result(
        &self,
        id: &str,
        order: &EffectCall,
        result: &Value,
    ) -> Result<(), EffectJournalError> {
        self.write_entry(id, order, JournalEntryState::Finished, Some(result.clone()))
    }

    /// Drops an entry whose result is in the store; one that is not there is dropped already.
    pub fn remove_entry(&self, id: &str) -> Result<(), EffectJournalError> {
        let path = entry_file_name(id);
        match self.folder.remove_file(&path).and_then(|()| sync_folder(&self.folder)) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(EffectJournalError::Io { path, source })
            }
            _ => Ok(()),
        }
    }

    /// The ids of all entries that can be read, at most so many.
    #[must_use]
    pub fn list_ids(&self, most: usize) -> Vec<String> {
        let Ok(entries) = self.folder.entries() else { return Vec::new() };
        let entries = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let texts = entries.take(most).filter_map(|name| self.folder.read(name).ok());
        texts
            .filter_map(|text| Some(serde_json::from_slice::<JournalEntry>(&text).ok()?.id))
            .collect()
    }

    fn write_entry(
        &self,
        id: &str,
        order: &EffectCall,
        state: JournalEntryState,
        result: Option<Value>,
    ) -> Result<(), EffectJournalError> {
        let path = entry_file_name(id);
        let entry = JournalEntry { id: id.to_owned(), order: digest_effect(order), state, result };
        let mut text = serde_json::to_vec(&entry).expect("an entry is plain JSON");
        text.push(b'\n');
        write_private(&self.folder, &path, &text)
            .map_err(|source| EffectJournalError::Io { path, source })
    }
}

fn digest_effect(order: &EffectCall) -> String {
    json::digest_json(&serde_json::to_value(order).expect("an order is plain JSON"))
}

/// A name that shows the id and is different for every id, on every file system.
fn entry_file_name(id: &str) -> String {
    let readable = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' }
    };
    let shown: String = id.chars().take(MAX_ID_CHARS).map(readable).collect();
    format!("{shown}-{}.json", &sha256_hex(&[id.as_bytes()])[..32])
}
