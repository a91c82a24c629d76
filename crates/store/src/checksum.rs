//! What the text of a schema's step is known by.

use sha2::{Digest, Sha256};

/// The SHA-256 of a text. A checkout with other line ends is the same text.
pub(crate) fn sql_checksum(sql: &str) -> String {
    let digest = Sha256::digest(sql.replace("\r\n", "\n"));
    let mut text = String::new();
    digest.iter().for_each(|byte| text.push_str(&format!("{byte:02x}")));
    text
}
