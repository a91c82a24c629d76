//! The files of a protocol folder as texts by path. A run is pinned to them.

use std::collections::BTreeMap;

use countersign_contract::json;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Every file of a protocol, by its path inside the folder, with `/` as separator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtocolBundle {
    /// The text of each file by path.
    pub files: BTreeMap<String, String>,
}

/// Collects paths and texts, for protocols that are part of a program.
///
/// ```
/// use countersign_protocol::ProtocolBundle;
///
/// let bundle: ProtocolBundle = [("index.yaml", "name: notes")].into_iter().collect();
/// assert_eq!(bundle.files["index.yaml"], "name: notes");
/// ```
impl<P: Into<String>, T: Into<String>> FromIterator<(P, T)> for ProtocolBundle {
    fn from_iter<I: IntoIterator<Item = (P, T)>>(files: I) -> Self {
        let files = files.into_iter().map(|(path, text)| (path.into(), text.into()));
        Self { files: files.collect() }
    }
}

impl ProtocolBundle {
    /// Computes the digest of the folder, 64 hexadecimal characters. Equal paths with equal texts
    /// give equal digests.
    #[must_use]
    pub fn compute_digest(&self) -> String {
        json::digest_json(&json!(self.files))
    }

    /// Lists the files directly in a folder as path and text, sorted by path.
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
