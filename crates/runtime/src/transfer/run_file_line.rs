//! The lines of a run file as they are written.

use serde::{Deserialize, Serialize};

/// The format name in the first line.
pub(super) const FORMAT: &str = "countersign-run";

/// The version of the file format.
pub(super) const VERSION: u32 = 1;

/// The first line. It announces what follows, so that a truncated file is detected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunFileHeader {
    pub(super) format: String,
    pub(super) v: u32,
    /// Id of the run.
    pub(super) run: String,
    /// Digest of the pinned protocol.
    pub(super) protocol: String,
    /// Hash of the last version.
    pub(super) head: String,
    pub(super) versions: u64,
    pub(super) events: u64,
    pub(super) blobs: u64,
}

/// A line after the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub(super) enum RunFileLine {
    /// The pinned protocol, as it is stored.
    Protocol { text: String },
    /// A version, as it is stored; the hash covers the body.
    Entry { version: u64, hash: String, body: String },
    /// The bytes of a blob, as text if they are valid UTF-8.
    Blob {
        digest: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base64: Option<String>,
    },
}

impl RunFileLine {
    /// Describes the line for error messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Protocol { .. } => "the protocol".to_owned(),
            Self::Entry { version, .. } => format!("version {version}"),
            Self::Blob { digest, .. } => format!("the bytes {digest}"),
        }
    }
}
