//! Hints that something may be due. They are lost, late or false without harm: what is due is found by
//! [`Store::take`](crate::Store::take), and whoever relies on hints alone waits for ever.

use tokio::sync::watch;

/// Rings when something may be due; many rings before anybody listens are one.
#[derive(Debug)]
pub(crate) struct Bell {
    rung: watch::Sender<()>,
}

impl Default for Bell {
    fn default() -> Self {
        Self { rung: watch::Sender::new(()) }
    }
}

impl Bell {
    /// Tells all who listen.
    pub(crate) fn ring(&self) {
        self.rung.send_replace(());
    }

    /// Listens from now on.
    pub(crate) fn listen(&self) -> Wakes {
        Wakes { rung: self.rung.subscribe() }
    }
}

/// Hints, one after the other.
#[derive(Debug)]
pub struct Wakes {
    rung: watch::Receiver<()>,
}

impl Wakes {
    /// Waits for the next hint; for ever once the store is closed. May be dropped at any moment.
    pub async fn next(&mut self) {
        if self.rung.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
