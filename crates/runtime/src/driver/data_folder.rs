//! The folder that a protocol's sources read from when it is not the working folder.

use countersign_protocol::Protocol;

/// Returns the name of the data folder for exactly this protocol: name, version, and the first 16
/// characters of the digest.
#[must_use]
pub fn data_folder_name(protocol: &Protocol) -> String {
    let digest: String = protocol.digest.chars().filter(char::is_ascii_alphanumeric).collect();
    let short = digest.strip_prefix("sha256").unwrap_or(&digest);
    let short = &short[..short.len().min(16)];
    format!("{}-{}-{short}", protocol.name, protocol.version)
}
