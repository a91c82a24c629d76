//! Notifications that a worker sends to its caller. They change nothing.

use countersign_store::RunId;

use crate::driver::IdleReason;

/// A notification about a worker or its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerEvent {
    /// The worker started.
    Started,
    /// The worker leased a run.
    RunTaken(RunId),
    /// A run became idle for this reason.
    RunIdle(RunId, IdleReason),
    /// Another worker has the run, because the lease expired. Nothing was committed after that.
    LeaseLost(RunId),
    /// The run cannot be processed, for this reason. It is tried again later.
    RunFailed(RunId, String),
    /// The store cannot be reached, for this reason; reported once per outage.
    StoreUnavailable(String),
    /// The store is reachable again, after this many milliseconds.
    StoreRecovered(i64),
    /// The worker was asked to stop, with this many runs in progress.
    Stopping(usize),
    /// The worker has stopped; this many runs were released in the middle of a step.
    Stopped(usize),
}

/// Receives the notifications of a worker.
pub trait WorkerObserver: Send + Sync {
    /// Called for each notification.
    fn on_event(&self, news: WorkerEvent);
}

/// An observer that ignores every notification.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopWorkerObserver;

impl WorkerObserver for NoopWorkerObserver {
    fn on_event(&self, _: WorkerEvent) {}
}
