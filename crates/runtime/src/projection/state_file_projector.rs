//! Writes state files in the background, so that no caller waits for the disk.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use countersign_protocol::StateFileLayout;
use serde_json::Value;

use super::{ProjectionError, write_state_files};

/// A document, and the layout of its files.
type PendingProjection = (StateFileLayout, Arc<Value>);

/// Writes the newest document that it receives, in its own thread. Of the documents that arrive
/// during a write, only the last one is written; dropping the projector writes that one.
#[derive(Debug)]
pub struct StateFileProjector {
    sender: Option<Sender<PendingProjection>>,
    thread: Option<JoinHandle<()>>,
}

impl StateFileProjector {
    /// Creates a projector for a folder; `failed` receives the errors.
    pub fn new(
        folder: PathBuf,
        failed: impl Fn(ProjectionError) + Send + 'static,
    ) -> io::Result<Self> {
        let (due, documents) = channel();
        let work = move || {
            while let Some((format, document)) = receive_newest(&documents) {
                if let Err(error) = write_state_files(&folder, format, &document) {
                    failed(error);
                }
            }
        };
        let thread = Builder::new().name("state-files".to_owned()).spawn(work)?;
        Ok(Self { sender: Some(due), thread: Some(thread) })
    }

    /// Schedules a document to be written.
    pub fn enqueue(&self, format: StateFileLayout, document: &Arc<Value>) {
        if let Some(due) = &self.sender {
            // The thread ends with its sender, or with a panic that was already reported.
            drop(due.send((format, Arc::clone(document))));
        }
    }
}

impl Drop for StateFileProjector {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Waits for a document, and returns the last one that arrived, or `None` if no more will come.
fn receive_newest(documents: &Receiver<PendingProjection>) -> Option<PendingProjection> {
    let first = documents.recv().ok()?;
    Some(documents.try_iter().last().unwrap_or(first))
}
