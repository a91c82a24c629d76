//! Taking the words out of runs that ended long ago. Their hashes stay, and the states that others began from.
//!
//! ```text
//! plan: every run ──► which go ──► what they say of bytes, who forked them, whose children they are
//! prune: chain proved ──► sealed ──► bodies, snapshots, bytes out, in one commit of the store
//! ```
//!
//! A run is not pruned where its chain does not hold, where it has something left to do, where a run that goes on waits
//! for it, or where it has gone on since it was planned.

mod prune_plan;
mod prune_runs;
mod log_seal;

pub(crate) use log_seal::compute_seal;
pub use prune_plan::{PruneCandidate, PruneCriteria, PrunePlan, plan_prune};
pub use prune_runs::{PruneOutcome, prune_runs};
