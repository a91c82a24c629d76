//! What can go wrong with a path in the workspace, in sentences for whoever named it.

use std::io;

use thiserror::Error;

use super::WorkspacePathError;

/// How much of a path an error tells.
const MAX_PATH_CHARS: usize = 120;

/// Why something in the workspace was not read or written.
#[derive(Debug, Error)]
pub enum WorkspaceError {
    /// The text is no path.
    #[error("`{}` is no path inside the workspace: {fault}", format_path(path))]
    BadPath {
        /// The text.
        path: String,
        /// Why not.
        fault: WorkspacePathError,
    },
    /// A link on the way leads out.
    #[error("`{}` leads out of the workspace", format_path(path))]
    OutsideWorkspace {
        /// The path.
        path: String,
    },
    /// It is the engine's, or the owner's.
    #[error("`{}` is kept out of the workspace", format_path(path))]
    Hidden {
        /// The path.
        path: String,
    },
    /// It is a program that the protocol declares.
    #[error("`{}` is a program of the protocol, and runs cannot change it", format_path(path))]
    Protected {
        /// The path.
        path: String,
    },
    /// There is nothing.
    #[error("`{}` does not exist", format_path(path))]
    NotFound {
        /// The path.
        path: String,
    },
    /// It is there, and holds something else.
    #[error("`{}` is there already and holds something else", format_path(path))]
    AlreadyExists {
        /// The path.
        path: String,
    },
    /// A file was expected.
    #[error("`{}` is {found}, and a file was expected", format_path(path))]
    NotAFile {
        /// The path.
        path: String,
        /// What it is.
        found: &'static str,
    },
    /// A folder was expected.
    #[error("`{}` is no folder, and a folder was expected", format_path(path))]
    NotAFolder {
        /// The path.
        path: String,
    },
    /// What is searched for cannot be found on a line.
    #[error("the text to search for is {found}, and one line of 1 to 1000 bytes was expected")]
    BadQuery {
        /// What it is.
        found: &'static str,
    },
    /// Hiding the workspace itself would leave nothing.
    #[error("`{path}` is the workspace itself, and only parts of it can be hidden")]
    HidesRoot {
        /// The path.
        path: String,
    },
    /// The file system refused.
    #[error("`{}` is not accessible: {source}", format_path(path))]
    Io {
        /// The path.
        path: String,
        /// Its own words.
        source: io::Error,
    },
}

impl WorkspaceError {
    /// What the file system said of a path, by its meaning.
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

/// Whether the handle of a folder refused to leave it. The kernel's own refusals carry a number.
pub(crate) fn is_escape_error(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// A path as an error tells it: one line, not too long.
fn format_path(path: &str) -> String {
    let mut text: String = path.chars().take(MAX_PATH_CHARS).flat_map(char::escape_debug).collect();
    if path.chars().nth(MAX_PATH_CHARS).is_some() {
        text.push('…');
    }
    text
}
