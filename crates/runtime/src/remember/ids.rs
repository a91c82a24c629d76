//! Ids of what is said, so that the same twice is once.

use countersign_core::json::digest;
use serde_json::Value;

/// How much of a digest is shown.
const SHOWN: usize = 10;

/// An id of what is said: the same twice is the same id.
#[must_use]
pub fn id_of(prefix: &str, said: &Value) -> String {
    let digest = digest(said);
    let hex = digest.strip_prefix("sha256:").unwrap_or(&digest);
    format!("{prefix}-{}", &hex[..SHOWN.min(hex.len())])
}
