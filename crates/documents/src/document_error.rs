//! Why a document has no text.

use thiserror::Error;

/// The kind of a [`DocumentError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentErrorKind {
    /// A picture, or pages that are pictures.
    Image,
    /// A format that is not read.
    Unsupported,
    /// The file needs a password.
    PasswordProtected,
    /// The file is damaged, or is not what its name claims.
    Broken,
    /// The file exceeds a limit, or unpacks to more than a limit.
    TooLarge,
    /// Reading took longer than the limit.
    TimedOut,
    /// The reader ended without an answer.
    ReaderCrashed,
    /// The reading process could not be started.
    ReaderUnavailable,
}

/// The names of the kinds, for the other process.
const KIND_NAMES: [(DocumentErrorKind, &str); 8] = [
    (DocumentErrorKind::Image, "image"),
    (DocumentErrorKind::Unsupported, "unsupported"),
    (DocumentErrorKind::PasswordProtected, "password_protected"),
    (DocumentErrorKind::Broken, "broken"),
    (DocumentErrorKind::TooLarge, "too_large"),
    (DocumentErrorKind::TimedOut, "timed_out"),
    (DocumentErrorKind::ReaderCrashed, "reader_crashed"),
    (DocumentErrorKind::ReaderUnavailable, "reader_unavailable"),
];

impl DocumentErrorKind {
    /// The name of the kind, such as `too_large`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        KIND_NAMES.iter().find(|(kind, _)| *kind == self).map_or("broken", |(_, name)| name)
    }

    /// Parses the name of a kind.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        KIND_NAMES.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }
}

/// Why a document cannot be read. The message continues the name of the file: "`a.pdf` is a scan".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct DocumentError {
    /// What kind of problem it is.
    pub kind: DocumentErrorKind,
    /// A sentence whose subject is the file, such as "is a PDF with a password".
    pub message: String,
}

impl DocumentError {
    /// Creates an error.
    #[must_use]
    pub fn new(kind: DocumentErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(crate) fn broken(message: impl Into<String>) -> Self {
        Self::new(DocumentErrorKind::Broken, message)
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::new(DocumentErrorKind::TooLarge, message)
    }
}
