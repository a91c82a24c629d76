//! Errors of protocol folders and of the engine's own folder.

use std::io;
use std::path::PathBuf;

use countersign_contract::source::DiagnosticList;
use thiserror::Error;

use super::{MAX_PROTOCOL_BYTES, MAX_PROTOCOL_FILES};

/// Why a protocol cannot be loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProtocolLoadError {
    /// The folder cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The files have faults, each with its location.
    #[error("the protocol cannot be loaded:\n{0}")]
    Invalid(DiagnosticList),
}

/// What is wrong with a protocol folder or the engine's folder.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The folder has no index file.
    #[error("`{}` is not a protocol folder: it has no `index.yaml`", dir.display())]
    NoIndex {
        /// Path of the folder without an index.
        dir: PathBuf,
    },
    /// A file is not UTF-8 text.
    #[error("`{file}` is not UTF-8 at byte {offset}")]
    NotUtf8 {
        /// Path of the file, relative to the protocol folder.
        file: String,
        /// Offset of the first invalid byte.
        offset: usize,
    },
    /// The name of a file is not UTF-8.
    #[error("a file in `{folder}` has a name that is not UTF-8")]
    NameNotUtf8 {
        /// Path of the parent folder, relative to the protocol folder.
        folder: String,
    },
    /// A link leads out of the folder.
    #[error("`{file}` leads out of the protocol folder")]
    OutsideFolder {
        /// Path of the link.
        file: String,
    },
    /// The entry is a pipe, a socket, or a device.
    #[error("`{file}` is neither a file nor a folder")]
    UnsupportedFileType {
        /// Path of the entry.
        file: String,
    },
    /// Folders are nested too deeply.
    #[error("`{folder}` is nested too deeply")]
    TooDeep {
        /// Path of the first folder that is too deep.
        folder: String,
    },
    /// The folder has more files than a protocol may have.
    #[error("the protocol folder has more than {MAX_PROTOCOL_FILES} files")]
    TooManyFiles,
    /// The files are larger in total than a protocol may be.
    #[error("the protocol folder is larger than {} MiB; `{file}` exceeds the limit", MAX_PROTOCOL_BYTES >> 20)]
    TooLarge {
        /// The file that exceeds the limit.
        file: String,
    },
    /// Another user owns the engine's folder or can write to it.
    #[error(
        "`{}` belongs to another user, or other users can write to it; use a folder of your own, or run `chmod 700` on it if it is yours",
        path.display()
    )]
    NotOwned {
        /// Path of the engine's folder.
        path: PathBuf,
    },
    /// The path of the engine's folder is not a folder.
    #[error("`{}` is not a folder; the engine needs a folder of that name for its files", path.display())]
    NotAFolder {
        /// Path of the existing entry.
        path: PathBuf,
    },
    /// The file system returned an error.
    #[error("`{path}` is not accessible: {source}")]
    Io {
        /// Path of the file or folder.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
}
