//! Hints that something may be due. A hint may be lost, late or false without harm:
//! [`LeaseStore::acquire_due_runs`](crate::LeaseStore::acquire_due_runs) finds what is due. A worker that
//! relies on hints alone may wait forever.

use tokio::sync::watch;

/// Sends a hint when something may be due; hints that arrive before a listener wakes up are merged
/// into one. A store has one, and returns its listeners from
/// [`LeaseStore::subscribe_wakes`](crate::LeaseStore::subscribe_wakes).
#[derive(Debug)]
pub struct WakeNotifier {
    sender: watch::Sender<()>,
}

impl Default for WakeNotifier {
    fn default() -> Self {
        Self { sender: watch::Sender::new(()) }
    }
}

impl WakeNotifier {
    /// Notifies all listeners.
    pub fn notify(&self) {
        self.sender.send_replace(());
    }

    /// Creates a listener for hints from now on.
    #[must_use]
    pub fn subscribe(&self) -> WakeListener {
        WakeListener { receiver: self.sender.subscribe() }
    }
}

/// Receives wake hints, one after the other.
#[derive(Debug)]
pub struct WakeListener {
    receiver: watch::Receiver<()>,
}

impl WakeListener {
    /// Waits for the next hint; waits forever once the store is closed. The future may be dropped
    /// at any time.
    pub async fn wait_for_wake(&mut self) {
        if self.receiver.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
