//! The workspace: the only folder that runs may access, held as a capability.
//!
//! Paths are resolved by the folder's handle and cannot leave it, whatever they contain and
//! whatever links are on the way. The string checks only make the error message readable.

mod workspace_path;
mod workspace_error;
mod hidden_paths;
mod atomic_write;
mod workspace;
mod list_folder;
mod walk_folder;
mod file_search;
mod document_type;
mod incoming_document;
mod workspace_policy;

pub(crate) use atomic_write::{
    sync_folder, write_atomic, write_new, write_private, write_unsynced,
};
pub(crate) use document_type::{TYPE_PROBE_BYTES, check_document_type};
pub use file_search::{FileSearchHit, FileSearchLimits, FileSearchResults};
pub(crate) use hidden_paths::HiddenPaths;
pub use incoming_document::IncomingDocument;
pub(crate) use incoming_document::{SavedDocument, check_content};
pub use list_folder::{FolderEntry, FolderEntryKind, FolderListing, MAX_LISTED_ENTRIES};
pub(crate) use walk_folder::WalkOutcome;
pub(crate) use workspace::SPECIFIED_FOLDER;
pub use workspace::{FileContent, MAX_READ_BYTES, Workspace, WrittenFile};
pub use workspace_error::WorkspaceError;
pub(crate) use workspace_error::is_escape_error;
pub(crate) use workspace_path::WorkspacePath;
pub use workspace_path::WorkspacePathError;
