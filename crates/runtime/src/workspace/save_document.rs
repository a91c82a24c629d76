//! A document that somebody brings: it is put where it was asked for, and the answer says what it is.

use std::io::Read;
use std::path::Path;

use countersign_core::json::sha256_hex;
use countersign_core::run::{RunWait, WaitAnswerShape};
use serde_json::{Value, json};

use super::{Workspace, WorkspaceError};

/// A document whose length and digest are known: its bytes may lie in a file.
pub struct IncomingDocument<R> {
    /// What its owner calls it, without folders.
    pub name: String,
    /// How many bytes `content` gives.
    pub bytes: u64,
    /// The SHA-256 of those bytes, in hexadecimal.
    pub sha256: String,
    /// The bytes, from the first one.
    pub content: R,
}

impl<'b> IncomingDocument<&'b [u8]> {
    /// A document that is in memory.
    #[must_use]
    pub fn from_bytes(name: &str, bytes: &'b [u8]) -> Self {
        let (name, sha256) = (name.to_owned(), sha256_hex(&[bytes]));
        Self { name, bytes: bytes.len() as u64, sha256, content: bytes }
    }
}

impl<R> IncomingDocument<R> {
    /// The answer to a wait that asks for this document: path, name, length and digest.
    #[must_use]
    pub fn to_answer(&self, wait: Option<&RunWait>) -> Value {
        let Self { name, bytes, sha256, .. } = self;
        json!({ "path": resolve_document_path(wait, name), "name": name, "bytes": bytes, "sha256": sha256 })
    }
}

/// Puts a document into the workspace, where its wait looks for it, and tells the answer.
pub fn save_document<R: Read>(
    workspace: &Workspace,
    wait: Option<&RunWait>,
    document: IncomingDocument<R>,
) -> Result<Value, WorkspaceError> {
    let answer = document.to_answer(wait);
    workspace.write_from(&resolve_document_path(wait, &document.name), document.content)?;
    Ok(answer)
}

/// Where a document goes: the path that its wait suggests, or the folder `inputs`.
fn resolve_document_path(wait: Option<&RunWait>, name: &str) -> String {
    let suggested = wait.and_then(|wait| match &wait.shape {
        Some(WaitAnswerShape::Document { suggested_path, .. }) => suggested_path.clone(),
        _ => None,
    });
    let inside = suggested.unwrap_or_else(|| format!("inputs/{name}"));
    // The document is what was brought, whatever it is to be called: its type must show.
    let same_type = Path::new(&inside).extension() == Path::new(name).extension();
    if same_type { inside } else { format!("inputs/{name}") }
}
