//! Documents that a person provides for a wait: saved under a path that nothing looks for, so that
//! a document answers only if its answer is accepted.

use std::io::{self, Read};

use countersign_contract::json::sha256_hex;
use countersign_contract::reply::{Violation, ViolationCode};
use countersign_run::RunInputs;
use serde_json::{Value, json};

use super::document_type::{TYPE_PROBE_BYTES, check_document_type};
use super::{Workspace, WorkspaceError};
use crate::engine::generate_run_name;

/// A document of known length and digest; its bytes may be in a file.
pub struct IncomingDocument<R> {
    /// File name that its owner gave it, without folders.
    pub name: String,
    /// Number of bytes that `content` yields.
    pub bytes: u64,
    /// SHA-256 digest of those bytes, in hexadecimal.
    pub sha256: String,
    /// Reader of the bytes, positioned at the first one.
    pub content: R,
}

impl<'b> IncomingDocument<&'b [u8]> {
    /// Creates a document from bytes in memory.
    #[must_use]
    pub fn from_bytes(name: &str, bytes: &'b [u8]) -> Self {
        let (name, sha256) = (name.to_owned(), sha256_hex(&[bytes]));
        Self { name, bytes: bytes.len() as u64, sha256, content: bytes }
    }
}

impl<R> IncomingDocument<R> {
    /// Returns an unused path for the document, below the folder of the run. It differs for each
    /// attempt, so that two people who provide a document at once do not replace each other's file.
    #[must_use]
    pub fn choose_path(&self, inputs: &RunInputs, wait: &str) -> String {
        format!("{}/{wait}-{}/{}", inputs.folder(), generate_run_name(), self.name)
    }

    /// Builds the answer to a wait that requests this document: path, name, length and digest.
    #[must_use]
    pub fn to_answer(&self, path: &str) -> Value {
        let Self { name, bytes, sha256, .. } = self;
        json!({ "path": path, "name": name, "bytes": bytes, "sha256": sha256 })
    }
}

/// Checks that content is of the type that a name claims, and returns the whole content again.
///
/// # Errors
/// The outer error is an error of the reader, the inner one describes another type.
pub(crate) fn check_content<R: Read>(
    name: &str,
    mut content: R,
) -> io::Result<Result<impl Read + use<R>, Violation>> {
    let mut first = Vec::new();
    (&mut content).take(TYPE_PROBE_BYTES as u64).read_to_end(&mut first)?;
    if let Err(mismatch) = check_document_type(name, &first) {
        let (expected, found) = (mismatch.expected, mismatch.found);
        return Ok(Err(Violation::new(ViolationCode::Type, "/path", expected, found)));
    }
    Ok(Ok(io::Cursor::new(first).chain(content)))
}

/// A document in the workspace that no answer names yet.
pub(crate) struct SavedDocument {
    workspace: Workspace,
    path: String,
}

impl SavedDocument {
    /// Writes a document to a path that does not exist.
    pub(crate) fn create(
        workspace: &Workspace,
        path: &str,
        content: impl Read,
    ) -> Result<Self, WorkspaceError> {
        let saved = Self { workspace: workspace.clone(), path: path.to_owned() };
        if let Err(error) = workspace.write_from(path, content) {
            saved.discard();
            return Err(error);
        }
        Ok(saved)
    }

    /// Removes the document, because its answer was refused, with the folder that was created for
    /// it. What cannot be removed stays; nothing looks for it.
    pub(crate) fn discard(self) {
        self.workspace.remove_with_empty_folders(&self.path);
    }
}
