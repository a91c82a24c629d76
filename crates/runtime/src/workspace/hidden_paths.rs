//! What runs cannot access: hidden and reserved names, folders that the caller hides, and programs
//! that runs may read but not change.
//!
//! The core's [`FilePolicy`] decides which names are hidden. This module checks each path twice: as
//! it was written, and as it resolves inside the workspace.

use cap_std::fs::Dir;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use countersign_protocol::{FileAccess, FilePolicy, fold_name};
use countersign_run::{INPUTS_FOLDER, RunInputs};

use super::WorkspacePath;

/// The hidden and the protected paths of a workspace.
#[derive(Debug, Clone, Default)]
pub(crate) struct HiddenPaths {
    /// Which hidden names the protocol shows.
    policy: FilePolicy,
    /// Paths that the caller hides with everything below them, as case-folded names.
    hidden: Vec<Vec<String>>,
    /// Files that runs may read but not write.
    protected: Vec<WorkspacePath>,
    /// The folders of `inputs` that the run can reach; every one if no run is set.
    inputs: Option<RunInputs>,
}

impl HiddenPaths {
    /// Hides a path and everything below it.
    pub(crate) fn add(&mut self, names: &[String]) {
        self.hidden.push(names.iter().map(|name| fold_name(name)).collect());
    }

    /// Returns the same hidden paths with the exceptions of a protocol, and with the files of its
    /// programs protected.
    pub(crate) fn with_policy(&self, files: &FilePolicy, protected: Vec<WorkspacePath>) -> Self {
        Self { policy: files.clone(), protected, ..self.clone() }
    }

    /// Returns the same hidden paths, with the inputs of other runs hidden as well.
    pub(crate) fn with_inputs(&self, inputs: RunInputs) -> Self {
        Self { inputs: Some(inputs), ..self.clone() }
    }

    /// Returns the path that the run means: `inputs` is the folder of its own documents.
    pub(crate) fn resolve_inputs(&self, path: WorkspacePath) -> WorkspacePath {
        match &self.inputs {
            Some(inputs) => path.map_names(|names| inputs.resolve_names(names)),
            None => path,
        }
    }

    /// Returns whether a path is a document of another run, or of no run.
    fn is_foreign_input(&self, names: &[String]) -> bool {
        match (&self.inputs, names) {
            (Some(inputs), [first, folder, ..]) => {
                fold_name(first) == INPUTS_FOLDER && !inputs.can_reach(folder)
            }
            _ => false,
        }
    }

    /// Returns whether a path is hidden by its names. A folder on the way to a shown file is hidden
    /// too, unless it is only passed through.
    fn covers(&self, names: &[String], passes: bool) -> bool {
        let is_open = match self.policy.classify(names) {
            FileAccess::Reachable => true,
            FileAccess::ListOnly => passes,
            FileAccess::Hidden | FileAccess::Reserved => false,
        };
        !is_open
            || self.is_foreign_input(names)
            || self.hidden.iter().any(|hidden| {
                names.len() >= hidden.len()
                    && names.iter().zip(hidden).all(|(name, hidden)| fold_name(name) == *hidden)
            })
    }

    /// Returns whether a file is hidden, also if a link inside the workspace leads to it.
    pub(crate) fn covers_file(&self, root: &Dir, path: &WorkspacePath) -> io::Result<bool> {
        Ok(self.covers(path.names(), false) || self.covers(&resolve_names(root, path)?, false))
    }

    /// Returns whether a folder may not even be listed.
    pub(crate) fn covers_folder(&self, root: &Dir, path: &WorkspacePath) -> io::Result<bool> {
        Ok(self.covers(path.names(), true) || self.covers(&resolve_names(root, path)?, true))
    }

    /// Returns whether a path is the file of a program that its protocol declares and does not
    /// show.
    pub(crate) fn protects(&self, root: &Dir, path: &WorkspacePath) -> io::Result<bool> {
        Ok(is_one_of(root, path, &self.protected)? && !self.policy.shows_path(path.names()))
    }
}

/// Returns whether a path is one of `others`, as written or as it resolves.
pub(super) fn is_one_of(
    root: &Dir,
    path: &WorkspacePath,
    others: &[WorkspacePath],
) -> io::Result<bool> {
    if others.is_empty() {
        return Ok(false);
    }
    let spellings = |path: &WorkspacePath| -> io::Result<[Vec<String>; 2]> {
        let fold = |names: &[String]| names.iter().map(|name| fold_name(name)).collect();
        Ok([fold(path.names()), fold(&resolve_names(root, path)?)])
    };
    let written = spellings(path)?;
    Ok(others.iter().any(|other| {
        // A path behind a link that leads out is not in the workspace.
        let other = spellings(other).unwrap_or_default();
        written.iter().any(|names| !names.is_empty() && other.contains(names))
    }))
}

/// Returns the names of a path after links are followed; parts that do not exist yet stay as
/// written.
fn resolve_names(root: &Dir, workspace_path: &WorkspacePath) -> io::Result<Vec<String>> {
    let names = workspace_path.names();
    for known in (1..=names.len()).rev() {
        let path: PathBuf = names[..known].iter().collect();
        match root.canonicalize(&path) {
            Ok(real) => {
                let rest = names[known..].iter().cloned();
                return Ok(path_components(&real).chain(rest).collect());
            }
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {}
                _ => return Err(error),
            },
        }
    }
    Ok(names.to_vec())
}

/// Returns the names of a path, without the dot that means "here".
pub(super) fn path_components(path: &Path) -> impl Iterator<Item = String> {
    let names = path.iter().filter(|name| *name != OsStr::new("."));
    names.map(|name| name.to_string_lossy().into_owned())
}
