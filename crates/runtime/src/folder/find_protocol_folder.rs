//! Finds the protocol that belongs to a folder.
//!
//! Only `.opencode/protocol` is found automatically, and no tool of a run can write there. A
//! workspace that merely looks like a protocol is not used, because a model may have written its
//! files. To use such a folder, name it explicitly.

use std::path::{Path, PathBuf};

use super::folder_reader::PROTOCOL_FOLDERS;
use crate::workspace::{Workspace, WorkspaceError};

/// The accepted names of the index file.
pub(super) const INDEX_FILES: [&str; 3] = ["index.yaml", "index.yml", "index.json"];

/// Returns the protocol folder of a working folder: the nearest `.opencode/protocol`, searched
/// upwards.
#[must_use]
pub fn find_protocol_folder(start: &Path) -> Option<PathBuf> {
    let start = start.canonicalize().ok()?;
    let usual = |folder: &Path| folder.join(".opencode").join("protocol");
    start.ancestors().map(usual).find(|folder| has_index(folder))
}

/// Returns the protocol folder for an explicitly named folder: the folder itself, or the one that
/// belongs to it.
#[must_use]
pub fn resolve_protocol_folder(folder: &Path) -> Option<PathBuf> {
    let named = folder.canonicalize().ok()?;
    if has_index(&named) { Some(named) } else { find_protocol_folder(&named) }
}

/// Hides a protocol folder from runs. If it is the workspace itself, the protocol's files in it are
/// hidden.
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
