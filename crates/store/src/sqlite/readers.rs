//! A few threads that read, each on a connection of its own. Reads wait neither for the writer nor
//! for each other, and see what is on the disk.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use crate::StoreError;

type Question = Box<dyn FnOnce(&mut Connection) + Send>;

/// Handles to the reading threads. Dropping it ends them.
#[derive(Debug)]
pub(super) struct Readers {
    desk: Arc<Desk>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    /// Starts a thread for each connection.
    pub(super) fn start(connections: Vec<Connection>) -> std::io::Result<Self> {
        let mut readers = Self { desk: Arc::default(), threads: Vec::new() };
        for mut db in connections {
            let desk = Arc::clone(&readers.desk);
            let work = move || {
                while let Some(question) = desk.take() {
                    question(&mut db);
                }
            };
            let thread = thread::Builder::new().name("store-reader".to_owned()).spawn(work)?;
            readers.threads.push(thread);
        }
        Ok(readers)
    }

    /// Answers a question from one consistent view of the file.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.desk.put(Box::new(move |db| {
            // Whoever asked may have gone.
            let _ = reply.send(view(db, question));
        }));
        answer.await.unwrap_or(Err(StoreError::Closed))
    }
}

fn view<T>(
    db: &mut Connection,
    question: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let view = db.transaction_with_behavior(TransactionBehavior::Deferred)?;
    question(&view)
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.desk.close();
        for thread in self.threads.drain(..) {
            // A panic of that thread was told already to whoever waited for it.
            let _ = thread.join();
        }
    }
}

/// Where questions wait for a thread.
#[derive(Default)]
struct Desk {
    state: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Default)]
struct Waiting {
    questions: VecDeque<Question>,
    closed: bool,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, question: Question) {
        self.lock().questions.push_back(question);
        self.arrived.notify_one();
    }

    /// The next question; `None` once the desk is closed and empty.
    fn take(&self) -> Option<Question> {
        let mut waiting = self.lock();
        loop {
            if let Some(question) = waiting.questions.pop_front() {
                return Some(question);
            }
            if waiting.closed {
                return None;
            }
            waiting = self.arrived.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_all();
    }
}
