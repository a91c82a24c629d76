//! Performs one tool call.
//!
//! Nothing that an agent does wrong is an error of ours: it is an outcome that says so, and the
//! agent reads it.

use countersign_core::run::ToolCall;

use super::near::near;
use crate::workspace::{
    EntryKind, Hits, LIST_LIMIT, Listing, READ_LIMIT, SearchLimits, Workspace, WorkspaceError,
};

/// How much of an answer an agent gets, in bytes.
pub const OUTPUT_LIMIT: usize = 16 * 1024;

/// What a tool call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutcome {
    /// Whether it was done.
    pub ok: bool,
    /// What the agent reads.
    pub output: String,
    /// How long the file is that was read or written, or the whole answer before it was cut.
    pub bytes: u64,
    /// Whether the agent reads less than there is.
    pub truncated: bool,
}

/// Does what an agent asked for.
#[must_use]
pub fn perform(workspace: &Workspace, call: &ToolCall) -> ToolOutcome {
    let outcome = match call {
        ToolCall::Read { path } => read(workspace, path),
        ToolCall::Write { path, content } => write(workspace, path, content),
        ToolCall::List { path } => workspace.list(path, LIST_LIMIT).map(|found| list(&found)),
        ToolCall::Search { query, path } => {
            workspace.search(query, path, SearchLimits::default()).map(|found| hits(&found))
        }
    };
    outcome.unwrap_or_else(|error| refused(workspace, &error))
}

fn read(workspace: &Workspace, path: &str) -> Result<ToolOutcome, WorkspaceError> {
    let content = workspace.read(path, READ_LIMIT)?;
    let text = match String::from_utf8(content.bytes) {
        Ok(text) => text,
        // The limit may have cut a letter in two; anything else is no text.
        Err(error) if content.truncated && error.utf8_error().error_len().is_none() => {
            let whole = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(whole);
            String::from_utf8(bytes).expect("what lies before the first fault is UTF-8")
        }
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            return Ok(no(format!("`{path}` is no text: byte {at} is not UTF-8")));
        }
    };
    Ok(cut(text, content.size))
}

fn write(workspace: &Workspace, path: &str, content: &str) -> Result<ToolOutcome, WorkspaceError> {
    let written = workspace.write_atomic(path, content.as_bytes())?;
    let output = format!("wrote {} bytes to `{}`", written.bytes, written.path);
    Ok(ToolOutcome { ok: true, output, bytes: written.bytes, truncated: false })
}

fn list(listing: &Listing) -> ToolOutcome {
    let mut lines: Vec<String> = Vec::new();
    for entry in &listing.entries {
        lines.push(match entry.kind {
            EntryKind::Folder => format!("{}/", entry.name),
            EntryKind::File => format!("{}  {} bytes", entry.name, entry.bytes),
            EntryKind::Other => format!("{}  not a file", entry.name),
        });
    }
    if listing.more > 0 {
        lines.push(format!("… and {} more", listing.more));
    }
    if lines.is_empty() {
        lines.push("the folder is empty".to_owned());
    }
    let mut outcome = whole(lines.join("\n"));
    outcome.truncated |= listing.more > 0;
    outcome
}

fn hits(found: &Hits) -> ToolOutcome {
    let mut lines: Vec<String> = Vec::new();
    for hit in &found.hits {
        lines.push(format!("{}:{}: {}", hit.path, hit.line, hit.text));
    }
    if lines.is_empty() {
        lines.push(format!("nothing found in {} files", found.files));
    }
    if found.too_long > 0 {
        lines.push(format!("… {} files are too long and were passed over", found.too_long));
    }
    if let Some(why) = found.stopped {
        lines.push(format!("… not everything was searched: {why}"));
    }
    let mut outcome = whole(lines.join("\n"));
    outcome.truncated |= found.stopped.is_some();
    outcome
}

fn whole(text: String) -> ToolOutcome {
    let bytes = text.len() as u64;
    cut(text, bytes)
}

/// An answer, shortened to the limit, which it then says.
fn cut(mut text: String, size: u64) -> ToolOutcome {
    let truncated = text.len() > OUTPUT_LIMIT || (text.len() as u64) < size;
    if truncated {
        text.truncate(text.floor_char_boundary(OUTPUT_LIMIT));
        let told = text.len();
        text.push_str(&format!("\n… cut here: {told} of {size} bytes are shown"));
    }
    ToolOutcome { ok: true, output: text, bytes: size, truncated }
}

fn refused(workspace: &Workspace, error: &WorkspaceError) -> ToolOutcome {
    let mut sentence = error.to_string();
    if let WorkspaceError::Missing { path } = error {
        let names = near(workspace, path);
        if !names.is_empty() {
            sentence.push_str(&format!("; did you mean `{}`?", names.join("`, `")));
        }
    }
    no(sentence)
}

fn no(sentence: String) -> ToolOutcome {
    let bytes = sentence.len() as u64;
    ToolOutcome { ok: false, output: sentence, bytes, truncated: false }
}
