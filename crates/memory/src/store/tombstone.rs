//! Tombstones: hashes of the scope and id of erased rows.

use countersign_contract::json::{sha256_hex, to_canonical_json};
use serde_json::json;

use crate::MemorySubject;

/// Computes the tombstone hash of a row. It reveals nothing without knowledge of the ids.
pub(super) fn compute_tombstone_hash(subject: &MemorySubject, kind: &str, id: &str) -> String {
    let MemorySubject { tenant, user, agent } = subject;
    let ids = to_canonical_json(&json!([tenant, user, agent, kind, id]));
    sha256_hex(&[b"countersign memory tombstone\n", ids.as_bytes()])
}
