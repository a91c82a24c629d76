//! Stop requests for a worker: the first lets it finish its current work, the second stops it
//! immediately.

use tokio::sync::watch;

/// The urgency of a stop request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WorkerStopLevel {
    /// No stop is requested.
    Running,
    /// Running steps may finish.
    Graceful,
    /// Nothing may finish.
    Immediate,
}

/// The sending end of a stop request.
#[derive(Debug, Clone)]
pub struct WorkerStopHandle {
    level: watch::Sender<WorkerStopLevel>,
}

/// The receiving end of a stop request.
#[derive(Debug, Clone)]
pub struct WorkerStopSignal {
    level: watch::Receiver<WorkerStopLevel>,
}

impl WorkerStopHandle {
    /// Creates both ends.
    #[must_use]
    pub fn new() -> (Self, WorkerStopSignal) {
        let (sender, receiver) = watch::channel(WorkerStopLevel::Running);
        (Self { level: sender }, WorkerStopSignal { level: receiver })
    }

    /// Requests a stop. After the first call, the worker leases no more runs and running steps may
    /// finish; the second call stops it immediately.
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
    /// Waits until the level is at least `least`; waits forever if the handle was dropped.
    pub(super) async fn wait_for_level(&self, least: WorkerStopLevel) {
        let mut hurry = self.level.clone();
        if hurry.wait_for(|hurry| *hurry >= least).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
