//! What a worker tells whoever started it. It changes nothing.

use countersign_store::RunId;

use crate::driver::IdleReason;

/// Something that happened to a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerEvent {
    /// It began.
    Started,
    /// It took a run.
    RunTaken(RunId),
    /// A run came to rest.
    RunIdle(RunId, IdleReason),
    /// A run was lost to another worker: the lease ran out. Nothing was kept after that.
    LeaseLost(RunId),
    /// A run cannot be worked on. It is looked at again in a while.
    RunFailed(RunId, String),
    /// The store cannot be reached; told once.
    StoreUnavailable(String),
    /// The store is back, after so many milliseconds.
    StoreRecovered(i64),
    /// It was told to stop, with so many runs under way.
    Stopping(usize),
    /// It has stopped; so many runs were given back in the middle of a step.
    Stopped(usize),
}

/// Hears the news.
pub trait WorkerObserver: Send + Sync {
    /// Something happened.
    fn on_event(&self, news: WorkerEvent);
}

/// Hears nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopWorkerObserver;

impl WorkerObserver for NoopWorkerObserver {
    fn on_event(&self, _: WorkerEvent) {}
}
