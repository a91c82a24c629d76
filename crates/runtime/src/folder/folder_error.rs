//! Why a folder is not what it should be.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::{MAX_PROTOCOL_BYTES, MAX_PROTOCOL_FILES};

/// What is wrong with a protocol folder, or with the engine's own.
#[derive(Debug, Error)]
pub enum FolderError {
    /// It has no index.
    #[error("`{}` has no `index.yaml` and is no protocol folder", dir.display())]
    NoIndex {
        /// The folder.
        dir: PathBuf,
    },
    /// A file is not text.
    #[error("`{file}` is not UTF-8 at byte {offset}")]
    NotUtf8 {
        /// The file, from the protocol folder.
        file: String,
        /// The first byte that is not.
        offset: usize,
    },
    /// The name of a file is not text.
    #[error("a file in `{folder}` has a name that is not UTF-8")]
    NameNotUtf8 {
        /// The folder, from the protocol folder.
        folder: String,
    },
    /// A link leads out of the folder.
    #[error("`{file}` leads out of the protocol folder")]
    OutsideFolder {
        /// The link.
        file: String,
    },
    /// A pipe, a socket, a device.
    #[error("`{file}` is neither a file nor a folder")]
    UnsupportedFileType {
        /// Its path.
        file: String,
    },
    /// Folders in folders in folders.
    #[error("`{folder}` lies too deep")]
    TooDeep {
        /// Its path.
        folder: String,
    },
    /// More files than a protocol has.
    #[error("the protocol folder has more than {MAX_PROTOCOL_FILES} files")]
    TooManyFiles,
    /// More text than a protocol has.
    #[error("the protocol folder holds more than {} MiB; `{file}` is where it is too much", MAX_PROTOCOL_BYTES >> 20)]
    TooLarge {
        /// The file that was too much.
        file: String,
    },
    /// Somebody else made the engine's folder, or could change it.
    #[error(
        "`{}` belongs to another user, or others can write to it; work in a folder of your own, or `chmod 700` it if it is yours",
        path.display()
    )]
    NotOwned {
        /// Its path.
        path: PathBuf,
    },
    /// The engine's folder is something else.
    #[error("`{}` is no folder, and the engine keeps its files in one of that name", path.display())]
    NotAFolder {
        /// Its path.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("`{path}` is not accessible: {source}")]
    Io {
        /// Where.
        path: String,
        /// The system's words.
        source: io::Error,
    },
}
