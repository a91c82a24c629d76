//! Saves a document that a person provides at the requested path, and builds the answer that
//! describes it.

use std::io::Read;
use std::path::Path;

use countersign_contract::json::sha256_hex;
use countersign_run::{RunWait, WaitAnswerShape};
use serde_json::{Value, json};

use super::{Workspace, WorkspaceError};

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
    /// Builds the answer to a wait that requests this document: path, name, length and digest.
    #[must_use]
    pub fn to_answer(&self, wait: Option<&RunWait>) -> Value {
        let Self { name, bytes, sha256, .. } = self;
        json!({ "path": resolve_document_path(wait, name), "name": name, "bytes": bytes, "sha256": sha256 })
    }
}

/// Writes a document into the workspace where its wait expects it, and returns the answer.
pub fn save_document<R: Read>(
    workspace: &Workspace,
    wait: Option<&RunWait>,
    document: IncomingDocument<R>,
) -> Result<Value, WorkspaceError> {
    let answer = document.to_answer(wait);
    workspace.write_from(&resolve_document_path(wait, &document.name), document.content)?;
    Ok(answer)
}

/// Returns the target path of a document: the path that its wait suggests, or a path in the folder
/// `inputs`.
fn resolve_document_path(wait: Option<&RunWait>, name: &str) -> String {
    let suggested = wait.and_then(|wait| match &wait.answer_shape {
        Some(WaitAnswerShape::Document { suggested_path, .. }) => suggested_path.clone(),
        _ => None,
    });
    let inside = suggested.unwrap_or_else(|| format!("inputs/{name}"));
    // The suggested name is used only with the same extension, so that the type of the document
    // stays visible.
    let same_type = Path::new(&inside).extension() == Path::new(name).extension();
    if same_type { inside } else { format!("inputs/{name}") }
}
