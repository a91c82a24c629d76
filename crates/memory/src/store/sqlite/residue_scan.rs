//! Scans the database file, its write-ahead log and its shared-memory file for bytes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::Arc;

use countersign_store::{RawFile, StoreError};

use super::super::ResidueMatch;
use super::super::needle::list_needle_forms;
use super::super::row_store::MemoryResult;

/// The number of bytes that are scanned at once.
const SCAN_CHUNK_BYTES: usize = 1 << 20;

pub(super) fn scan_residue(raw: &RawFile, needles: &[Vec<u8>]) -> MemoryResult<Vec<ResidueMatch>> {
    let unread = |error: io::Error| StoreError::Unavailable { source: Arc::new(error) };
    let forms: Vec<Vec<Vec<u8>>> = needles.iter().map(|needle| list_needle_forms(needle)).collect();
    let mut traces = Vec::new();
    for ending in ["", "-wal", "-shm"] {
        let Some((name, file)) = raw.open_part(ending).map_err(unread)? else { continue };
        for (needle, offset) in scan_file(&file, &forms).map_err(unread)? {
            traces.push(ResidueMatch { needle, location: name.display().to_string(), offset });
        }
    }
    Ok(traces)
}

/// Returns the needles that a file contains, with the offset of the first match of each.
fn scan_file(mut file: &File, needles: &[Vec<Vec<u8>>]) -> io::Result<BTreeMap<usize, u64>> {
    let longest = needles.iter().flatten().map(Vec::len).max().unwrap_or(1);
    let mut found = BTreeMap::new();
    let mut bytes = Vec::new();
    let mut from = 0_u64;
    file.seek(SeekFrom::Start(0))?;
    loop {
        let read = file.take(SCAN_CHUNK_BYTES as u64).read_to_end(&mut bytes)?;
        for (needle, forms) in needles.iter().enumerate() {
            if found.contains_key(&needle) {
                continue;
            }
            if let Some(at) = forms.iter().filter_map(|form| find_bytes(&bytes, form)).min() {
                found.insert(needle, from + at as u64);
            }
        }
        if read == 0 {
            return Ok(found);
        }
        // Keep the bytes that may be the beginning of a needle.
        let done = bytes.len().saturating_sub(longest - 1);
        bytes.drain(..done);
        from += done as u64;
    }
}

fn find_bytes(bytes: &[u8], needle: &[u8]) -> Option<usize> {
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_needle_is_found_wherever_it_lies_and_however_it_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        let needle = "a needle that is longer than one line of text".to_owned();
        let mut bytes = vec![b'.'; SCAN_CHUNK_BYTES - 10];
        bytes.extend(needle.as_bytes());
        bytes.extend(vec![b'.'; SCAN_CHUNK_BYTES]);
        fs::write(&path, &bytes).unwrap();
        fs::write(folder.path().join("m.db-wal"), &needle[..30]).unwrap();
        fs::write(folder.path().join("m.db-shm"), "say \\\"so\\\"").unwrap();
        let needles = ["absent", &needle, "say \"so\""].map(|one| one.as_bytes().to_vec());
        let found = scan_residue(&RawFile::new(&path).unwrap(), &needles).unwrap();
        let told = found
            .iter()
            .map(|trace| (trace.needle, trace.offset, trace.location.rsplit('/').next()));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                (1, SCAN_CHUNK_BYTES as u64 - 10, Some("m.db")),
                (1, 0, Some("m.db-wal")),
                (2, 0, Some("m.db-shm"))
            ]
        );
    }
}
