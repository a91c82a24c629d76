//! Performs a tool call.
//!
//! A mistake of the agent is not an error of the runtime: it becomes an outcome with a message that
//! the agent reads.

use countersign_run::ToolCall;

use super::suggest_paths::suggest_paths;
use crate::workspace::{
    FileSearchLimits, FileSearchResults, FolderEntryKind, FolderListing, MAX_LISTED_ENTRIES,
    MAX_READ_BYTES, Workspace, WorkspaceError,
};

/// Maximum size of an output that an agent receives, in bytes.
pub const MAX_OUTPUT_BYTES: usize = 16 * 1024;

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutcome {
    /// Whether the call succeeded.
    pub ok: bool,
    /// The text that the agent reads: the result, or an error message.
    pub output: String,
    /// Size in bytes of the file that was read or written, or of the complete output before it was
    /// cut.
    pub bytes: u64,
    /// Whether the agent receives less than the complete output.
    pub truncated: bool,
}

/// Performs a tool call of an agent in the workspace.
#[must_use]
pub fn perform_tool_call(workspace: &Workspace, call: &ToolCall) -> ToolOutcome {
    let outcome = match call {
        ToolCall::Read { path } => read_file(workspace, path),
        ToolCall::Write { path, content } => write_file(workspace, path, content),
        ToolCall::List { path } => {
            workspace.list(path, MAX_LISTED_ENTRIES).map(|found| format_listing(&found))
        }
        ToolCall::Search { query, path } => workspace
            .search(query, path, FileSearchLimits::default())
            .map(|found| format_hits(&found)),
        // The workspace has no skills; the driver reads them from the protocol.
        ToolCall::Skill { name } => {
            return build_failure(format!("skill `{name}` is not available here"));
        }
        // The workspace has no servers; the driver calls them.
        ToolCall::Mcp { server, .. } => {
            return build_failure(format!("MCP server `{server}` is not available here"));
        }
    };
    outcome.unwrap_or_else(|error| error_to_outcome(workspace, &error))
}

fn read_file(workspace: &Workspace, path: &str) -> Result<ToolOutcome, WorkspaceError> {
    let content = workspace.read(path, MAX_READ_BYTES)?;
    let text = match String::from_utf8(content.bytes) {
        Ok(text) => text,
        // The limit may have split a character; any other invalid byte means that the file is not
        // text.
        Err(error) if content.truncated && error.utf8_error().error_len().is_none() => {
            let whole = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(whole);
            String::from_utf8(bytes).expect("the bytes before the first error are UTF-8")
        }
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            return Ok(build_failure(format!(
                "`{path}` is not a text file: byte {at} is not UTF-8"
            )));
        }
    };
    Ok(truncate_output(text, content.size))
}

fn write_file(
    workspace: &Workspace,
    path: &str,
    content: &str,
) -> Result<ToolOutcome, WorkspaceError> {
    let written = workspace.write_atomic(path, content.as_bytes())?;
    let output = format!("wrote {} bytes to `{}`", written.bytes, written.path);
    Ok(ToolOutcome { ok: true, output, bytes: written.bytes, truncated: false })
}

fn format_listing(listing: &FolderListing) -> ToolOutcome {
    let mut lines: Vec<String> = Vec::new();
    for entry in &listing.entries {
        lines.push(match entry.kind {
            FolderEntryKind::Folder => format!("{}/", entry.name),
            FolderEntryKind::File => format!("{}  {} bytes", entry.name, entry.bytes),
            FolderEntryKind::Other => format!("{}  not a file", entry.name),
        });
    }
    if listing.omitted > 0 {
        lines.push(format!("… and {} more", listing.omitted));
    }
    if lines.is_empty() {
        lines.push("the folder is empty".to_owned());
    }
    let mut outcome = build_success(lines.join("\n"));
    outcome.truncated |= listing.omitted > 0;
    outcome
}

fn format_hits(found: &FileSearchResults) -> ToolOutcome {
    let mut lines: Vec<String> = Vec::new();
    for hit in &found.hits {
        lines.push(format!("{}:{}: {}", hit.path, hit.line, hit.text));
    }
    if lines.is_empty() {
        lines.push(format!("nothing found in {} files", found.files));
    }
    if found.skipped_large > 0 {
        lines.push(format!("… {} files are too long and were skipped", found.skipped_large));
    }
    if let Some(why) = found.incomplete_reason {
        lines.push(format!("… the search is incomplete: {why}"));
    }
    let mut outcome = build_success(lines.join("\n"));
    outcome.truncated |= found.incomplete_reason.is_some();
    outcome
}

fn build_success(text: String) -> ToolOutcome {
    let bytes = text.len() as u64;
    truncate_output(text, bytes)
}

/// Shortens an output to the limit, and appends a note if it was cut.
pub(crate) fn truncate_output(mut text: String, size: u64) -> ToolOutcome {
    let truncated = text.len() > MAX_OUTPUT_BYTES || (text.len() as u64) < size;
    if truncated {
        text.truncate(text.floor_char_boundary(MAX_OUTPUT_BYTES));
        let total = text.len();
        text.push_str(&format!("\n… truncated: {total} of {size} bytes are shown"));
    }
    ToolOutcome { ok: true, output: text, bytes: size, truncated }
}

fn error_to_outcome(workspace: &Workspace, error: &WorkspaceError) -> ToolOutcome {
    let mut sentence = error.to_string();
    if let WorkspaceError::NotFound { path } = error {
        let names = suggest_paths(workspace, path);
        if !names.is_empty() {
            sentence.push_str(&format!("; did you mean `{}`?", names.join("`, `")));
        }
    }
    build_failure(sentence)
}

fn build_failure(sentence: String) -> ToolOutcome {
    let bytes = sentence.len() as u64;
    ToolOutcome { ok: false, output: sentence, bytes, truncated: false }
}
