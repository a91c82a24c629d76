//! Access to the bytes of an open file, bypassing `SQLite`.
//!
//! When a process closes any handle to a file, the system removes all locks that the process has on
//! that file, including those of `SQLite`. So handles stay open and are shared for as long as this
//! process has the file open through [`SqliteFile`](super::SqliteFile).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// All files that are open in this process.
static OPEN_FILES: Mutex<BTreeMap<PathBuf, OpenFileEntry>> = Mutex::new(BTreeMap::new());

#[derive(Debug, Default)]
struct OpenFileEntry {
    users: usize,
    handles: BTreeMap<PathBuf, Arc<File>>,
}

/// An open file and access to its bytes.
#[derive(Debug)]
pub struct RawFile {
    path: PathBuf,
}

impl RawFile {
    /// Registers one more user of a file. Create it before `SQLite` opens the file, and drop it
    /// after `SQLite` closed it.
    pub fn new(path: &Path) -> io::Result<Self> {
        let path = canonical_path(path)?;
        lock_open_files().entry(path.clone()).or_default().users += 1;
        Ok(Self { path })
    }

    /// Opens the file itself (`""`), its write-ahead log (`"-wal"`) or the log's index (`"-shm"`);
    /// `None` if there is none.
    pub fn open_part(&self, ending: &str) -> io::Result<Option<(PathBuf, Arc<File>)>> {
        let mut name = OsString::from(&self.path);
        name.push(ending);
        let name = PathBuf::from(name);
        let there = match fs::metadata(&name) {
            Ok(there) => there,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut open = lock_open_files();
        let handles = &mut open.entry(self.path.clone()).or_default().handles;
        if let Some(file) = handles.get(&name)
            && is_same_file(&file.metadata()?, &there)
        {
            return Ok(Some((name, Arc::clone(file))));
        }
        let file = Arc::new(File::open(&name)?);
        // Another file has this name now; the old one may still be locked, so its handle must not
        // be closed.
        if let Some(old) = handles.insert(name.clone(), Arc::clone(&file)) {
            std::mem::forget(old);
        }
        Ok(Some((name, file)))
    }
}

impl Drop for RawFile {
    fn drop(&mut self) {
        // A handle is closed only while no one can open the file.
        let mut open = lock_open_files();
        if let Some(one) = open.get_mut(&self.path) {
            one.users -= 1;
            if one.users == 0 {
                open.remove(&self.path);
            }
        }
    }
}

/// Returns the one path of a file, also if links lead to it.
fn canonical_path(path: &Path) -> io::Result<PathBuf> {
    if let Ok(there) = fs::canonicalize(path) {
        return Ok(there);
    }
    let path = std::path::absolute(path)?;
    // The file does not exist yet; links may still lead to its folder.
    Ok(match (path.parent().map(fs::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => path,
    })
}

fn lock_open_files() -> MutexGuard<'static, BTreeMap<PathBuf, OpenFileEntry>> {
    OPEN_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_lives_as_long_as_anybody_has_the_file_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        fs::write(&path, "here").unwrap();
        let [one, other] = [(), ()].map(|()| RawFile::new(&path).unwrap());
        let handle = |raw: &RawFile| raw.open_part("").unwrap().unwrap().1;
        assert!(Arc::ptr_eq(&handle(&one), &handle(&other)));
        assert!(one.open_part("-wal").unwrap().is_none());
        let watched = Arc::downgrade(&handle(&one));
        drop(one);
        assert!(watched.upgrade().is_some(), "the other one has locks, perhaps");
        drop(other);
        assert!(watched.upgrade().is_none(), "nobody has");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_links_lead_to_is_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        // One of them exists before the file does, as when `SQLite` creates it.
        let before = RawFile::new(&link.join("m.db")).unwrap();
        fs::write(folder.path().join("m.db"), "here").unwrap();
        let after = RawFile::new(&folder.path().join("m.db")).unwrap();
        let [one, other] = [&before, &after].map(|raw| raw.open_part("").unwrap().unwrap().1);
        assert!(Arc::ptr_eq(&one, &other));
    }

    #[test]
    fn a_file_that_takes_the_name_of_another_is_opened_and_the_old_one_is_not_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        fs::write(&path, "old").unwrap();
        let raw = RawFile::new(&path).unwrap();
        let old = Arc::downgrade(&raw.open_part("").unwrap().unwrap().1);
        fs::write(folder.path().join("new"), "newer").unwrap();
        fs::rename(folder.path().join("new"), &path).unwrap();
        let new = raw.open_part("").unwrap().unwrap().1;
        assert_eq!(new.metadata().unwrap().len(), 5);
        drop(new);
        drop(raw);
        assert!(old.upgrade().is_some());
    }
}
