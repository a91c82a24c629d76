//! Finding a text in the files of the workspace, line by line, with limits on everything.
//!
//! Plain text only, letters of both cases the same. Binary files are
//! passed over.

use std::ops::ControlFlow;

use super::{WalkOutcome, Workspace, WorkspaceError, WorkspacePath};

/// The longest text that is searched for, in bytes.
const MAX_QUERY_BYTES: usize = 1_000;

/// How much of a line is told, in characters.
const MAX_LINE_CHARS: usize = 240;

/// A NUL so early means that a file is no text.
const BINARY_PROBE_BYTES: usize = 8_192;

/// Where a search ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSearchLimits {
    /// Files that are read.
    pub files: usize,
    /// Bytes that are read, all files together.
    pub bytes: u64,
    /// Bytes of one file; a longer one is passed over.
    pub file_bytes: u64,
    /// Lines that are told.
    pub hits: usize,
}

impl Default for FileSearchLimits {
    fn default() -> Self {
        Self { files: 5_000, bytes: 64 * 1024 * 1024, file_bytes: 1024 * 1024, hits: 200 }
    }
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileSearchResults {
    /// The lines, by path and number.
    pub hits: Vec<FileSearchHit>,
    /// How many files were read.
    pub files: usize,
    /// How many files were passed over because they are too long.
    pub skipped_large: usize,
    /// Why the search ended before everything was seen.
    pub incomplete_reason: Option<&'static str>,
}

/// A line that contains the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSearchHit {
    /// The file.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The line itself; of a long one, the part around the text.
    pub text: String,
}

impl Workspace {
    /// Finds a text below a folder; in the whole workspace when the path is empty.
    pub fn search(
        &self,
        query: &str,
        path: &str,
        limits: FileSearchLimits,
    ) -> Result<FileSearchResults, WorkspaceError> {
        let found = match query {
            "" => Some("empty"),
            query if query.contains(['\n', '\r']) => Some("more than a line"),
            query if query.len() > MAX_QUERY_BYTES => Some("too long"),
            _ => None,
        };
        if let Some(found) = found {
            return Err(WorkspaceError::BadQuery { found });
        }
        let place = self.resolve_folder(path)?;
        let query = query.to_lowercase();
        let mut search = FileSearcher {
            workspace: self,
            query,
            limits,
            bytes: 0,
            results: FileSearchResults::default(),
        };
        // A file may be named as well as a folder.
        match self.root.metadata(place.to_path_buf()) {
            Ok(found) if found.is_file() => search.search_file(&place),
            _ => {
                let walked = self.walk(&place, &mut |file| search.visit(file))?;
                if walked == WalkOutcome::TooDeep {
                    search.results.incomplete_reason.get_or_insert("some folders lie too deep");
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

    /// Whether a limit is reached; says which.
    fn check_limits(&mut self) -> bool {
        let why = if self.results.hits.len() >= self.limits.hits {
            "the most lines are found"
        } else if self.results.files >= self.limits.files {
            "the most files are read"
        } else if self.bytes >= self.limits.bytes {
            "the most bytes are read"
        } else {
            return false;
        };
        self.results.incomplete_reason = Some(why);
        true
    }

    fn search_file(&mut self, place: &WorkspacePath) {
        let Ok(content) = self.workspace.read_at(place, self.limits.file_bytes) else { return };
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
                self.results.incomplete_reason = Some("the most lines are found");
                return;
            }
            let text = extract_excerpt(line, at);
            self.results.hits.push(FileSearchHit {
                path: place.to_string(),
                line: index + 1,
                text,
            });
        }
    }
}

/// The part of a line around a byte of its lower-case form, which is near enough the same place.
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
