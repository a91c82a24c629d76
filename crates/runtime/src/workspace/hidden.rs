//! What runs do not see: the engine's own files, git's, and what the caller names.

use cap_std::fs::Dir;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::Place;

/// Everything whose name begins so: the engine's folder, and files it is just writing.
const OURS: &str = ".countersign";

/// Names that are hidden wherever they lie. A hook of git is a program that somebody starts later.
const ALWAYS: [&str; 2] = [".git", "countersign.toml"];

/// The hidden places.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hidden {
    places: Vec<Vec<String>>,
}

impl Hidden {
    /// Hides a place and everything below it.
    pub(crate) fn add(&mut self, names: Vec<String>) {
        self.places.push(names);
    }

    /// Whether a name is hidden wherever it lies.
    pub(crate) fn has_name(name: &str) -> bool {
        let lower = name.to_ascii_lowercase();
        lower.starts_with(OURS) || ALWAYS.contains(&lower.as_str())
    }

    /// Whether a place is hidden by what its path says.
    ///
    /// Letters count the same in both cases: on some file systems they are.
    pub(crate) fn covers(&self, names: &[String]) -> bool {
        names.iter().any(|name| Self::has_name(name))
            || self.places.iter().any(|hidden| {
                let above = names.iter().zip(hidden);
                names.len() >= hidden.len()
                    && above.into_iter().all(|(a, b)| a.to_lowercase() == b.to_lowercase())
            })
    }

    /// Whether a place is hidden, also when a link inside the workspace leads to it.
    pub(crate) fn covers_really(&self, root: &Dir, place: &Place) -> io::Result<bool> {
        Ok(self.covers(place.names()) || self.covers(&real_names(root, place)?))
    }
}

/// The names of a place after links are followed; what does not exist yet stays as it was written.
fn real_names(root: &Dir, place: &Place) -> io::Result<Vec<String>> {
    let names = place.names();
    for known in (1..=names.len()).rev() {
        let path: PathBuf = names[..known].iter().collect();
        match root.canonicalize(&path) {
            Ok(real) => {
                let rest = names[known..].iter().cloned();
                return Ok(components(&real).chain(rest).collect());
            }
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {}
                _ => return Err(error),
            },
        }
    }
    Ok(names.to_vec())
}

/// The names of a path, without the dot that means "here".
pub(super) fn components(path: &Path) -> impl Iterator<Item = String> {
    let names = path.iter().filter(|name| *name != OsStr::new("."));
    names.map(|name| name.to_string_lossy().into_owned())
}
