//! Prunes the content of runs that ended long ago. Their hashes stay, and so do the states that
//! other runs were forked from.
//!
//! ```text
//! plan: all runs ──► which to prune ──► their blobs, their forks, their parents
//! prune: chain verified ──► sealed ──► bodies, snapshots, blobs removed, in one store commit
//! ```
//!
//! A run is not pruned if its chain does not verify, if it has pending actions, if a running run
//! waits for it, or if it has changed since it was planned.

mod prune_plan;
mod prune_runs;
mod log_seal;

pub(crate) use log_seal::compute_seal;
pub use prune_plan::{PruneCandidate, PruneCriteria, PrunePlan, plan_prune};
pub use prune_runs::{PruneOutcome, prune_runs};
