//! The texts of the documents that were read last, so that the next page costs no second reading.

use std::collections::VecDeque;
use std::sync::Arc;

use countersign_documents::{DocumentError, DocumentText};

/// Maximum size of all texts together, in bytes: 64 MiB.
const MAX_CACHED_BYTES: usize = 64 * 1024 * 1024;

/// Maximum number of texts; an error counts as one.
const MAX_CACHED_TEXTS: usize = 512;

/// What reading a document gave.
pub(super) type ReadResult = Result<Arc<DocumentText>, DocumentError>;

/// The results of the last readings, by the digest of name and content; the last used is the last.
#[derive(Debug, Default)]
pub(super) struct DocumentTextCache {
    results: VecDeque<(String, ReadResult)>,
    bytes: usize,
}

impl DocumentTextCache {
    pub(super) fn get(&mut self, key: &str) -> Option<ReadResult> {
        let index = self.results.iter().position(|(known, _)| known == key)?;
        let found = self.results.remove(index)?;
        let result = found.1.clone();
        self.results.push_back(found);
        Some(result)
    }

    pub(super) fn insert(&mut self, key: String, result: ReadResult) {
        self.bytes += measure(&result);
        self.results.push_back((key, result));
        while self.bytes > MAX_CACHED_BYTES || self.results.len() > MAX_CACHED_TEXTS {
            let Some((_, oldest)) = self.results.pop_front() else { return };
            self.bytes -= measure(&oldest);
        }
    }
}

fn measure(result: &ReadResult) -> usize {
    result.as_ref().map_or(0, |document| document.text_bytes())
}
