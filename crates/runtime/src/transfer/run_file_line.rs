//! The lines of a run's file, as they are written.

use serde::{Deserialize, Serialize};

/// What the first line says the file is.
pub(super) const FORMAT: &str = "countersign-run";

/// The version of the format.
pub(super) const VERSION: u32 = 1;

/// The first line: what follows, so that a file that lost its end is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunFileHeader {
    pub(super) format: String,
    pub(super) v: u32,
    /// The run.
    pub(super) run: String,
    /// The digest of its protocol.
    pub(super) protocol: String,
    /// The hash of its last version.
    pub(super) head: String,
    pub(super) versions: u64,
    pub(super) events: u64,
    pub(super) blobs: u64,
}

/// Every other line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub(super) enum RunFileLine {
    /// What the run is pinned to, as it is kept.
    Protocol { text: String },
    /// A version, as it is kept: the text is what its hash is of.
    Entry { version: u64, hash: String, body: String },
    /// Bytes, as text where they are some.
    Blob {
        digest: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base64: Option<String>,
    },
}

impl RunFileLine {
    /// The word for it.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Protocol { .. } => "the protocol".to_owned(),
            Self::Entry { version, .. } => format!("version {version}"),
            Self::Blob { digest, .. } => format!("the bytes {digest}"),
        }
    }
}
