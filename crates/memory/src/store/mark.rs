//! What is left of a forgotten row: a hash of its scope and id.

use countersign_core::json::{canonical, sha256};
use serde_json::json;

use crate::Subject;

/// The mark of a row. Says nothing to whoever does not know the ids.
pub(super) fn mark(subject: &Subject, kind: &str, id: &str) -> String {
    let Subject { tenant, user, agent } = subject;
    let ids = canonical(&json!([tenant, user, agent, kind, id]));
    sha256(&[b"countersign memory tombstone\n", ids.as_bytes()])
}
