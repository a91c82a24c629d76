//! Errors of workspace operations, with messages for the author of the path.

use std::io;

use thiserror::Error;

use super::WorkspacePathError;

/// Maximum length of a path in an error message, in characters.
const MAX_PATH_CHARS: usize = 120;

/// Why a workspace operation failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The text is not a valid path.
    #[error("`{}` is not a path inside the workspace: {fault}", format_path(path))]
    BadPath {
        /// The path as the caller wrote it.
        path: String,
        /// Why the path is invalid.
        fault: WorkspacePathError,
    },
    /// A link on the path leads out of the workspace.
    #[error("`{}` leads out of the workspace", format_path(path))]
    OutsideWorkspace {
        /// The path as the caller wrote it.
        path: String,
    },
    /// The path is hidden: it belongs to the engine or the owner.
    #[error("`{}` is hidden from the workspace", format_path(path))]
    Hidden {
        /// Path of the hidden file or folder.
        path: String,
    },
    /// The file is a program that the protocol declares.
    #[error("`{}` is a program of the protocol, and runs cannot change it", format_path(path))]
    Protected {
        /// Path of the program file.
        path: String,
    },
    /// The file or folder does not exist.
    #[error("`{}` does not exist", format_path(path))]
    NotFound {
        /// The path as the caller wrote it.
        path: String,
    },
    /// The file exists with other content.
    #[error("`{}` already exists with different content", format_path(path))]
    AlreadyExists {
        /// Path of the existing file.
        path: String,
    },
    /// The path is not a file.
    #[error("`{}` is {found}; expected a file", format_path(path))]
    NotAFile {
        /// Path of the existing entry.
        path: String,
        /// What the entry is, such as `a folder`.
        found: &'static str,
    },
    /// A part of the path is not a folder.
    #[error("`{}` is not a folder; expected a folder", format_path(path))]
    NotAFolder {
        /// The path as the caller wrote it.
        path: String,
    },
    /// The query cannot match a single line.
    #[error("the text to search for is {found}; expected one line of 1 to 1000 bytes")]
    BadQuery {
        /// What is wrong with the query, such as `empty`.
        found: &'static str,
    },
    /// The workspace itself cannot be hidden.
    #[error("`{path}` is the workspace itself; only parts of it can be hidden")]
    HidesRoot {
        /// Path that means the workspace.
        path: String,
    },
    /// The file system returned an error.
    #[error("`{}` is not accessible: {source}", format_path(path))]
    Io {
        /// Path of the file or folder.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl WorkspaceError {
    /// Converts an IO error for a path into the matching variant.
    pub(crate) fn from_io(path: &str, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            _ if is_escape_error(&source) => Self::OutsideWorkspace { path },
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::NotADirectory => Self::NotAFolder { path },
            io::ErrorKind::IsADirectory => Self::NotAFile { path, found: "a folder" },
            _ => Self::Io { path, source },
        }
    }
}

/// Returns whether the handle of a folder refused to leave it. Refusals by the kernel carry an OS
/// error number.
pub(crate) fn is_escape_error(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// Formats a path for an error message: a single line of limited length.
fn format_path(path: &str) -> String {
    let mut text: String = path.chars().take(MAX_PATH_CHARS).flat_map(char::escape_debug).collect();
    if path.chars().nth(MAX_PATH_CHARS).is_some() {
        text.push('…');
    }
    text
}
