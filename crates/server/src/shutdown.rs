//! The shutdown signal of the server, for all tasks that would otherwise run forever.

use tokio::sync::watch;

/// Triggers the shutdown of the server.
#[derive(Debug)]
pub struct ShutdownTrigger(watch::Sender<bool>);

/// Receives the shutdown signal; clone it for every task.
#[derive(Debug, Clone)]
pub struct ShutdownSignal(watch::Receiver<bool>);

impl ShutdownTrigger {
    /// Creates a trigger and its signal.
    #[must_use]
    pub fn new() -> (Self, ShutdownSignal) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), ShutdownSignal(receiver))
    }

    /// Triggers the shutdown; later calls have no effect.
    pub fn trigger(&self) {
        self.0.send_replace(true);
    }
}

impl ShutdownSignal {
    /// Whether the shutdown was triggered.
    #[must_use]
    pub fn is_triggered(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the shutdown is triggered, or until the trigger is dropped.
    pub async fn wait(&mut self) {
        // A dropped trigger cannot signal any more, so it counts as a shutdown.
        drop(self.0.wait_for(|said| *said).await);
    }
}
