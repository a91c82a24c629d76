//! Runs a shipped protocol without copying it into the workspace. The engine keeps its workspace
//! files in a folder of its own.
//!
//! Such a run must be distinguishable from a run of a copied protocol, whose files a user may have
//! changed. Therefore the index declares it, which also changes the digest. This module writes no
//! files.

use countersign_contract::source::{ParsedSourceFile, SourceFile};
use countersign_protocol::ProtocolBundle;
use serde_json::json;

use crate::ShippedProtocol;

impl ShippedProtocol {
    /// Returns the protocol's files as a bundle that runs without a copy in the workspace.
    #[must_use]
    pub fn to_bundle_without_copy(&self) -> ProtocolBundle {
        let mut bundle = self.to_bundle();
        let index = bundle.files.remove("index.yaml").unwrap_or_default();
        let mut index = ParsedSourceFile::parse(SourceFile::new("index.yaml", &index))
            .map_or(json!({}), |tree| tree.value);
        index["metadata"]["run"] = json!("without a copy");
        bundle.files.insert("index.json".to_owned(), index.to_string());
        bundle
    }
}
