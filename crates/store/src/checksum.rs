//! The checksum that identifies the text of a schema migration.

use sha2::{Digest, Sha256};

/// The SHA-256 of an SQL text in hex. CRLF line ends count as LF, so that every checkout has the
/// same checksum.
pub(crate) fn sql_checksum(sql: &str) -> String {
    let digest = Sha256::digest(sql.replace("\r\n", "\n"));
    let mut text = String::new();
    digest.iter().for_each(|byte| text.push_str(&format!("{byte:02x}")));
    text
}
