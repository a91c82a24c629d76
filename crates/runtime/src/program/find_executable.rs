//! Which file a declared command means.

use std::env;
use std::path::{Path, PathBuf};

/// The file of a command: absolute as it is, with a `/` relative to `folder`, else by `PATH`.
///
/// The child's own `PATH` has no say: its environment is empty. Relative folders in ours have none
/// either: they would mean another file in every folder.
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
fn runs(path: &Path) -> bool {
    path.is_file()
}
