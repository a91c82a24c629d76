//! Which files of the workspace runs can reach.
//!
//! The one matcher: the runtime asks it with the names of a path, as written and as resolved, and
//! `check` asks it with the paths that stand in a protocol. It knows names only; whoever opens a
//! file confines it by capability.
//!
//! Three classes of names:
//! - *reserved*: Countersign's own files, git's repository and protocol folders. Never reachable.
//! - *hidden*: every other name that begins with a dot, and `replies.yaml`. Reachable only where
//!   the owner of the protocol shows it: `policy: { files: { show: [".github/**"] } }`.
//! - everything else is reachable.

use super::path_pattern::PathPattern;

/// Prefix of the names that Countersign keeps for itself: its folder, and files it is writing.
const OWN_PREFIX: &str = ".countersign";

/// Names that are reserved wherever they lie. A hook of git is a program that somebody starts later.
const RESERVED_NAMES: [&str; 2] = [".git", "countersign.toml"];

/// The folder that protocols are found in, as consecutive names.
const PROTOCOL_FOLDER: [&str; 2] = [".opencode", "protocol"];

/// Names without a dot that are hidden wherever they lie: scripts that stand in for a model.
const HIDDEN_NAMES: [&str; 1] = ["replies.yaml"];

/// What the owner of a protocol says about files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilePolicy {
    /// Hidden paths that runs may reach all the same.
    pub show: Vec<PathPattern>,
}

/// Whether a run can reach a path, and if not, whether its protocol could show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAccess {
    /// It can.
    Reachable,
    /// It is a folder on the way to something that the protocol shows: it can be listed, and nothing
    /// else.
    ListOnly,
    /// It cannot; `policy.files.show` could change that.
    Hidden,
    /// It cannot, whatever a protocol says.
    Reserved,
}

impl FilePolicy {
    /// Classifies a path inside the workspace by its names, from the workspace down.
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

    /// Whether the owner names a path, hidden or not.
    #[must_use]
    pub fn shows_path(&self, names: &[String]) -> bool {
        let names: Vec<String> = names.iter().map(|name| fold_name(name)).collect();
        self.show.iter().any(|pattern| pattern.covers(&names))
    }
}

/// Whether folded names are reserved, or lie below something that is.
pub(super) fn contains_reserved_name(names: &[String]) -> bool {
    let reserved =
        |name: &String| name.starts_with(OWN_PREFIX) || RESERVED_NAMES.contains(&name.as_str());
    names.iter().any(reserved) || names.windows(2).any(|pair| pair == PROTOCOL_FOLDER)
}

/// Whether a folded name is hidden unless the owner shows it.
pub(super) fn is_hidden_name(name: &str) -> bool {
    name.starts_with('.') || HIDDEN_NAMES.contains(&name)
}

/// A name as the least strict file system compares it, so that no other spelling reaches it.
///
/// Case is folded in both directions (`ſ` is `s` to some file systems), characters that some file
/// systems ignore are dropped, and so are the endings that Windows drops.
#[must_use]
pub fn fold_name(name: &str) -> String {
    let plain = name.split(':').next().unwrap_or(name).trim_end_matches(['.', ' ']);
    // A name of dots and spaces alone means nothing to fold.
    let plain = if plain.is_empty() { name } else { plain };
    let kept = plain.chars().filter(|one| !is_ignored(*one));
    kept.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Characters that a file system may ignore in names: joiners, marks of direction, the byte order mark.
fn is_ignored(one: char) -> bool {
    matches!(one, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
