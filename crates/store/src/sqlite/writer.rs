//! The one thread that writes, and its group commit.
//!
//! It takes the first job that is queued and whatever is queued behind it, runs each under a
//! savepoint, flushes once, and only then answers. A refused job is undone alone; where the flush
//! fails, every job of the batch hears so. It does not wait for a batch to fill: while one is flushed,
//! the next one gathers by itself.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::StoreError;

/// At most so many jobs share a flush: the first of them must not wait for ever.
const LARGEST_BATCH: usize = 256;

/// A handle to the writing thread. Dropping it finishes what is queued.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Option<Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread on a connection; `reopen` makes another when that one is beyond use.
    pub(super) fn start(
        db: Connection,
        reopen: impl Fn() -> Result<Connection, StoreError> + Send + 'static,
    ) -> std::io::Result<Self> {
        let (queue, jobs) = mpsc::channel();
        let work = move || Desk { db, reopen, jobs }.serve();
        let thread = thread::Builder::new().name("store-writer".to_owned()).spawn(work)?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Has work done inside the next commit and answers when it is on the disk.
    pub(super) async fn submit<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let task = Task { work: Some(work), result: None, reply };
        let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
        queue.send(Box::new(task)).map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic of that thread was told already to whoever waited for it.
            let _ = thread.join();
        }
    }
}

/// A write with someone waiting for it.
trait Job: Send {
    /// Does the work; an error means that it is to be undone.
    fn run(&mut self, db: &Connection) -> Result<(), StoreError>;

    /// Tells whoever waits: what came of the work, or why the batch was lost. A refusal is not told
    /// when the batch is lost: it may rest on a job that was lost too.
    fn answer(self: Box<Self>, flushed: Result<(), StoreError>);
}

struct Task<T, W> {
    work: Option<W>,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, W> Job for Task<T, W>
where
    T: Send,
    W: FnOnce(&Connection) -> Result<T, StoreError> + Send,
{
    fn run(&mut self, db: &Connection) -> Result<(), StoreError> {
        let work = self.work.take().ok_or(StoreError::Closed)?;
        let result = work(db);
        let kept = result.as_ref().map(|_| ()).map_err(Clone::clone);
        self.result = Some(result);
        kept
    }

    fn answer(self: Box<Self>, flushed: Result<(), StoreError>) {
        let Self { result, reply, .. } = *self;
        let answer = flushed.and_then(|()| result.unwrap_or(Err(StoreError::Closed)));
        // Nobody may be waiting any more; the work is kept all the same.
        let _ = reply.send(answer);
    }
}

struct Desk<R> {
    db: Connection,
    reopen: R,
    jobs: Receiver<Box<dyn Job>>,
}

impl<R: Fn() -> Result<Connection, StoreError>> Desk<R> {
    fn serve(mut self) {
        while let Ok(first) = self.jobs.recv() {
            let mut batch = Vec::new();
            let flushed = self.write(first, &mut batch);
            if let Err(lost) = &flushed {
                self.recover(lost);
            }
            for job in batch {
                job.answer(flushed.clone());
            }
        }
    }

    /// Runs a batch and flushes it. On an error nothing of it is kept.
    fn write(&self, first: Box<dyn Job>, batch: &mut Vec<Box<dyn Job>>) -> Result<(), StoreError> {
        if let Err(error) = self.execute("BEGIN IMMEDIATE") {
            // All who queued have waited as long for the lock as the first one.
            batch.extend(std::iter::once(first).chain(self.jobs.try_iter()));
            return Err(error);
        }
        let mut next = Some(first);
        while let Some(mut job) = next {
            let ran = self.run(job.as_mut());
            batch.push(job);
            ran?;
            let more = batch.len() < LARGEST_BATCH;
            next = if more { self.jobs.try_recv().ok() } else { None };
        }
        self.execute("COMMIT")
    }

    /// Runs one job so that it can be undone alone. An error concerns the whole batch.
    fn run(&self, job: &mut dyn Job) -> Result<(), StoreError> {
        self.execute("SAVEPOINT job")?;
        let Err(refused) = job.run(&self.db) else { return self.execute("RELEASE job") };
        if self.db.is_autocommit() {
            // SQLite gave up the whole transaction, and with it the jobs before this one.
            return Err(refused);
        }
        self.execute("ROLLBACK TO job")?;
        self.execute("RELEASE job")
    }

    /// Makes the connection usable after a batch was lost.
    fn recover(&mut self, lost: &StoreError) {
        let undone = self.db.is_autocommit() || self.execute("ROLLBACK").is_ok();
        if undone && matches!(lost, StoreError::Busy { .. } | StoreError::Full) {
            return;
        }
        // Where the file is out of reach, the next batch is told so, and this is tried again.
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

    fn note(number: i64) -> impl FnOnce(&Connection) -> Result<(), StoreError> + Send + 'static {
        move |db| {
            db.execute("INSERT INTO notes VALUES (?1)", [number])?;
            Ok(())
        }
    }

    fn notes(db: &Connection) -> Vec<i64> {
        let mut query = db.prepare("SELECT n FROM notes ORDER BY n").unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    /// Queues a job that holds the thread until the sender is used, so that what is queued behind it
    /// surely shares its batch.
    async fn hold(writer: &Writer, gate: Receiver<()>) -> Result<(), StoreError> {
        writer.submit(move |_| gate.recv().map_err(|_| StoreError::Closed)).await
    }

    #[tokio::test]
    async fn a_refused_job_is_undone_alone() {
        let (_folder, open) = place();
        let writer = Writer::start(open().unwrap(), open.clone()).unwrap();
        let (release, gate) = mpsc::channel();
        let refused = writer.submit(|db| {
            note(2)(db)?;
            Err::<(), _>(StoreError::malformed("no"))
        });
        let (held, first, second, third, ()) = tokio::join!(
            hold(&writer, gate),
            writer.submit(note(1)),
            refused,
            writer.submit(note(3)),
            async { release.send(()).unwrap() },
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
        let writer = Writer::start(db, open.clone()).unwrap();
        let (release, gate) = mpsc::channel();
        let (held, first, refused, second, ()) = tokio::join!(
            hold(&writer, gate),
            writer.submit(note(1)),
            writer.submit(|_| Err::<(), _>(StoreError::malformed("no"))),
            writer.submit(note(2)),
            async { release.send(()).unwrap() },
        );
        for answer in [held, first, refused, second] {
            assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
        }
        assert!(notes(&open().unwrap()).is_empty());
        failing.store(false, Ordering::SeqCst);
        writer.submit(note(3)).await.unwrap();
        assert_eq!(notes(&open().unwrap()), [3]);
    }

    #[tokio::test]
    async fn a_busy_file_is_told_to_all_who_waited() {
        let (_folder, open) = place();
        let db = open().unwrap();
        db.busy_timeout(std::time::Duration::ZERO).unwrap();
        let other = open().unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let writer = Writer::start(db, open.clone()).unwrap();
        let answer = writer.submit(note(1)).await;
        assert!(matches!(answer, Err(StoreError::Busy { .. })), "{answer:?}");
        other.execute_batch("ROLLBACK").unwrap();
        writer.submit(note(2)).await.unwrap();
        assert_eq!(notes(&open().unwrap()), [2]);
    }

    #[tokio::test]
    async fn a_job_that_panics_closes_the_store_and_keeps_nothing() {
        let (_folder, open) = place();
        let writer = Writer::start(open().unwrap(), open.clone()).unwrap();
        let answer = writer.submit(|db| {
            note(1)(db)?;
            db.execute("no statement", []).expect("a panic on purpose");
            Ok(())
        });
        assert!(matches!(answer.await, Err(StoreError::Closed)));
        assert!(matches!(writer.submit(note(2)).await, Err(StoreError::Closed)));
        assert!(notes(&open().unwrap()).is_empty());
    }
}
