//! Telling a worker to stop: once to let it finish what it has in hand, twice to leave at once.

use tokio::sync::watch;

/// How much of a hurry there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WorkerStopLevel {
    /// None.
    Running,
    /// What is in hand may end.
    Graceful,
    /// Nothing may.
    Immediate,
}

/// Tells.
#[derive(Debug, Clone)]
pub struct WorkerStopHandle {
    level: watch::Sender<WorkerStopLevel>,
}

/// Is told.
#[derive(Debug, Clone)]
pub struct WorkerStopSignal {
    level: watch::Receiver<WorkerStopLevel>,
}

impl WorkerStopHandle {
    /// Both ends.
    #[must_use]
    pub fn new() -> (Self, WorkerStopSignal) {
        let (sender, receiver) = watch::channel(WorkerStopLevel::Running);
        (Self { level: sender }, WorkerStopSignal { level: receiver })
    }

    /// The first time: nothing new is taken, and steps under way may end. The second time: at once.
    pub fn stop(&self) {
        self.level.send_modify(|hurry| {
            *hurry = if *hurry == WorkerStopLevel::Running {
                WorkerStopLevel::Graceful
            } else {
                WorkerStopLevel::Immediate
            };
        });
    }
}

impl WorkerStopSignal {
    /// Waits until there is at least so much of a hurry; for ever where nobody can tell any more.
    pub(super) async fn wait_for_level(&self, least: WorkerStopLevel) {
        let mut hurry = self.level.clone();
        if hurry.wait_for(|hurry| *hurry >= least).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
