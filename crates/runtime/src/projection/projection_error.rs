//! Why state files were not written or not taken.

use std::io;

use thiserror::Error;

/// What is wrong with the state files.
#[derive(Debug, Error)]
pub enum ProjectionError {
    /// Only an object can be laid out.
    #[error("the document is not an object and has no state files")]
    NotAnObject,
    /// The file system refused.
    #[error("state file `{file}` is not accessible: {source}")]
    Io {
        /// The file.
        file: String,
        /// The system's words.
        source: io::Error,
    },
    /// A write of the set did not come to its end, or is under way.
    #[error("the state files in `{folder}` are half written (`{marker}` is there)")]
    HalfWritten {
        /// The folder.
        folder: String,
        /// The file that says so.
        marker: &'static str,
    },
    /// A set without its first file.
    #[error("`{found}` is there and `workflow.json` is not")]
    Incomplete {
        /// What is there.
        found: &'static str,
    },
    /// Two files say the same thing.
    #[error("`{key}` stands in `{file}` and in a file before it")]
    DuplicateKey {
        /// The key.
        key: String,
        /// The later file.
        file: &'static str,
    },
    /// A file is not JSON.
    #[error("`{file}` is no JSON: line {line}, column {column}")]
    NotJson {
        /// The file.
        file: &'static str,
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in characters.
        column: usize,
    },
    /// A file says more than a value can hold.
    #[error("`{file}` has a key twice or a number that is too large, at `{pointer}`")]
    Lossy {
        /// The file.
        file: &'static str,
        /// The place in it.
        pointer: String,
    },
    /// A file holds something else than an object.
    #[error("`{file}` does not hold an object")]
    FileNotAnObject {
        /// The file.
        file: &'static str,
    },
    /// A file is too long to be a document.
    #[error("`{file}` is longer than 16 MiB")]
    TooLarge {
        /// The file.
        file: &'static str,
    },
}
