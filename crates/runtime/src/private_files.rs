//! Files and folders that only their owner can read, from the time they are created and regardless
//! of the umask.
//!
//! Existing files keep their permissions; `countersign doctor` reports those with wider
//! permissions.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use crate::engine::generate_run_name;

/// Creates a folder and its missing parents with access for the owner only.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates a new file for reading and writing. Fails if the file exists.
pub fn create_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Writes a file atomically: readers see either the old content or the new content, also after a
/// crash.
pub fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = parent_folder(path);
    create_folder(folder)?;
    let part =
        folder.join(format!(".countersign-{}-{}.tmp", std::process::id(), generate_run_name()));
    let written = (|| {
        let mut file = create_file(&part)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&part, path)?;
        sync_folder(folder)
    })();
    if written.is_err() {
        // Report the first error, not one from the cleanup.
        drop(fs::remove_file(&part));
    }
    written
}

/// Writes output to the path that a user requested. A regular or missing file is written with
/// private permissions; a terminal or pipe is written directly.
pub fn write_output(path: &Path, content: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => fs::write(path, content),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ if !parent_folder(path).is_dir() => Err(io::ErrorKind::NotFound.into()),
        _ => replace_file(path, content),
    }
}

fn parent_folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Waits until no other process holds the lock, then acquires it. The lock is released when the
/// returned file is dropped, also when the process dies.
pub fn lock_file(path: &Path) -> io::Result<File> {
    create_folder(parent_folder(path))?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    file.lock()?;
    Ok(file)
}

/// Returns whether only the owner can access the file with this metadata.
#[cfg(unix)]
#[must_use]
pub fn is_private(found: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    const OTHERS: u32 = 0o077;
    found.permissions().mode() & OTHERS == 0
}

/// Returns whether only the owner can access the file with this metadata. Always true on this
/// platform, which has no Unix permission bits.
#[cfg(not(unix))]
#[must_use]
pub fn is_private(_: &Metadata) -> bool {
    true
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("the file is there").permissions().mode() & 0o777
    }

    #[test]
    fn what_is_made_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        create_folder(&deep).unwrap();
        assert_eq!((mode(&deep), mode(&folder.path().join("a"))), (0o700, 0o700));
        let file = deep.join("file");
        replace_file(&file, b"one").unwrap();
        replace_file(&file, b"two").unwrap();
        assert_eq!((mode(&file), fs::read(&file).unwrap()), (0o600, b"two".to_vec()));
        drop(lock_file(&deep.join("lock")).unwrap());
        assert_eq!(mode(&deep.join("lock")), 0o600);
        assert_eq!(fs::read_dir(&deep).unwrap().count(), 2, "nothing else is left");
        assert!(is_private(&fs::metadata(&file).unwrap()));
    }
}

/// Returns whether only the owner can modify a file or folder, and the owner is this user or root.
#[cfg(unix)]
#[must_use]
pub fn is_owned_by_us(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let ours = rustix::process::geteuid().as_raw();
    found.mode() & 0o022 == 0 && (found.uid() == ours || found.uid() == 0)
}

/// Returns whether only the owner can modify a file or folder. Not checked on this platform: always
/// true.
#[cfg(not(unix))]
#[must_use]
pub fn is_owned_by_us(_: &Metadata) -> bool {
    true
}
