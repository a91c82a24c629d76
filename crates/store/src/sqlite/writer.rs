//! The only writer of a file, and its group commit.
//!
//! A job that finds no other writer runs in the caller's thread. The others queue for a writer
//! thread: it takes the first job and all that are queued behind it, runs them in one transaction,
//! flushes once, and only then replies. A refused job is rolled back alone; if the flush fails,
//! every job of the batch gets the error. No job waits for a batch to fill: while one batch is
//! flushed, the next one builds up.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;

use crate::StoreError;

/// Maximum number of jobs that share a flush, so that the first of them does not wait too long.
const MAX_BATCH_JOBS: usize = 256;

/// A handle to the writer. Dropping it finishes the queued jobs.
#[derive(Debug)]
pub(super) struct SqliteWriter {
    shared: Arc<SqliteWriterShared>,
    queue: Option<Sender<Box<dyn SqliteWriteJob>>>,
    thread: Option<JoinHandle<()>>,
}

impl SqliteWriter {
    /// Starts the writer on a connection. `check` runs before every commit and may refuse it;
    /// `reopen` opens another connection when this one can no longer be used.
    pub(super) fn start_thread(
        db: Connection,
        check: impl Fn() -> Result<(), StoreError> + Send + 'static,
        reopen: impl Fn() -> Result<Connection, StoreError> + Send + 'static,
    ) -> std::io::Result<Self> {
        let (queue, jobs) = mpsc::channel();
        let broken = Arc::new(AtomicBool::new(false));
        let (check, reopen) = (Box::new(check), Box::new(reopen));
        let file =
            Mutex::new(SqliteWriteConnection { db, check, reopen, broken: Arc::clone(&broken) });
        let desk = Arc::new(SqliteWriterShared { file, queued: AtomicUsize::new(0), broken });
        let served = Arc::clone(&desk);
        let work = move || served.run_loop(&jobs);
        let thread = thread::Builder::new().name("store-writer".to_owned()).spawn(work)?;
        Ok(Self { shared: desk, queue: Some(queue), thread: Some(thread) })
    }

    /// Whether the last commit failed for a reason outside the commit itself: no space, no file, a
    /// failing disk.
    pub(super) fn is_broken(&self) -> bool {
        self.shared.broken.load(Ordering::Acquire)
    }

    /// Runs work inside the next commit and returns when it is on disk. The work runs again if
    /// another job of the same batch has to be rolled back.
    pub(super) async fn submit_write<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        tracing::trace!("writing to the database");
        let (reply, answer) = oneshot::channel();
        let job = Box::new(SqliteWriteTask { work, result: None, reply });
        if let Some(mut file) = self.shared.try_lock_idle()? {
            tokio::task::block_in_place(|| file.write_batch(job, || None));
        } else {
            let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
            self.shared.queued.fetch_add(1, Ordering::AcqRel);
            queue.send(job).map_err(|_| StoreError::Closed)?;
        }
        let (answer, work) = answer.await.map_err(|_| StoreError::Closed)?;
        drop(work);
        answer
    }
}

impl SqliteWriter {
    /// Runs work that cannot run inside a transaction, while nothing else writes.
    pub(super) async fn run_exclusive<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let desk = Arc::clone(&self.shared);
        let work = move || {
            let done = match desk.file.lock() {
                Ok(file) => work(&file.db),
                Err(_) => Err(StoreError::Closed),
            };
            // The caller may be gone.
            let _ = reply.send(done);
        };
        // The work may take long, and on the writer's thread the queue would wait behind the lock
        // anyway.
        let named = thread::Builder::new().name("store-alone".to_owned());
        named.spawn(work).map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }
}

impl Drop for SqliteWriter {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // The caller that waited for the thread has already learned of its panic.
            let _ = thread.join();
        }
    }
}

/// A write whose caller waits for the result.
trait SqliteWriteJob: Send {
    /// Runs the work; an error means that it must be rolled back.
    fn run(&mut self, db: &Connection) -> Result<(), StoreError>;

    /// Whether the work was refused because there is no space.
    fn is_disk_full(&self) -> bool;

    /// Replies to the caller: the result of the work, or why the batch was lost. If the batch is
    /// lost, a refusal is not reported, because it may depend on a job that was lost too.
    fn send_reply(self: Box<Self>, flushed: Result<(), StoreError>);
}

struct SqliteWriteTask<T, W> {
    work: W,
    result: Option<Result<T, StoreError>>,
    /// Also returns the work, so that the thread that created it frees its memory.
    reply: oneshot::Sender<(Result<T, StoreError>, W)>,
}

impl<T, W> SqliteWriteJob for SqliteWriteTask<T, W>
where
    T: Send,
    W: Fn(&Connection) -> Result<T, StoreError> + Send,
{
    fn run(&mut self, db: &Connection) -> Result<(), StoreError> {
        let result = (self.work)(db);
        let kept = result.as_ref().map(|_| ()).map_err(Clone::clone);
        self.result = Some(result);
        kept
    }

    fn is_disk_full(&self) -> bool {
        matches!(self.result, Some(Err(StoreError::DiskFull)))
    }

    fn send_reply(self: Box<Self>, flushed: Result<(), StoreError>) {
        let Self { work, result, reply } = *self;
        let answer = flushed.and_then(|()| result.unwrap_or(Err(StoreError::Closed)));
        // The caller may be gone; the work is kept anyway.
        let _ = reply.send((answer, work));
    }
}

/// The state that callers and the writer thread share.
struct SqliteWriterShared {
    file: Mutex<SqliteWriteConnection>,
    queued: AtomicUsize,
    broken: Arc<AtomicBool>,
}

impl std::fmt::Debug for SqliteWriterShared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteWriterShared").field("queued", &self.queued).finish_non_exhaustive()
    }
}

impl SqliteWriterShared {
    /// Locks the connection if no job runs or is queued and this thread may block on the disk;
    /// other tasks of its runtime continue in the meantime.
    fn try_lock_idle(&self) -> Result<Option<MutexGuard<'_, SqliteWriteConnection>>, StoreError> {
        let may_wait = Handle::try_current()
            .is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
        if !may_wait || self.queued.load(Ordering::Acquire) > 0 {
            return Ok(None);
        }
        match self.file.try_lock() {
            Ok(file) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            // A job panicked in the middle of a transaction: the data on disk is consistent, but
            // the state in memory cannot be trusted.
            Err(TryLockError::Poisoned(_)) => Err(StoreError::Closed),
        }
    }

    fn run_loop(&self, jobs: &Receiver<Box<dyn SqliteWriteJob>>) {
        while let Ok(first) = jobs.recv() {
            let Ok(mut file) = self.file.lock() else { return };
            self.queued.fetch_sub(1, Ordering::AcqRel);
            file.write_batch(first, || {
                let next = jobs.try_recv().ok()?;
                self.queued.fetch_sub(1, Ordering::AcqRel);
                Some(next)
            });
        }
    }
}

struct SqliteWriteConnection {
    db: Connection,
    check: Box<dyn Fn() -> Result<(), StoreError> + Send>,
    broken: Arc<AtomicBool>,
    reopen: Box<dyn Fn() -> Result<Connection, StoreError> + Send>,
}

/// Why a batch was not kept.
enum WriteBatchFailure {
    /// A job was refused after it had written: run the others without it.
    Dirty,
    /// The whole batch failed.
    Batch(StoreError),
}

impl From<StoreError> for WriteBatchFailure {
    fn from(error: StoreError) -> Self {
        Self::Batch(error)
    }
}

impl SqliteWriteConnection {
    /// Writes a job together with the jobs that arrive in the meantime, and replies to all of them.
    fn write_batch(
        &mut self,
        first: Box<dyn SqliteWriteJob>,
        more: impl FnMut() -> Option<Box<dyn SqliteWriteJob>>,
    ) {
        let mut batch = Vec::new();
        let flushed = match self.run_batch(first, more, &mut batch) {
            Ok(()) => Ok(()),
            Err(WriteBatchFailure::Batch(lost)) => Err(lost),
            Err(WriteBatchFailure::Dirty) => self.execute("ROLLBACK").and_then(|()| {
                // The rollback was enough for a single job.
                if batch.len() == 1 { Ok(()) } else { self.run_with_savepoints(&mut batch) }
            }),
        };
        let broken = match &flushed {
            // A job may have been refused for lack of space; then the commit itself does not show
            // it.
            Ok(()) => Some(batch.iter().any(|job| job.is_disk_full())),
            Err(StoreError::Busy { .. }) => None,
            Err(_) => Some(true),
        };
        if let Some(broken) = broken {
            self.broken.store(broken, Ordering::Release);
        }
        if let Err(lost) = &flushed {
            self.recover(lost);
        }
        for job in batch {
            job.send_reply(flushed.clone());
        }
    }

    /// Runs a batch as one transaction and flushes it. Most refusals happen before anything is
    /// written, and then there is nothing to roll back.
    fn run_batch(
        &self,
        first: Box<dyn SqliteWriteJob>,
        mut more: impl FnMut() -> Option<Box<dyn SqliteWriteJob>>,
        batch: &mut Vec<Box<dyn SqliteWriteJob>>,
    ) -> Result<(), WriteBatchFailure> {
        if let Err(error) = self.execute("BEGIN IMMEDIATE") {
            // All queued jobs have waited for the lock as long as the first one.
            batch.extend(std::iter::once(first).chain(std::iter::from_fn(more)));
            return Err(error.into());
        }
        let mut next = Some(first);
        let mut dirty = false;
        while let Some(mut job) = next {
            let written = self.db.total_changes();
            let ran = if dirty { Ok(()) } else { job.run(&self.db) };
            batch.push(job);
            if let Err(refused) = ran {
                if self.db.is_autocommit() {
                    // `SQLite` aborted the whole transaction, including the jobs before this one.
                    return Err(refused.into());
                }
                dirty = self.db.total_changes() != written;
            }
            next = if batch.len() < MAX_BATCH_JOBS { more() } else { None };
        }
        if dirty { Err(WriteBatchFailure::Dirty) } else { Ok(self.commit()?) }
    }

    /// Runs a batch so that each job can be rolled back alone.
    fn run_with_savepoints(&self, batch: &mut [Box<dyn SqliteWriteJob>]) -> Result<(), StoreError> {
        self.execute("BEGIN IMMEDIATE")?;
        for job in batch {
            self.execute("SAVEPOINT job")?;
            if let Err(refused) = job.run(&self.db) {
                if self.db.is_autocommit() {
                    return Err(refused);
                }
                self.execute("ROLLBACK TO job")?;
            }
            self.execute("RELEASE job")?;
        }
        self.commit()
    }

    fn commit(&self) -> Result<(), StoreError> {
        (self.check)()?;
        self.execute("COMMIT")
    }

    /// Makes the connection usable again after a batch was lost.
    fn recover(&mut self, lost: &StoreError) {
        let undone = self.db.is_autocommit() || self.execute("ROLLBACK").is_ok();
        if undone && matches!(lost, StoreError::Busy { .. } | StoreError::DiskFull) {
            return;
        }
        // If the file cannot be reached, the next batch gets the error, and this is tried again.
        if let Ok(db) = (self.reopen)() {
            self.db = db;
        }
    }

    fn execute(&self, sql: &str) -> Result<(), StoreError> {
        self.db.prepare_cached(sql)?.execute([])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn place() -> (tempfile::TempDir, impl Fn() -> Result<Connection, StoreError> + Clone) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file.db");
        (folder, move || {
            let db = Connection::open(&file)?;
            db.pragma_update(None, "journal_mode", "WAL")?;
            db.execute_batch("CREATE TABLE IF NOT EXISTS notes (n INTEGER PRIMARY KEY)")?;
            Ok(db)
        })
    }

    fn note(number: i64) -> impl Fn(&Connection) -> Result<(), StoreError> + Send + 'static {
        move |db| {
            db.execute("INSERT INTO notes VALUES (?1)", [number])?;
            Ok(())
        }
    }

    fn notes(db: &Connection) -> Vec<i64> {
        let mut query = db.prepare("SELECT n FROM notes ORDER BY n").unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    /// Queues a job that blocks the thread until the sender is dropped, so that all jobs queued
    /// behind it share a batch.
    async fn hold(writer: &SqliteWriter, gate: Receiver<()>) -> Result<(), StoreError> {
        writer.submit_write(move |_| gate.recv().or(Ok(()))).await
    }

    #[tokio::test]
    async fn a_refused_job_is_undone_alone() {
        let (_folder, open) = place();
        let writer = SqliteWriter::start_thread(open().unwrap(), || Ok(()), open.clone()).unwrap();
        let (release, gate) = mpsc::channel();
        let refused = writer.submit_write(|db| {
            note(2)(db)?;
            Err::<(), _>(StoreError::malformed("no"))
        });
        let (held, first, second, third, ()) = tokio::join!(
            hold(&writer, gate),
            writer.submit_write(note(1)),
            refused,
            writer.submit_write(note(3)),
            async { drop(release) },
        );
        held.unwrap();
        first.unwrap();
        assert!(matches!(second, Err(StoreError::Malformed { .. })));
        third.unwrap();
        assert_eq!(notes(&open().unwrap()), [1, 3]);
    }

    #[tokio::test]
    async fn a_failed_flush_is_told_to_the_whole_batch_and_the_next_one_is_kept() {
        let (_folder, open) = place();
        let mut db = open().unwrap();
        let failing = Arc::new(AtomicBool::new(true));
        let hook = Arc::clone(&failing);
        db.commit_hook(Some(move || hook.load(Ordering::SeqCst))).unwrap();
        let writer = SqliteWriter::start_thread(db, || Ok(()), open.clone()).unwrap();
        let (release, gate) = mpsc::channel();
        let (held, first, refused, second, ()) = tokio::join!(
            hold(&writer, gate),
            writer.submit_write(note(1)),
            writer.submit_write(|_| Err::<(), _>(StoreError::malformed("no"))),
            writer.submit_write(note(2)),
            async { drop(release) },
        );
        for answer in [held, first, refused, second] {
            assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
        }
        assert!(notes(&open().unwrap()).is_empty());
        failing.store(false, Ordering::SeqCst);
        writer.submit_write(note(3)).await.unwrap();
        assert_eq!(notes(&open().unwrap()), [3]);
    }

    #[tokio::test]
    async fn a_busy_file_is_told_to_all_who_waited() {
        let (_folder, open) = place();
        let db = open().unwrap();
        db.busy_timeout(std::time::Duration::ZERO).unwrap();
        let other = open().unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let writer = SqliteWriter::start_thread(db, || Ok(()), open.clone()).unwrap();
        let answer = writer.submit_write(note(1)).await;
        assert!(matches!(answer, Err(StoreError::Busy { .. })), "{answer:?}");
        other.execute_batch("ROLLBACK").unwrap();
        writer.submit_write(note(2)).await.unwrap();
        assert_eq!(notes(&open().unwrap()), [2]);
    }

    #[tokio::test]
    async fn a_job_that_panics_closes_the_store_and_keeps_nothing() {
        let (_folder, open) = place();
        let writer = SqliteWriter::start_thread(open().unwrap(), || Ok(()), open.clone()).unwrap();
        let answer = writer.submit_write(|db| {
            note(1)(db)?;
            db.execute("no statement", []).expect("a panic on purpose");
            Ok(())
        });
        assert!(matches!(answer.await, Err(StoreError::Closed)));
        assert!(matches!(writer.submit_write(note(2)).await, Err(StoreError::Closed)));
        assert!(notes(&open().unwrap()).is_empty());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn alone_a_job_is_written_where_it_is_asked_for() {
        let (_folder, open) = place();
        let writer = SqliteWriter::start_thread(open().unwrap(), || Ok(()), open.clone()).unwrap();
        let place = || thread::current().name().map(str::to_owned);
        let alone = writer.submit_write(move |db| note(1)(db).map(|()| place())).await.unwrap();
        assert_ne!(alone.as_deref(), Some("store-writer"));
        // A job that is refused alone after it wrote leaves nothing behind and blocks no other job.
        let refused = writer.submit_write(|db| {
            note(2)(db)?;
            Err::<(), _>(StoreError::malformed("no"))
        });
        assert!(matches!(refused.await, Err(StoreError::Malformed { .. })));
        writer.submit_write(note(3)).await.unwrap();
        assert_eq!(notes(&open().unwrap()), [1, 3]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn in_company_a_job_is_written_by_the_thread() {
        let (_folder, open) = place();
        let writer =
            Arc::new(SqliteWriter::start_thread(open().unwrap(), || Ok(()), open.clone()).unwrap());
        let (release, gate) = mpsc::channel();
        let (begun, heard) = oneshot::channel();
        let begun = std::sync::Mutex::new(Some(begun));
        let first = tokio::spawn({
            let writer = Arc::clone(&writer);
            async move {
                let hold = move |_: &Connection| {
                    let begun = begun.lock().unwrap().take().unwrap();
                    begun.send(()).unwrap();
                    gate.recv().map_err(|_| StoreError::Closed)
                };
                writer.submit_write(hold).await
            }
        });
        heard.await.unwrap();
        let place = || thread::current().name().map(str::to_owned);
        let second = writer.submit_write(move |db| note(1)(db).map(|()| place()));
        let (second, ()) = tokio::join!(second, async { release.send(()).unwrap() });
        assert_eq!(second.unwrap().as_deref(), Some("store-writer"));
        first.await.unwrap().unwrap();
        assert_eq!(notes(&open().unwrap()), [1]);
    }
}
