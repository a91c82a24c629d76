//! Finds the protocol that belongs to a place.

use std::path::{Path, PathBuf};

/// What an index may be called.
pub(super) const INDEX: [&str; 3] = ["index.yaml", "index.yml", "index.json"];

/// The protocol folder for a place, looked for upwards: `.opencode/protocol`, or a folder that is
/// one itself.
///
/// A folder that is not named so must also have `workflows`: others have an `index.yaml` too.
#[must_use]
pub fn find(start: &Path) -> Option<PathBuf> {
    let start = start.canonicalize().ok()?;
    for folder in start.ancestors() {
        let usual = folder.join(".opencode").join("protocol");
        if has_index(&usual) {
            return Some(usual);
        }
        if has_index(folder) && folder.join("workflows").is_dir() {
            return Some(folder.to_owned());
        }
    }
    None
}

fn has_index(folder: &Path) -> bool {
    INDEX.iter().any(|name| folder.join(name).is_file())
}
