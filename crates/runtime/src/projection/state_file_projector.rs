//! Writes state files beside the work: nobody waits for a disk because of them.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use countersign_core::protocol::StateFileLayout;
use serde_json::Value;

use super::{ProjectionError, write_state_files};

/// A document, and how its files are laid out.
type PendingProjection = (StateFileLayout, Arc<Value>);

/// Writes the newest document that it is given, in a thread of its own. Those that come while it writes are
/// passed over but for the last; dropping it writes that one.
#[derive(Debug)]
pub struct StateFileProjector {
    sender: Option<Sender<PendingProjection>>,
    thread: Option<JoinHandle<()>>,
}

impl StateFileProjector {
    /// Writes into a folder; `failed` is told what could not be written.
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

    /// The files are to show this document.
    pub fn enqueue(&self, format: StateFileLayout, document: &Arc<Value>) {
        if let Some(due) = &self.sender {
            // The thread ends with its sender, or by a panic that was told already.
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

/// Waits for a document, and takes the last of those that came; `Empty` where no more will come.
fn receive_newest(documents: &Receiver<PendingProjection>) -> Option<PendingProjection> {
    let first = documents.recv().ok()?;
    Some(documents.try_iter().last().unwrap_or(first))
}
