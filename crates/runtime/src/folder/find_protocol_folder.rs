//! Finds the protocol that belongs to a folder.
//!
//! Only `.opencode/protocol` is found by itself, and no tool of a run can write there. A workspace
//! that merely looks like a protocol is none: its files may be the work of a model. Whoever means
//! such a folder names it.

use std::path::{Path, PathBuf};

use super::folder_reader::PROTOCOL_FOLDERS;
use crate::workspace::{Workspace, WorkspaceError};

/// What an index may be called.
pub(super) const INDEX_FILES: [&str; 3] = ["index.yaml", "index.yml", "index.json"];

/// The protocol folder of a folder of work: the nearest `.opencode/protocol`, looked for upwards.
#[must_use]
pub fn find_protocol_folder(start: &Path) -> Option<PathBuf> {
    let start = start.canonicalize().ok()?;
    let usual = |folder: &Path| folder.join(".opencode").join("protocol");
    start.ancestors().map(usual).find(|folder| has_index(folder))
}

/// The protocol folder that somebody names: the folder itself, or the one that belongs to it.
#[must_use]
pub fn resolve_protocol_folder(folder: &Path) -> Option<PathBuf> {
    let named = folder.canonicalize().ok()?;
    if has_index(&named) { Some(named) } else { find_protocol_folder(&named) }
}

/// Hides a protocol folder from runs. Where it is the workspace itself, the protocol's files in it.
pub fn hide_protocol(workspace: Workspace, folder: &Path) -> Result<Workspace, WorkspaceError> {
    if folder.canonicalize().is_ok_and(|folder| folder == workspace.path()) {
        workspace.hide(INDEX_FILES.into_iter().chain(PROTOCOL_FOLDERS))
    } else {
        workspace.hide([folder])
    }
}

fn has_index(folder: &Path) -> bool {
    INDEX_FILES.iter().any(|name| folder.join(name).is_file())
}
