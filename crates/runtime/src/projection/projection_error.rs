//! Why state files could not be written or read.

use std::io;

use thiserror::Error;

/// What is wrong with the state files.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProjectionError {
    /// The document is not an object, so it cannot be split into files.
    #[error("the document is not an object and has no state files")]
    NotAnObject,
    /// The file system returned an error.
    #[error("state file `{file}` is not accessible: {source}")]
    Io {
        /// Path of the file or folder.
        file: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A write of the file set was interrupted, or is in progress.
    #[error("the state files in `{folder}` are only partly written (`{marker}` exists)")]
    HalfWritten {
        /// Path of the state folder.
        folder: String,
        /// Name of the marker file that indicates the write.
        marker: &'static str,
    },
    /// The file set lacks its first file.
    #[error("`{found}` exists, but `workflow.json` does not")]
    Incomplete {
        /// Name of a file that exists.
        found: &'static str,
    },
    /// Two files contain the same key.
    #[error("`{key}` is in `{file}` and in an earlier file")]
    DuplicateKey {
        /// The duplicate key.
        key: String,
        /// Name of the second file that has the key.
        file: &'static str,
    },
    /// A file is not valid JSON.
    #[error("`{file}` is not valid JSON: line {line}, column {column}")]
    NotJson {
        /// Name of the invalid file.
        file: &'static str,
        /// Line of the error, counted from 1.
        line: usize,
        /// Column of the error, counted from 1, in characters.
        column: usize,
    },
    /// A file contains a duplicate key or a number that cannot be represented.
    #[error("`{file}` has a duplicate key or a number that is too large, at `{pointer}`")]
    Lossy {
        /// Name of the lossy file.
        file: &'static str,
        /// JSON pointer to the location of the loss.
        pointer: String,
    },
    /// A file does not contain a JSON object.
    #[error("`{file}` does not contain an object")]
    FileNotAnObject {
        /// Name of the file.
        file: &'static str,
    },
    /// A file exceeds the size limit of 16 MiB.
    #[error("`{file}` is longer than 16 MiB")]
    TooLarge {
        /// Name of the file.
        file: &'static str,
    },
}
