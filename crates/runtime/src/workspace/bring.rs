//! A document that somebody brings: it is put where it was asked for, and the answer says what it is.

use std::path::Path;

use countersign_core::json::sha256;
use countersign_core::run::{Wait, WaitShape};
use serde_json::{Value, json};

use super::{Workspace, WorkspaceError};

/// Puts a document into the workspace, where its wait looks for it, and tells the answer: path, name, length
/// and digest. `name` is what its owner calls it, without folders.
pub fn bring(
    workspace: &Workspace,
    wait: Option<&Wait>,
    name: &str,
    bytes: &[u8],
) -> Result<Value, WorkspaceError> {
    let suggested = wait.and_then(|wait| match &wait.shape {
        Some(WaitShape::Document { suggested_path, .. }) => suggested_path.clone(),
        _ => None,
    });
    let inside = suggested.unwrap_or_else(|| format!("inputs/{name}"));
    // The document is what was brought, whatever it is to be called: its type must show.
    let same_type = Path::new(&inside).extension() == Path::new(name).extension();
    let path = if same_type { inside } else { format!("inputs/{name}") };
    workspace.write_atomic(&path, bytes)?;
    let digest = sha256(&[bytes]);
    Ok(json!({ "path": path, "name": name, "bytes": bytes.len(), "sha256": digest }))
}
