//! A few reader threads, each with its own connection. Reads wait neither for the writer nor for
//! each other, and see what is committed.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use crate::StoreError;

type SqliteReadJob = Box<dyn FnOnce(&mut Connection) + Send>;

/// Handles to the reader threads. Dropping it ends them.
#[derive(Debug)]
pub(super) struct SqliteReaderPool {
    queue: Arc<SqliteReadQueue>,
    threads: Vec<JoinHandle<()>>,
}

impl SqliteReaderPool {
    /// Starts a thread for each connection.
    pub(super) fn start_threads(connections: Vec<Connection>) -> std::io::Result<Self> {
        let mut readers = Self { queue: Arc::default(), threads: Vec::new() };
        for mut db in connections {
            let desk = Arc::clone(&readers.queue);
            let work = move || {
                while let Some(question) = desk.take_job() {
                    question(&mut db);
                }
            };
            let thread = thread::Builder::new().name("store-reader".to_owned()).spawn(work)?;
            readers.threads.push(thread);
        }
        Ok(readers)
    }

    /// Runs a query in one consistent snapshot of the file.
    pub(super) async fn run_query<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.queue.push_job(Box::new(move |db| {
            // The caller may be gone.
            let _ = reply.send(query_in_transaction(db, question));
        }));
        answer.await.unwrap_or(Err(StoreError::Closed))
    }
}

fn query_in_transaction<T>(
    db: &mut Connection,
    question: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let view = db.transaction_with_behavior(TransactionBehavior::Deferred)?;
    question(&view)
}

impl Drop for SqliteReaderPool {
    fn drop(&mut self) {
        self.queue.close();
        for thread in self.threads.drain(..) {
            // The caller that waited for the thread has already learned of its panic.
            let _ = thread.join();
        }
    }
}

/// Queries that wait for a thread.
#[derive(Default)]
struct SqliteReadQueue {
    state: Mutex<SqliteReadQueueState>,
    job_arrived: Condvar,
}

#[derive(Default)]
struct SqliteReadQueueState {
    jobs: VecDeque<SqliteReadJob>,
    closed: bool,
}

impl std::fmt::Debug for SqliteReadQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteReadQueue").finish_non_exhaustive()
    }
}

impl SqliteReadQueue {
    fn lock_state(&self) -> MutexGuard<'_, SqliteReadQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push_job(&self, question: SqliteReadJob) {
        self.lock_state().jobs.push_back(question);
        self.job_arrived.notify_one();
    }

    /// Returns the next query; `None` once the queue is closed and empty.
    fn take_job(&self) -> Option<SqliteReadJob> {
        let mut waiting = self.lock_state();
        loop {
            if let Some(question) = waiting.jobs.pop_front() {
                return Some(question);
            }
            if waiting.closed {
                return None;
            }
            waiting = self.job_arrived.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&self) {
        self.lock_state().closed = true;
        self.job_arrived.notify_all();
    }
}
