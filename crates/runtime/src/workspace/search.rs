//! Finding a text in the files of the workspace, line by line, with limits on everything.
//!
//! Plain text only, letters of both cases the same. Binary files are
//! passed over.

use std::ops::ControlFlow;

use super::{Place, Walked, Workspace, WorkspaceError};

/// The longest text that is searched for, in bytes.
const LONGEST_QUERY: usize = 1_000;

/// How much of a line is told, in characters.
const LONGEST_LINE: usize = 240;

/// A NUL so early means that a file is no text.
const PROBE: usize = 8_192;

/// Where a search ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchLimits {
    /// Files that are read.
    pub files: usize,
    /// Bytes that are read, all files together.
    pub bytes: u64,
    /// Bytes of one file; a longer one is passed over.
    pub file_bytes: u64,
    /// Lines that are told.
    pub hits: usize,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self { files: 5_000, bytes: 64 * 1024 * 1024, file_bytes: 1024 * 1024, hits: 200 }
    }
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hits {
    /// The lines, by path and number.
    pub hits: Vec<Hit>,
    /// How many files were read.
    pub files: usize,
    /// How many files were passed over because they are too long.
    pub too_long: usize,
    /// Why the search ended before everything was seen.
    pub stopped: Option<&'static str>,
}

/// A line that contains the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
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
        limits: SearchLimits,
    ) -> Result<Hits, WorkspaceError> {
        let found = match query {
            "" => Some("empty"),
            query if query.contains(['\n', '\r']) => Some("more than a line"),
            query if query.len() > LONGEST_QUERY => Some("too long"),
            _ => None,
        };
        if let Some(found) = found {
            return Err(WorkspaceError::BadQuery { found });
        }
        let place = self.folder(path)?;
        let query = query.to_lowercase();
        let mut search =
            Search { workspace: self, query, limits, bytes: 0, found: Hits::default() };
        // A file may be named as well as a folder.
        match self.root.metadata(place.path()) {
            Ok(found) if found.is_file() => search.file(&place),
            _ => {
                let walked = self.walk(&place, &mut |file| search.visit(file))?;
                if walked == Walked::TooDeep {
                    search.found.stopped.get_or_insert("some folders lie too deep");
                }
            }
        }
        Ok(search.found)
    }
}

struct Search<'w> {
    workspace: &'w Workspace,
    query: String,
    limits: SearchLimits,
    bytes: u64,
    found: Hits,
}

impl Search<'_> {
    fn visit(&mut self, file: &Place) -> ControlFlow<()> {
        if self.full() {
            return ControlFlow::Break(());
        }
        self.file(file);
        ControlFlow::Continue(())
    }

    /// Whether a limit is reached; says which.
    fn full(&mut self) -> bool {
        let why = if self.found.hits.len() >= self.limits.hits {
            "the most lines are found"
        } else if self.found.files >= self.limits.files {
            "the most files are read"
        } else if self.bytes >= self.limits.bytes {
            "the most bytes are read"
        } else {
            return false;
        };
        self.found.stopped = Some(why);
        true
    }

    fn file(&mut self, place: &Place) {
        let Ok(content) = self.workspace.read_at(place, self.limits.file_bytes) else { return };
        self.found.files += 1;
        self.bytes += content.bytes.len() as u64;
        if content.truncated {
            self.found.too_long += 1;
            return;
        }
        if content.bytes.iter().take(PROBE).any(|byte| *byte == 0) {
            return;
        }
        let Ok(text) = String::from_utf8(content.bytes) else { return };
        for (index, line) in text.lines().enumerate() {
            let Some(at) = line.to_lowercase().find(&self.query) else { continue };
            if self.found.hits.len() >= self.limits.hits {
                self.found.stopped = Some("the most lines are found");
                return;
            }
            let text = around(line, at);
            self.found.hits.push(Hit { path: place.to_string(), line: index + 1, text });
        }
    }
}

/// The part of a line around a byte of its lower-case form, which is near enough the same place.
fn around(line: &str, at: usize) -> String {
    if line.chars().count() <= LONGEST_LINE {
        return line.trim_end().to_owned();
    }
    let before = line.char_indices().take_while(|(index, _)| *index < at).count();
    let start = before.saturating_sub(LONGEST_LINE / 2);
    let part: String = line.chars().skip(start).take(LONGEST_LINE).collect();
    let head = if start > 0 { "…" } else { "" };
    let tail = if line.chars().nth(start + LONGEST_LINE).is_some() { "…" } else { "" };
    format!("{head}{part}{tail}")
}
