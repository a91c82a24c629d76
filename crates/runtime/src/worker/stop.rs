//! Telling a worker to stop: once to let it finish what it has in hand, twice to leave at once.

use tokio::sync::watch;

/// How much of a hurry there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hurry {
    /// None.
    Goes,
    /// What is in hand may end.
    Ends,
    /// Nothing may.
    Leaves,
}

/// Tells.
#[derive(Debug, Clone)]
pub struct Stopper {
    hurry: watch::Sender<Hurry>,
}

/// Is told.
#[derive(Debug, Clone)]
pub struct Stop {
    hurry: watch::Receiver<Hurry>,
}

impl Stopper {
    /// Both ends.
    #[must_use]
    pub fn new() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(Hurry::Goes);
        (Self { hurry: sender }, Stop { hurry: receiver })
    }

    /// The first time: nothing new is taken, and steps under way may end. The second time: at once.
    pub fn stop(&self) {
        self.hurry.send_modify(|hurry| {
            *hurry = if *hurry == Hurry::Goes { Hurry::Ends } else { Hurry::Leaves };
        });
    }
}

impl Stop {
    /// Waits until there is at least so much of a hurry; for ever where nobody can tell any more.
    pub(super) async fn reaches(&self, least: Hurry) {
        let mut hurry = self.hurry.clone();
        if hurry.wait_for(|hurry| *hurry >= least).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
