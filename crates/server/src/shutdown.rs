//! The word that the server is to end, for everything that would go on otherwise.

use tokio::sync::watch;

/// Says that the server is to end.
#[derive(Debug)]
pub struct ShutdownTrigger(watch::Sender<bool>);

/// Hears that the server is to end.
#[derive(Debug, Clone)]
pub struct ShutdownSignal(watch::Receiver<bool>);

impl ShutdownTrigger {
    /// The word, and an ear for it.
    #[must_use]
    pub fn new() -> (Self, ShutdownSignal) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), ShutdownSignal(receiver))
    }

    /// Says it.
    pub fn trigger(&self) {
        self.0.send_replace(true);
    }
}

impl ShutdownSignal {
    /// Whether it was said.
    #[must_use]
    pub fn is_triggered(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is said, or until nobody is left who could.
    pub async fn wait(&mut self) {
        // A sender that is gone cannot say it any more, and then there is nothing to go on for.
        drop(self.0.wait_for(|said| *said).await);
    }
}
