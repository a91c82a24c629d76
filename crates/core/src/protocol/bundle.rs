//! The files of a protocol folder as texts by path: what a run is pinned to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::json;

/// Every file of a protocol, by its path inside the folder, with `/` between names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtocolBundle {
    /// Path to text.
    pub files: BTreeMap<String, String>,
}

impl ProtocolBundle {
    /// What the folder is, in 64 characters: equal texts under equal paths, equal digest.
    #[must_use]
    pub fn compute_digest(&self) -> String {
        json::digest_json(&json!(self.files))
    }

    /// The files directly in a folder, by path, in order.
    pub fn files_in_folder<'b>(
        &'b self,
        folder: &'b str,
    ) -> impl Iterator<Item = (&'b str, &'b str)> {
        self.files.iter().filter_map(move |(path, text)| {
            let name = path.strip_prefix(folder)?.strip_prefix('/')?;
            (!name.contains('/')).then_some((path.as_str(), text.as_str()))
        })
    }
}
