//! A worker leases due runs, up to its capacity, and drives each under its lease.
//!
//! ```text
//!          ┌── wake ── poll ── a run became idle ───┐
//!          ▼                                        │
//!   acquire_due_runs(in turn, within limits) ──► drive under a lease ──► idle (lost, released)
//! ```
//!
//! Any number of workers share a store and know nothing of each other. The store decides: an
//! expired lease goes to another worker, and a commit under it is refused. The `driver` works on a
//! run, and the caller formats notifications with a [`WorkerObserver`].

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
