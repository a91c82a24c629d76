//! The journal of effects, which prevents a second execution of an effect that is known to have
//! succeeded.
//!
//! An entry records that an effect was started, then its result. After a crash, a finished effect
//! is answered from the journal; one that was only started is performed again, because its progress
//! is unknown. Each entry is a separate file, written atomically. The journal is not the log: the
//! history of a run is in the store, and an entry may be removed once its result is stored there.

use std::io;
use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use countersign_contract::json;
use countersign_contract::json::sha256_hex;
use countersign_run::EffectCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::private_files;
use crate::workspace::{sync_folder, write_private};

/// How many characters of an id the name of its file shows.
const MAX_ID_CHARS: usize = 80;

/// The folder of journal entries. Cheap to clone.
#[derive(Debug, Clone)]
pub struct EffectJournal {
    folder: Arc<Dir>,
}

/// Why a journal operation failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EffectJournalError {
    /// The file system returned an error.
    #[error("the effect journal at `{path}` is not accessible: {source}")]
    Io {
        /// Path of the folder or the entry.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// An entry cannot be parsed.
    #[error("the effect journal entry `{file}` is not readable; it may have been edited")]
    Corrupt {
        /// Name of the entry's file.
        file: String,
    },
    /// The id was used before for a different effect.
    #[error("action `{id}` was already started with a different effect")]
    EffectMismatch {
        /// The action id, with its run.
        id: String,
    },
}

/// An entry as it is stored. Fields may be added; existing fields keep their meaning.
#[derive(Debug, Serialize, Deserialize)]
struct JournalEntry {
    id: String,
    /// Digest of the effect call.
    effect_digest: String,
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
    /// Opens the journal in a folder, which is created if missing.
    pub fn open(folder: &Path) -> Result<Self, EffectJournalError> {
        let fault = |source| EffectJournalError::Io { path: folder.display().to_string(), source };
        private_files::create_folder(folder).map_err(fault)?;
        let folder = Dir::open_ambient_dir(folder, ambient_authority()).map_err(fault)?;
        Ok(Self { folder: Arc::new(folder) })
    }

    /// Returns the result of an effect, or `None` if it is not known to have finished.
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
        if entry.id != id || entry.effect_digest != digest_effect(order) {
            return Err(EffectJournalError::EffectMismatch { id: id.to_owned() });
        }
        match (entry.state, entry.result) {
            (JournalEntryState::Started, _) => Ok(None),
            (JournalEntryState::Finished, Some(result)) => Ok(Some(result)),
            (JournalEntryState::Finished, None) => Err(EffectJournalError::Corrupt { file }),
        }
    }

    /// Records that an effect starts.
    pub fn record_start(&self, id: &str, order: &EffectCall) -> Result<(), EffectJournalError> {
        self.write_entry(id, order, JournalEntryState::Started, None)
    }

    /// Records the result of an effect.
    pub fn record_result(
        &self,
        id: &str,
        order: &EffectCall,
        result: &Value,
    ) -> Result<(), EffectJournalError> {
        self.write_entry(id, order, JournalEntryState::Finished, Some(result.clone()))
    }

    /// Removes an entry whose result is in the store. A missing entry is not an error.
    pub fn remove_entry(&self, id: &str) -> Result<(), EffectJournalError> {
        let path = entry_file_name(id);
        match self.folder.remove_file(&path).and_then(|()| sync_folder(&self.folder)) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(EffectJournalError::Io { path, source })
            }
            _ => Ok(()),
        }
    }

    /// Returns the ids of all readable entries, among the first `most` files.
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
        let entry =
            JournalEntry { id: id.to_owned(), effect_digest: digest_effect(order), state, result };
        let mut text = serde_json::to_vec(&entry).expect("an entry serializes to JSON");
        text.push(b'\n');
        write_private(&self.folder, &path, &text)
            .map_err(|source| EffectJournalError::Io { path, source })
    }
}

fn digest_effect(order: &EffectCall) -> String {
    json::digest_json(&serde_json::to_value(order).expect("an effect call serializes to JSON"))
}

/// Returns a file name that shows the id and is unique for every id on every file system.
fn entry_file_name(id: &str) -> String {
    let readable = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' }
    };
    let shown: String = id.chars().take(MAX_ID_CHARS).map(readable).collect();
    format!("{shown}-{}.json", &sha256_hex(&[id.as_bytes()])[..32])
}
