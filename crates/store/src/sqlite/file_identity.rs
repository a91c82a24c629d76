//! Checks that the open file is still the one at its path.
//!
//! If a file is deleted, moved or replaced while it is open, its commits are lost to every later
//! reader. So every commit checks first, which costs two system calls; the path is never reopened
//! as a different file.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::StoreError;

/// The file and its write-ahead log, as they were when they were opened.
#[derive(Debug, Clone)]
pub(super) struct FileIdentity {
    parts: Vec<(PathBuf, Inode)>,
}

type Inode = (u64, u64);

impl FileIdentity {
    /// Reads the identity of an open file and of its write-ahead log, if there is one.
    pub(super) fn read_from(path: &Path) -> io::Result<Self> {
        let mut log = OsString::from(path);
        log.push("-wal");
        let log = PathBuf::from(log);
        let mut parts = vec![(path.to_owned(), read_inode(path)?)];
        if let Ok(found) = read_inode(&log) {
            parts.push((log, found));
        }
        Ok(Self { parts })
    }

    /// Returns an error if the path now has another file, or none.
    pub(super) fn check_unchanged(&self) -> Result<(), StoreError> {
        for (path, expected) in &self.parts {
            if read_inode(path).ok() != Some(*expected) {
                return Err(StoreError::FileReplaced { path: path.clone() });
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
fn read_inode(path: &Path) -> io::Result<Inode> {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs::metadata(path)?;
    Ok((found.dev(), found.ino()))
}

/// Other systems do not allow an open file to be deleted or replaced.
#[cfg(not(unix))]
fn read_inode(path: &Path) -> io::Result<Inode> {
    fs::metadata(path).map(|_| (0, 0))
}

/// Creates an empty file that only its owner can read, if there is none. `SQLite` gives the files
/// next to it the same permissions.
pub(super) fn create_private_file(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Free bytes on the disk of a file, for this user; `None` if the system does not report it.
#[cfg(target_os = "linux")]
pub(super) fn free_disk_bytes(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Free bytes on the disk of a file; not available on this system.
#[cfg(not(target_os = "linux"))]
pub(super) fn free_disk_bytes(_: &Path) -> Option<u64> {
    None
}
