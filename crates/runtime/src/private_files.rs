//! Files and folders that only their owner can read, from the moment they are made and whatever the umask is.
//!
//! What exists already keeps its permissions: `countersign doctor` tells of those that are wider.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use crate::engine::generate_run_name;

/// Makes a folder, and those above it that are missing, for their owner alone.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Makes a file that is not there yet, to write and to read.
pub fn create_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Writes a file: readers, and a crash, see the old one or the new one.
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
        // The first error is the one to tell.
        drop(fs::remove_file(&part));
    }
    written
}

/// Writes what a person asked to have in a file: privately where that is a file or none yet, as it is to a terminal
/// or a pipe.
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

/// Waits until nobody else has this lock, and takes it. It is given back when the file is dropped, also by a process
/// that dies.
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

/// Whether only its owner can read what this is about.
#[cfg(unix)]
#[must_use]
pub fn is_private(found: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    const OTHERS: u32 = 0o077;
    found.permissions().mode() & OTHERS == 0
}

/// Whether only its owner can read what this is about; other systems ask differently.
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

/// Whether only its owner can change a file or a folder, and that is us or the administrator.
#[cfg(unix)]
#[must_use]
pub fn is_owned_by_us(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let ours = rustix::process::geteuid().as_raw();
    found.mode() & 0o022 == 0 && (found.uid() == ours || found.uid() == 0)
}

/// Whether only its owner can change a file or a folder: not told here.
#[cfg(not(unix))]
#[must_use]
pub fn is_ours(_: &Metadata) -> bool {
    true
}
