//! A shipped protocol that is run without a copy: what goes beside it lies in a folder of the engine.
//!
//! It must not be taken for a copy in the folder of work, whose files somebody may have changed: so
//! its index says so, and its digest is another. Nothing is written here.

use countersign_core::protocol::Bundle;
use countersign_core::spec::{Source, Tree};
use serde_json::json;

use crate::Shipped;

impl Shipped {
    /// Its files as they are run without a copy.
    #[must_use]
    pub fn bundle_without_copy(&self) -> Bundle {
        let mut bundle = self.bundle();
        let index = bundle.files.remove("index.yaml").unwrap_or_default();
        let mut index =
            Tree::parse(Source::new("index.yaml", &index)).map_or(json!({}), |tree| tree.value);
        index["metadata"]["run"] = json!("without a copy");
        bundle.files.insert("index.json".to_owned(), index.to_string());
        bundle
    }
}
