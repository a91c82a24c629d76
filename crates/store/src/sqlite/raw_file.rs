//! The bytes of an open file, past `SQLite`.
//!
//! Where a process closes any handle to a file, the system takes away all locks that the process has on
//! that file, and those are `SQLite`'s. So handles are kept for as long as anybody in this process has the
//! file open through [`SqliteFile`](super::SqliteFile), and are shared.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::ahead::Trees;
use crate::StoreError;

/// Every file that is open in this process.
static OPEN_FILES: Mutex<BTreeMap<PathBuf, OpenFileEntry>> = Mutex::new(BTreeMap::new());

#[derive(Debug, Default)]
struct OpenFileEntry {
    users: usize,
    handles: BTreeMap<PathBuf, Arc<File>>,
}

/// A file that is open, and its bytes.
#[derive(Debug)]
pub struct RawFile {
    path: PathBuf,
    reads_ahead: bool,
    trees: Mutex<Option<Arc<Trees>>>,
}

impl RawFile {
    /// Counts one more who has a file open. To be called before `SQLite` opens it, and dropped after it closed it.
    pub fn new(path: &Path, reads_ahead: bool) -> io::Result<Self> {
        let path = canonical_path(path)?;
        lock_open_files().entry(path.clone()).or_default().users += 1;
        Ok(Self { path, reads_ahead, trees: Mutex::default() })
    }

    /// Where its trees begin, by which pages are fetched beforehand; `Empty` where that cannot be done or is not
    /// wished.
    pub fn trees(&self, db: &Connection) -> Result<Option<Arc<Trees>>, StoreError> {
        if !self.reads_ahead || cfg!(not(target_os = "linux")) {
            return Ok(None);
        }
        let mut known = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known
            && known.still(db)?
        {
            return Ok(Some(Arc::clone(known)));
        }
        let Ok(Some((_, file))) = self.open_part("") else { return Ok(None) };
        let trees = Arc::new(Trees::of(file, db)?);
        Ok(Some(Arc::clone(known.insert(trees))))
    }

    /// The file itself (`""`), its write-ahead log (`"-wal"`) or the index of that (`"-shm"`); `Empty` where
    /// there is none.
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
        // Another file has taken the name; the old one may still be locked.
        if let Some(old) = handles.insert(name.clone(), Arc::clone(&file)) {
            std::mem::forget(old);
        }
        Ok(Some((name, file)))
    }
}

impl Drop for RawFile {
    fn drop(&mut self) {
        // A handle is closed only while nobody can open the file.
        self.trees.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let mut open = lock_open_files();
        if let Some(one) = open.get_mut(&self.path) {
            one.users -= 1;
            if one.users == 0 {
                open.remove(&self.path);
            }
        }
    }
}

/// One file has one name here, also where links lead to it.
fn canonical_path(path: &Path) -> io::Result<PathBuf> {
    if let Ok(there) = fs::canonicalize(path) {
        return Ok(there);
    }
    let path = std::path::absolute(path)?;
    // It is not made yet; its folder may be reached over links all the same.
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
fn is_same(_: &Metadata, _: &Metadata) -> bool {
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
        let [one, other] = [(), ()].map(|()| RawFile::new(&path, false).unwrap());
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
        // One of them is there before the file is made, as `SQLite` makes it.
        let before = RawFile::new(&link.join("m.db"), false).unwrap();
        fs::write(folder.path().join("m.db"), "here").unwrap();
        let after = RawFile::new(&folder.path().join("m.db"), false).unwrap();
        let [one, other] = [&before, &after].map(|raw| raw.open_part("").unwrap().unwrap().1);
        assert!(Arc::ptr_eq(&one, &other));
    }

    #[test]
    fn a_file_that_takes_the_name_of_another_is_opened_and_the_old_one_is_not_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        fs::write(&path, "old").unwrap();
        let raw = RawFile::new(&path, false).unwrap();
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
