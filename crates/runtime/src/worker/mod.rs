//! A worker: takes runs that are due, as many as it has hands, and drives each under its lease.
//!
//! ```text
//!          ┌── hint ── poll ── a run came to rest ──┐
//!          ▼                                        │
//!   take(due, in turn, within limits) ──► drive under a lease ──► rest (or lost, or given back)
//! ```
//!
//! Any number of them share a store and know nothing of each other. What decides is the store: a lease
//! that ran out is another's, and a commit under it is refused. Not here: how a run is worked on
//! (`driver`), and who is told what in which words (the caller, by [`WorkerObserver`]).

mod worker_config;
mod worker_event;
mod worker_stop;
mod worker_backoff;
mod driver_provider;
mod worker;

pub use driver_provider::DriverProvider;
pub use worker::{Worker, WorkerExitPolicy};
pub use worker_config::WorkerConfig;
pub use worker_event::{NoopWorkerObserver, WorkerEvent, WorkerObserver};
pub use worker_stop::{WorkerStopHandle, WorkerStopSignal};
