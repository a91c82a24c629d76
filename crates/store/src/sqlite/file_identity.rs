//! Whether the file that is open is still the one that its path names.
//!
//! A file that was deleted, moved or replaced while it is open takes commits that nobody finds again. So every commit
//! asks first, which costs two questions to the system; the path is never opened anew as another file.

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
    /// The identity of a file that is open, with that of its log where there is one.
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

    /// Refuses where another file, or none, is at the path now.
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

/// Other systems do not let go of a file that is open.
#[cfg(not(unix))]
fn inode(path: &Path) -> io::Result<Inode> {
    fs::metadata(path).map(|_| (0, 0))
}

/// Makes an empty file that only its owner can read, where there is none. `SQLite` gives the files beside it the
/// same permissions.
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

/// Bytes that are free on the disk of a file, for this user; `Empty` where the system does not say.
#[cfg(target_os = "linux")]
pub(super) fn free_disk_bytes(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Bytes that are free on the disk of a file; not known here.
#[cfg(not(target_os = "linux"))]
pub(super) fn free_bytes(_: &Path) -> Option<u64> {
    None
}
