//! Where the sources of a protocol read, when that is not the folder of work.

use countersign_core::protocol::Protocol;

/// The name of the folder with the data of exactly this protocol.
#[must_use]
pub fn data_folder_name(protocol: &Protocol) -> String {
    let digest: String = protocol.digest.chars().filter(char::is_ascii_alphanumeric).collect();
    let short = digest.strip_prefix("sha256").unwrap_or(&digest);
    let short = &short[..short.len().min(16)];
    format!("{}-{}-{short}", protocol.name, protocol.version)
}
