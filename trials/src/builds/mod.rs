//! The builds trial: composes packets while their memory changes, rebuilds them from the stored
//! builds, and compares them byte for byte.
//!
//! ```text
//! MemorySimulation: random changes ─► candidates ─► compose ─► store build   as a user does
//! reopen ─► load build ─► recompose ─► the same bytes?                       after a restart
//! VACUUM, reopen ─► load build ─► recompose ─► the same bytes?               after VACUUM
//! ```
mod memory_simulation;
mod builds_trial;

pub(crate) use builds_trial::{BuildsTrialArgs, run};
