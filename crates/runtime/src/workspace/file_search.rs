//! Searches the files of the workspace for a text, line by line, with limits on everything.
//!
//! The query is plain text and case-insensitive. Binary files are skipped.

use std::ops::ControlFlow;

use super::{WalkOutcome, Workspace, WorkspaceError, WorkspacePath};

/// Maximum length of a query, in bytes.
const MAX_QUERY_BYTES: usize = 1_000;

/// Maximum length of a returned line, in characters.
const MAX_LINE_CHARS: usize = 240;

/// A NUL within this many bytes marks a file as binary.
const BINARY_PROBE_BYTES: usize = 8_192;

/// The limits of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSearchLimits {
    /// Maximum number of files that are read; 5000 by default.
    pub files: usize,
    /// Maximum total number of bytes that are read; 64 MiB by default.
    pub bytes: u64,
    /// Maximum size of a file in bytes; larger ones are skipped. 1 MiB by default.
    pub file_bytes: u64,
    /// Maximum number of returned lines; 200 by default.
    pub hits: usize,
}

impl Default for FileSearchLimits {
    fn default() -> Self {
        Self { files: 5_000, bytes: 64 * 1024 * 1024, file_bytes: 1024 * 1024, hits: 200 }
    }
}

/// The results of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileSearchResults {
    /// The matching lines, ordered by path and line number.
    pub hits: Vec<FileSearchHit>,
    /// Number of files that were read.
    pub files: usize,
    /// Number of files that were skipped because they are too large.
    pub skipped_large: usize,
    /// Why the search ended early; absent if it was complete.
    pub incomplete_reason: Option<&'static str>,
}

/// A line that contains the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSearchHit {
    /// Path of the file, relative to the workspace.
    pub path: String,
    /// Line number, counted from 1.
    pub line: usize,
    /// Text of the line; for a long line, the part around the match.
    pub text: String,
}

impl Workspace {
    /// Searches for a text below a folder, or in the whole workspace if the path is empty.
    pub fn search(
        &self,
        query: &str,
        path: &str,
        limits: FileSearchLimits,
    ) -> Result<FileSearchResults, WorkspaceError> {
        let found = match query {
            "" => Some("empty"),
            query if query.contains(['\n', '\r']) => Some("more than one line"),
            query if query.len() > MAX_QUERY_BYTES => Some("too long"),
            _ => None,
        };
        if let Some(found) = found {
            return Err(WorkspaceError::BadQuery { found });
        }
        let resolved = self.resolve_folder(path)?;
        let query = query.to_lowercase();
        let mut search = FileSearcher {
            workspace: self,
            query,
            limits,
            bytes: 0,
            results: FileSearchResults::default(),
        };
        // The path may name a file as well as a folder.
        match self.root.metadata(resolved.to_path_buf()) {
            Ok(found) if found.is_file() => search.search_file(&resolved),
            _ => {
                let walked = self.walk(&resolved, &mut |file| search.visit(file))?;
                if walked == WalkOutcome::TooDeep {
                    search
                        .results
                        .incomplete_reason
                        .get_or_insert("some folders are nested too deeply");
                }
            }
        }
        Ok(search.results)
    }
}

struct FileSearcher<'w> {
    workspace: &'w Workspace,
    query: String,
    limits: FileSearchLimits,
    bytes: u64,
    results: FileSearchResults,
}

impl FileSearcher<'_> {
    fn visit(&mut self, file: &WorkspacePath) -> ControlFlow<()> {
        if self.check_limits() {
            return ControlFlow::Break(());
        }
        self.search_file(file);
        ControlFlow::Continue(())
    }

    /// Returns whether a limit is reached, and records which one.
    fn check_limits(&mut self) -> bool {
        let why = if self.results.hits.len() >= self.limits.hits {
            "the limit of matching lines is reached"
        } else if self.results.files >= self.limits.files {
            "the limit of files is reached"
        } else if self.bytes >= self.limits.bytes {
            "the limit of bytes is reached"
        } else {
            return false;
        };
        self.results.incomplete_reason = Some(why);
        true
    }

    fn search_file(&mut self, path: &WorkspacePath) {
        let Ok(content) = self.workspace.read_at(path, self.limits.file_bytes) else { return };
        self.results.files += 1;
        self.bytes += content.bytes.len() as u64;
        if content.truncated {
            self.results.skipped_large += 1;
            return;
        }
        if content.bytes.iter().take(BINARY_PROBE_BYTES).any(|byte| *byte == 0) {
            return;
        }
        let Ok(text) = String::from_utf8(content.bytes) else { return };
        for (index, line) in text.lines().enumerate() {
            let Some(at) = line.to_lowercase().find(&self.query) else { continue };
            if self.results.hits.len() >= self.limits.hits {
                self.results.incomplete_reason = Some("the limit of matching lines is reached");
                return;
            }
            let text = extract_excerpt(line, at);
            self.results.hits.push(FileSearchHit { path: path.to_string(), line: index + 1, text });
        }
    }
}

/// Returns the part of a line around a byte offset of its lower-case form, which is close enough to
/// the offset in the line.
fn extract_excerpt(line: &str, at: usize) -> String {
    if line.chars().count() <= MAX_LINE_CHARS {
        return line.trim_end().to_owned();
    }
    let before = line.char_indices().take_while(|(index, _)| *index < at).count();
    let start = before.saturating_sub(MAX_LINE_CHARS / 2);
    let part: String = line.chars().skip(start).take(MAX_LINE_CHARS).collect();
    let head = if start > 0 { "…" } else { "" };
    let tail = if line.chars().nth(start + MAX_LINE_CHARS).is_some() { "…" } else { "" };
    format!("{head}{part}{tail}")
}
