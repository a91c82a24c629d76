//! Lists a folder of the workspace.

use super::{Workspace, WorkspaceError, WorkspacePath};

/// Default maximum number of listed entries.
pub const MAX_LISTED_ENTRIES: usize = 1_000;

/// The entries of a folder, sorted by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderListing {
    /// The listed entries, up to the limit.
    pub entries: Vec<FolderEntry>,
    /// Number of entries that are not listed, including those whose names are not UTF-8.
    pub omitted: usize,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    /// File name without its folder.
    pub name: String,
    /// Kind of the entry, after links are followed.
    pub kind: FolderEntryKind,
    /// Size of a file in bytes; 0 for anything else.
    pub bytes: u64,
}

/// The kind of a folder entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderEntryKind {
    /// A regular file.
    File,
    /// A folder, or a link to one.
    Folder,
    /// A dangling link, a link that leads out, a pipe, or a socket.
    Other,
}

impl Workspace {
    /// Lists a folder without hidden entries; the workspace itself if the path is empty.
    pub fn list(&self, path: &str, limit: usize) -> Result<FolderListing, WorkspaceError> {
        let resolved = self.resolve_folder(path)?;
        let (names, unreadable) = self.list_names(&resolved)?;
        let mut listing = FolderListing { entries: Vec::new(), omitted: unreadable };
        listing.omitted += names.len().saturating_sub(limit);
        for name in names.into_iter().take(limit) {
            let (kind, bytes) = match self.root.metadata(resolved.join(&name).to_path_buf()) {
                Ok(found) if found.is_dir() => (FolderEntryKind::Folder, 0),
                Ok(found) if found.is_file() => (FolderEntryKind::File, found.len()),
                _ => (FolderEntryKind::Other, 0),
            };
            listing.entries.push(FolderEntry { name, kind, bytes });
        }
        Ok(listing)
    }

    /// Returns the visible names in a folder, sorted, and the number of names that are not UTF-8.
    pub(super) fn list_names(
        &self,
        resolved: &WorkspacePath,
    ) -> Result<(Vec<String>, usize), WorkspaceError> {
        let path = resolved.to_string();
        let fault = |source| WorkspaceError::from_io(&path, source);
        let mut names = Vec::new();
        let mut unreadable = 0;
        for entry in self.root.read_dir(resolved.to_path_buf()).map_err(fault)? {
            match entry.map_err(fault)?.file_name().into_string() {
                Ok(name) => names.push(name),
                Err(_) => unreadable += 1,
            }
        }
        // A link to a hidden file is hidden too.
        names.retain(|name| {
            let child = resolved.join(name);
            let is_folder = self.root.is_dir(child.to_path_buf());
            let is_hidden = if is_folder {
                self.hidden.covers_folder(&self.root, &child)
            } else {
                self.hidden.covers_file(&self.root, &child)
            };
            !is_hidden.unwrap_or(false)
        });
        names.sort();
        Ok((names, unreadable))
    }
}
