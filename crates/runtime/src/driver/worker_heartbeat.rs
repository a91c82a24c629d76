//! Distinguishes a dead worker from a slow one on the same machine: each worker keeps a file locked
//! while it lives.
//!
//! The operating system releases the lock when the process ends, for whatever reason. A worker that
//! finds a run leased by another worker whose lock is free need not wait for the lease to expire.
//! This is only an optimization: without a file, a worker counts as alive, and its lease decides.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::private_files;

const LOCK_EXTENSION: &str = "lock";

/// A worker whose liveness is visible to other workers that use the same folder.
#[derive(Debug)]
pub struct WorkerHeartbeat {
    folder: PathBuf,
    worker: String,
    /// Locked until this value is dropped or the process ends.
    _file: File,
}

impl WorkerHeartbeat {
    /// Announces a worker in a folder, which is created if missing. The worker name must be a valid
    /// file name.
    pub fn announce(folder: &Path, worker: &str) -> io::Result<Self> {
        let file = private_files::lock_file(&lock_path(folder, worker))?;
        let presence = Self { folder: folder.to_owned(), worker: worker.to_owned(), _file: file };
        presence.remove_stale_files();
        Ok(presence)
    }

    /// Returns the worker's name.
    #[must_use]
    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// Returns whether a worker announced itself here and has ended.
    pub(crate) fn is_worker_dead(&self, worker: &str) -> bool {
        let Ok(file) = File::open(lock_path(&self.folder, worker)) else { return false };
        match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
        }
    }

    /// Removes the files of workers that started more than an hour ago and have ended. Until then,
    /// the files tell others not to wait for the workers' leases.
    fn remove_stale_files(&self) {
        const HOUR: std::time::Duration = std::time::Duration::from_hours(1);
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let modified = fs::metadata(&path).and_then(|found| found.modified());
            let old = modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > HOUR));
            let worker = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let ours = path.extension().is_some_and(|extension| extension == LOCK_EXTENSION);
            if ours && old && self.is_worker_dead(worker) {
                // Another process that cleans up may have removed it first.
                drop(fs::remove_file(&path));
            }
        }
    }
}

impl Drop for WorkerHeartbeat {
    fn drop(&mut self) {
        // A lease that was not released expires by itself, without the file.
        drop(fs::remove_file(lock_path(&self.folder, &self.worker)));
    }
}

fn lock_path(folder: &Path, worker: &str) -> PathBuf {
    folder.join(format!("{worker}.{LOCK_EXTENSION}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_gone_when_its_lock_is_free_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let ours = WorkerHeartbeat::announce(folder.path(), "ours").unwrap();
        let other = WorkerHeartbeat::announce(folder.path(), "other").unwrap();
        assert!(!ours.is_worker_dead("other"), "it lives");
        assert!(!ours.is_worker_dead("stranger"), "nobody knows");
        // A killed process releases the lock and leaves the file.
        File::create(lock_path(folder.path(), "killed")).unwrap();
        assert!(ours.is_worker_dead("killed"));
        drop(other);
        assert!(!ours.is_worker_dead("other"), "it left in order, and gave its leases back");
    }
}
