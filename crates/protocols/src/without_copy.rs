//! A shipped protocol that is run without a copy: what goes beside it lies in a folder of the engine.
//!
//! It must not be taken for a copy in the folder of work, whose files somebody may have changed: so
//! its index says so, and its digest is another. Nothing is written here.

use countersign_core::protocol::ProtocolBundle;
use countersign_core::source::{ParsedSourceFile, SourceFile};
use serde_json::json;

use crate::ShippedProtocol;

impl ShippedProtocol {
    /// Its files as they are run without a copy.
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
