//! Reads state files and merges them into one document.

use std::io::{self, Read as _};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use countersign_contract::json::{self, RepairLevel};
use countersign_protocol::StateFileLayout;
use serde_json::{Map, Value};

use super::ProjectionError;
use super::state_file_layout::{WRITE_MARKER, state_file_names};

/// Maximum size of a file, in bytes.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// How many times a file set is read while it keeps changing.
const MAX_ATTEMPTS: usize = 5;

/// Reads the document in a folder. Returns `None` if there is no state file.
///
/// In a set of several files, `sprint.json` and `tasks.json` may be absent, as other tools leave
/// them out. The contract of the document decides whether it is valid.
pub fn read_state_files(
    folder: &Path,
    format: StateFileLayout,
) -> Result<Option<Value>, ProjectionError> {
    let shown = folder.display().to_string();
    let dir = match Dir::open_ambient_dir(folder, ambient_authority()) {
        Ok(dir) => dir,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(ProjectionError::Io { file: shown, source }),
    };
    let half = || ProjectionError::HalfWritten { folder: shown.clone(), marker: WRITE_MARKER };
    // Two equal readings show what the files contained at an instant between them, so the marker is
    // checked at that instant.
    let mut last = read_texts(&dir, format)?;
    for _ in 0..MAX_ATTEMPTS {
        let marked = state_file_names(format).len() > 1 && dir.exists(WRITE_MARKER);
        let again = read_texts(&dir, format)?;
        if again == last {
            return if marked { Err(half()) } else { merge_texts(&again) };
        }
        last = again;
    }
    Err(half())
}

type StateFileTexts = Vec<(&'static str, Option<String>)>;

fn read_texts(dir: &Dir, format: StateFileLayout) -> Result<StateFileTexts, ProjectionError> {
    state_file_names(format).iter().map(|file| Ok((*file, read_text(dir, file)?))).collect()
}

fn read_text(dir: &Dir, file: &'static str) -> Result<Option<String>, ProjectionError> {
    let fault = |source| ProjectionError::Io { file: file.to_owned(), source };
    match dir.metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fault(error)),
        Ok(found) if !found.is_file() => {
            return Err(fault(io::Error::other("it is not a regular file")));
        }
        Ok(found) if found.len() > MAX_FILE_BYTES => {
            return Err(ProjectionError::TooLarge { file });
        }
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    dir.open(file)
        .and_then(|file| file.take(MAX_FILE_BYTES).read_to_end(&mut bytes))
        .map_err(fault)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let good = String::from_utf8_lossy(&error.as_bytes()[..at]).into_owned();
            Err(build_json_error(file, &good, at))
        }
    }
}

fn merge_texts(texts: &StateFileTexts) -> Result<Option<Value>, ProjectionError> {
    let first = texts.first().is_some_and(|(_, text)| text.is_some());
    if let Some((found, _)) = texts.iter().find(|(_, text)| text.is_some())
        && !first
    {
        return Err(ProjectionError::Incomplete { found });
    }
    let mut document = Map::new();
    for (file, text) in texts {
        let Some(text) = text else { continue };
        for (key, value) in parse_object(file, text)? {
            if document.contains_key(&key) {
                return Err(ProjectionError::DuplicateKey { key, file });
            }
            document.insert(key, value);
        }
    }
    Ok(first.then_some(Value::Object(document)))
}

fn parse_object(file: &'static str, text: &str) -> Result<Map<String, Value>, ProjectionError> {
    let reading = json::parse_json(text, RepairLevel::None)
        .map_err(|stop| build_json_error(file, text, stop.span.start))?;
    if let Some(flaw) = reading.data_losses.first() {
        return Err(ProjectionError::Lossy { file, pointer: flaw.pointer.clone() });
    }
    match reading.value {
        Value::Object(object) => Ok(object),
        _ => Err(ProjectionError::FileNotAnObject { file }),
    }
}

fn build_json_error(file: &'static str, text: &str, at: usize) -> ProjectionError {
    let before = &text[..text.floor_char_boundary(at)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    ProjectionError::NotJson { file, line, column }
}
