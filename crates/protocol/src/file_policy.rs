//! Which files of the workspace runs can reach.
//!
//! This is the only matcher. The runtime calls it with the names of a path, both as written and as
//! resolved, and `check` calls it with the paths in a protocol. It compares names only; code that
//! opens a file confines it by capability.
//!
//! Names fall into three classes:
//! - *reserved*: Countersign's own files, the git repository and protocol folders. Never reachable.
//! - *hidden*: every other name that begins with a dot, and `replies.yaml`. Reachable only if the
//!   owner of the protocol shows it: `policy: { files: { show: [".github/**"] } }`.
//! - all other names are reachable.

use super::path_pattern::PathPattern;

/// Prefix of the names that Countersign reserves: its folder and its temporary files.
const OWN_PREFIX: &str = ".countersign";

/// Names that are reserved in every folder. A git hook is a program that somebody starts later.
const RESERVED_NAMES: [&str; 2] = [".git", "countersign.toml"];

/// The folder that contains protocols, as consecutive names.
const PROTOCOL_FOLDER: [&str; 2] = [".opencode", "protocol"];

/// Names without a dot that are hidden in every folder: scripts that replace a model.
const HIDDEN_NAMES: [&str; 1] = ["replies.yaml"];

/// The file access that the owner of a protocol grants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilePolicy {
    /// Hidden paths that runs may reach; empty by default.
    pub show: Vec<PathPattern>,
}

/// Whether a run can reach a path, and if not, whether its protocol could show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAccess {
    /// The run can reach the path.
    Reachable,
    /// The path is a folder that leads to something the protocol shows. It can be listed, nothing
    /// else.
    ListOnly,
    /// The run cannot reach the path, unless `policy.files.show` is changed.
    Hidden,
    /// The run cannot reach the path, whatever the protocol says.
    Reserved,
}

impl FilePolicy {
    /// Classifies a path by its names, starting below the workspace root.
    #[must_use]
    pub fn classify(&self, names: &[String]) -> FileAccess {
        let names: Vec<String> = names.iter().map(|name| fold_name(name)).collect();
        if contains_reserved_name(&names) {
            return FileAccess::Reserved;
        }
        if !names.iter().any(|name| is_hidden_name(name)) {
            return FileAccess::Reachable;
        }
        if self.show.iter().any(|pattern| pattern.covers(&names)) {
            FileAccess::Reachable
        } else if self.show.iter().any(|pattern| pattern.leads_through(&names)) {
            FileAccess::ListOnly
        } else {
            FileAccess::Hidden
        }
    }

    /// Whether `show` covers the path, hidden or not.
    #[must_use]
    pub fn shows_path(&self, names: &[String]) -> bool {
        let names: Vec<String> = names.iter().map(|name| fold_name(name)).collect();
        self.show.iter().any(|pattern| pattern.covers(&names))
    }
}

/// Whether the folded names are reserved, or are inside something reserved.
pub(super) fn contains_reserved_name(names: &[String]) -> bool {
    let reserved =
        |name: &String| name.starts_with(OWN_PREFIX) || RESERVED_NAMES.contains(&name.as_str());
    names.iter().any(reserved) || names.windows(2).any(|pair| pair == PROTOCOL_FOLDER)
}

/// Whether a folded name is hidden unless the owner shows it.
pub(super) fn is_hidden_name(name: &str) -> bool {
    name.starts_with('.') || HIDDEN_NAMES.contains(&name)
}

/// Folds a name the way the least strict file system compares it, so that no other spelling reaches
/// the same file.
///
/// Case is folded in both directions (`ſ` equals `s` on some file systems). Characters that some
/// file systems ignore are dropped, and so are the endings that Windows drops.
#[must_use]
pub fn fold_name(name: &str) -> String {
    let plain = name.split(':').next().unwrap_or(name).trim_end_matches(['.', ' ']);
    // A name of only dots and spaces has nothing to fold.
    let plain = if plain.is_empty() { name } else { plain };
    let kept = plain.chars().filter(|one| !is_ignored(*one));
    kept.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Characters that a file system may ignore in names: joiners, direction marks, the byte order
/// mark.
fn is_ignored(one: char) -> bool {
    matches!(one, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
