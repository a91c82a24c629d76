//! What lies in a folder of the workspace.

use super::{Workspace, WorkspaceError, WorkspacePath};

/// How many entries are told when the caller does not say.
pub const MAX_LISTED_ENTRIES: usize = 1_000;

/// The entries of a folder, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderListing {
    /// What is told.
    pub entries: Vec<FolderEntry>,
    /// How many more there are, those whose names are not UTF-8 among them.
    pub omitted: usize,
}

/// Something in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name.
    pub name: String,
    /// What it is, links followed.
    pub kind: FolderEntryKind,
    /// How long a file is.
    pub bytes: u64,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderEntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A link that leads nowhere or out, a pipe, a socket.
    Other,
}

impl Workspace {
    /// Lists a folder, hidden things left out; the workspace itself when the path is empty.
    pub fn list(&self, path: &str, limit: usize) -> Result<FolderListing, WorkspaceError> {
        let place = self.resolve_folder(path)?;
        let (names, unreadable) = self.list_names(&place)?;
        let mut listing = FolderListing { entries: Vec::new(), omitted: unreadable };
        listing.omitted += names.len().saturating_sub(limit);
        for name in names.into_iter().take(limit) {
            let (kind, bytes) = match self.root.metadata(place.join(&name).to_path_buf()) {
                Ok(found) if found.is_dir() => (FolderEntryKind::Folder, 0),
                Ok(found) if found.is_file() => (FolderEntryKind::File, found.len()),
                _ => (FolderEntryKind::Other, 0),
            };
            listing.entries.push(FolderEntry { name, kind, bytes });
        }
        Ok(listing)
    }

    /// The names in a folder that may be seen, in order, and how many could not be told.
    pub(super) fn list_names(
        &self,
        place: &WorkspacePath,
    ) -> Result<(Vec<String>, usize), WorkspaceError> {
        let path = place.to_string();
        let fault = |source| WorkspaceError::from_io(&path, source);
        let mut names = Vec::new();
        let mut unreadable = 0;
        for entry in self.root.read_dir(place.to_path_buf()).map_err(fault)? {
            match entry.map_err(fault)?.file_name().into_string() {
                Ok(name) => names.push(name),
                Err(_) => unreadable += 1,
            }
        }
        // A link to something hidden is hidden too.
        names.retain(|name| {
            let child = place.join(name);
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
