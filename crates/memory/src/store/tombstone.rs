//! What is left of a forgotten row: a hash of its scope and id.

use countersign_core::json::{sha256_hex, to_canonical_json};
use serde_json::json;

use crate::MemorySubject;

/// The mark of a row. Says nothing to whoever does not know the ids.
pub(super) fn compute_tombstone_hash(subject: &MemorySubject, kind: &str, id: &str) -> String {
    let MemorySubject { tenant, user, agent } = subject;
    let ids = to_canonical_json(&json!([tenant, user, agent, kind, id]));
    sha256_hex(&[b"countersign memory tombstone\n", ids.as_bytes()])
}
