//! Performs a tool call.
//!
//! A mistake of the agent is not an error of the runtime: it becomes an outcome with a message that
//! the agent reads.

use std::sync::Arc;

use countersign_documents::{DocumentError, DocumentText, extract_document, limits};
use countersign_run::ToolCall;

use super::suggest_paths::suggest_paths;
use crate::document::{DocumentWindow, ReadArguments, select_window};
use crate::workspace::{
    FileSearchLimits, FileSearchResults, FolderEntryKind, FolderListing, MAX_LISTED_ENTRIES,
    Workspace, WorkspaceError,
};

/// Maximum size of an output that an agent receives, in bytes.
pub const MAX_OUTPUT_BYTES: usize = 16 * 1024;

/// Names that a message about a file that does not exist lists.
const MAX_LISTED_NAMES: usize = 8;

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
        ToolCall::Read { path, page, sheet, offset, limit, raw } => {
            let (page, sheet, offset, limit) = (*page, sheet.as_deref(), *offset, *limit);
            read_file(workspace, path, *raw, ReadArguments { page, sheet, offset, limit })
        }
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

fn read_file(
    workspace: &Workspace,
    path: &str,
    raw: bool,
    arguments: ReadArguments<'_>,
) -> Result<ToolOutcome, WorkspaceError> {
    let read = if raw { read_source(workspace, path)? } else { workspace.read_document(path)? };
    let document = match read {
        Ok(document) => document,
        Err(error) => return Ok(build_failure(format!("`{path}` {error}"))),
    };
    Ok(match select_window(&document, arguments, MAX_OUTPUT_BYTES) {
        Ok(DocumentWindow { text, bytes, truncated }) => {
            ToolOutcome { ok: true, output: text, bytes, truncated }
        }
        Err(violation) => {
            let hint =
                violation.hint.as_deref().map_or_else(String::new, |hint| format!("; {hint}"));
            build_failure(format!("`{path}`: {violation}{hint}"))
        }
    })
}

/// Reads a file as text, whatever it is the source of.
fn read_source(
    workspace: &Workspace,
    path: &str,
) -> Result<Result<Arc<DocumentText>, DocumentError>, WorkspaceError> {
    let content = workspace.read(path, limits::MAX_DOCUMENT_BYTES)?;
    // The name does not matter: a text is recognized by its bytes.
    Ok(extract_document("source.txt", &content.bytes).map(Arc::new))
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
        let part = hit.part.as_ref().map_or_else(String::new, |part| format!("{part}:"));
        lines.push(format!("{}:{part}{}: {}", hit.path, hit.line, hit.text));
    }
    if lines.is_empty() {
        lines.push(format!("nothing found in {} files", found.files));
    }
    if found.skipped_large > 0 {
        lines.push(format!("… {} files are too long and were skipped", found.skipped_large));
    }
    for (path, why) in &found.unreadable {
        lines.push(format!("… `{path}` was not searched: it {why}"));
    }
    if found.more_unreadable > 0 {
        lines.push(format!("… {} more documents were not searched", found.more_unreadable));
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
        if names.is_empty() {
            sentence.push_str(&describe_folder(workspace, path));
        } else {
            sentence.push_str(&format!("; did you mean `{}`?", names.join("`, `")));
        }
    }
    build_failure(sentence)
}

/// Describes what is in the folder of a file that does not exist.
fn describe_folder(workspace: &Workspace, path: &str) -> String {
    let (folder, _) = path.rsplit_once('/').unwrap_or_default();
    let place = if folder.is_empty() { "the workspace".to_owned() } else { format!("`{folder}`") };
    let Ok(listing) = workspace.list(folder, MAX_LISTED_NAMES) else {
        return format!("; there is no folder {place} either");
    };
    let names: Vec<String> =
        listing.entries.iter().map(|entry| format!("`{}`", entry.name)).collect();
    match (names.is_empty(), listing.omitted) {
        (true, _) => format!("; {place} is empty"),
        (false, 0) => format!("; {place} has {}", names.join(", ")),
        (false, more) => format!("; {place} has {} and {more} more", names.join(", ")),
    }
}

fn build_failure(sentence: String) -> ToolOutcome {
    let bytes = sentence.len() as u64;
    ToolOutcome { ok: false, output: sentence, bytes, truncated: false }
}
