//! Looking for bytes in the file, its write-ahead log and its index of that.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_store::StoreError;

use super::super::Trace;
use super::super::shelves::Answer;

/// From this length on, either half of a needle is a trace too: a long text may be cut at the end of a
/// page.
const HALVED: usize = 32;

pub(super) fn traces(path: &Path, needles: &[Vec<u8>]) -> Answer<Vec<Trace>> {
    let mut traces = Vec::new();
    for ending in ["", "-wal", "-shm"] {
        let mut name = OsString::from(path);
        name.push(ending);
        let file = PathBuf::from(name);
        let bytes = match fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(StoreError::Unavailable { source: Arc::new(error) }.into()),
        };
        for (needle, words) in needles.iter().enumerate() {
            let found = forms(words).iter().filter_map(|form| find(&bytes, form)).min();
            if let Some(offset) = found {
                let place = file.display().to_string();
                traces.push(Trace { needle, place, offset: offset as u64 });
            }
        }
    }
    Ok(traces)
}

/// How a needle may stand in a file: as it is, as JSON writes it, and in part.
fn forms(needle: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![needle.to_vec()];
    if let Ok(text) = std::str::from_utf8(needle)
        && let Ok(quoted) = serde_json::to_string(text)
    {
        let inside = quoted.as_bytes()[1..quoted.len() - 1].to_vec();
        if inside != needle {
            forms.push(inside);
        }
    }
    if needle.len() >= HALVED {
        let (first, second) = needle.split_at(needle.len() / 2);
        forms.extend([first.to_vec(), second.to_vec()]);
    }
    forms
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    let (first, rest) = needle.split_first()?;
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| byte == first) {
        let behind = from + at + 1;
        if bytes[behind..].starts_with(rest) {
            return Some(behind - 1);
        }
        from = behind;
    }
    None
}
