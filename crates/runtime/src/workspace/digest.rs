//! The digest of bytes, as files and results show it.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// SHA-256 in 64 hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
