//! Hints that something may be due. They are lost, late or false without harm: what is due is found by
//! [`Store::take`](crate::Store::take), and whoever relies on hints alone waits for ever.

use tokio::sync::watch;

/// Rings when something may be due; many rings before anybody listens are one.
#[derive(Debug)]
pub(crate) struct WakeNotifier {
    sender: watch::Sender<()>,
}

impl Default for WakeNotifier {
    fn default() -> Self {
        Self { sender: watch::Sender::new(()) }
    }
}

impl WakeNotifier {
    /// Tells all who listen.
    pub(crate) fn notify(&self) {
        self.sender.send_replace(());
    }

    /// Listens from now on.
    pub(crate) fn subscribe(&self) -> WakeListener {
        WakeListener { receiver: self.sender.subscribe() }
    }
}

/// Hints, one after the other.
#[derive(Debug)]
pub struct WakeListener {
    receiver: watch::Receiver<()>,
}

impl WakeListener {
    /// Waits for the next hint; for ever once the store is closed. May be dropped at any moment.
    pub async fn wait_for_wake(&mut self) {
        if self.receiver.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
