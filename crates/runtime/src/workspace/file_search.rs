//! Searches the files of the workspace for a text, line by line, with limits on everything.
//!
//! The query is plain text and case-insensitive. Documents are searched in the text that reading
//! them gives; images and other binary files are skipped.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use countersign_documents::{
    DocumentError, DocumentErrorKind, DocumentFormat, DocumentText, limits,
};

use crate::document::label_part;

use super::{WalkOutcome, Workspace, WorkspaceError, WorkspacePath};

/// Maximum length of a query, in bytes.
const MAX_QUERY_BYTES: usize = 1_000;

/// Maximum length of a returned line, in characters.
const MAX_LINE_CHARS: usize = 240;

/// Unreadable documents that the results name.
const MAX_NAMED_UNREADABLE: usize = 10;

/// The limits of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSearchLimits {
    /// Maximum number of files that are read; 5000 by default.
    pub files: usize,
    /// Maximum total number of bytes that are read; 64 MiB by default.
    pub bytes: u64,
    /// Maximum size of a text file in bytes; larger ones are skipped. 1 MiB by default. Documents
    /// may be as large as those that are read.
    pub file_bytes: u64,
    /// Maximum number of documents, such as PDF files, that are read; 200 by default.
    pub documents: usize,
    /// How long reading documents may take before the rest is left out; 60 seconds by default.
    pub document_time: Duration,
    /// Maximum number of returned lines; 200 by default.
    pub hits: usize,
}

impl Default for FileSearchLimits {
    fn default() -> Self {
        Self {
            files: 5_000,
            bytes: 64 * 1024 * 1024,
            file_bytes: 1024 * 1024,
            documents: 200,
            document_time: Duration::from_mins(1),
            hits: 200,
        }
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
    /// Documents that could not be read, with the reason; at most ten.
    pub unreadable: Vec<(String, String)>,
    /// Number of further documents that could not be read.
    pub more_unreadable: usize,
    /// Why the search ended early; absent if it was complete.
    pub incomplete_reason: Option<&'static str>,
}

/// A line that contains the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSearchHit {
    /// Path of the file, relative to the workspace.
    pub path: String,
    /// Page, slide, sheet or attachment of a document, such as `page 3`; absent for other files.
    pub part: Option<String>,
    /// Line number, counted from 1; within the part if there is one.
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
            documents: 0,
            document_time: Duration::ZERO,
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
    /// Number of documents that were read, and the time that it took.
    documents: usize,
    document_time: Duration,
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
        let name = path.names().last().map_or("", String::as_str);
        match DocumentFormat::detect(name, &content.bytes) {
            Ok(DocumentFormat::Text) => {}
            Ok(_) => return self.search_document(path, name),
            // Images and other binary files have no text; a document that cannot be read is named.
            Err(error) => {
                let is_document = matches!(
                    error.kind,
                    DocumentErrorKind::Broken | DocumentErrorKind::PasswordProtected
                );
                if is_document {
                    self.note_unreadable(path, error);
                }
                return;
            }
        }
        if content.truncated {
            self.results.skipped_large += 1;
            return;
        }
        let (text, ..) = countersign_documents::decode_text(&content.bytes);
        self.search_lines(path, None, &text);
    }

    /// Searches the text of a document; for a web page, also its source.
    fn search_document(&mut self, path: &WorkspacePath, name: &str) {
        if self.documents >= self.limits.documents {
            self.results.incomplete_reason = Some("the limit of documents is reached");
            return;
        }
        if self.document_time >= self.limits.document_time {
            self.results.incomplete_reason = Some("reading the documents took too long");
            return;
        }
        let Ok(content) = self.workspace.read_at(path, limits::MAX_DOCUMENT_BYTES) else { return };
        if content.truncated {
            self.results.skipped_large += 1;
            return;
        }
        let started = Instant::now();
        let read = self.workspace.documents.read_blocking(name, &content.bytes);
        self.documents += 1;
        self.document_time += started.elapsed();
        match read {
            Ok(document) => {
                let before = self.results.hits.len();
                self.search_parts(path, &document);
                if document.format == DocumentFormat::Html && self.results.hits.len() == before {
                    let (source, ..) = countersign_documents::decode_text(&content.bytes);
                    self.search_lines(path, Some("source"), &source);
                }
            }
            Err(error) => self.note_unreadable(path, error),
        }
    }

    fn note_unreadable(&mut self, path: &WorkspacePath, error: DocumentError) {
        if self.results.unreadable.len() < MAX_NAMED_UNREADABLE {
            self.results.unreadable.push((path.to_string(), error.message));
        } else {
            self.results.more_unreadable += 1;
        }
    }

    fn search_parts(&mut self, path: &WorkspacePath, document: &DocumentText) {
        let is_whole = document.parts.len() == 1 && document.parts[0].name.is_empty();
        for (index, part) in document.parts.iter().enumerate() {
            let label = (!is_whole).then(|| label_part(part, index));
            self.search_lines(path, label.as_deref(), &part.text);
        }
    }

    fn search_lines(&mut self, path: &WorkspacePath, part: Option<&str>, text: &str) {
        for (index, line) in text.lines().enumerate() {
            let Some(at) = line.to_lowercase().find(&self.query) else { continue };
            if self.results.hits.len() >= self.limits.hits {
                self.results.incomplete_reason = Some("the limit of matching lines is reached");
                return;
            }
            let (text, part) = (extract_excerpt(line, at), part.map(str::to_owned));
            let path = path.to_string();
            self.results.hits.push(FileSearchHit { path, part, line: index + 1, text });
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
