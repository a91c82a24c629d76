//! Resolves a declared command to an executable file.

use std::env;
use std::path::{Path, PathBuf};

/// Returns the file of a command: an absolute path unchanged, a path with a `/` relative to
/// `folder`, else a search in `PATH`.
///
/// The child's own `PATH` is not used, because its environment is empty. Relative folders in our
/// `PATH` are skipped, because they would mean a different file in every folder.
pub(super) fn find_executable(command: &str, folder: &Path) -> Option<PathBuf> {
    let path = Path::new(command);
    if path.is_absolute() || path.components().count() > 1 || command.starts_with("./") {
        return Some(folder.join(path)).filter(|path| is_executable(path));
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(path))
        .find(|path| is_executable(path))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}
