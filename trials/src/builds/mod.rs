//! The trial of builds: packets that were composed while their memory lived on, composed again from what
//! was kept of them, and compared byte for byte.
//!
//! ```text
//! Life: rows by chance, changing ─► found ─► compose ─► keep_build      (as a user does)
//! opened anew ─► build ─► again ─► the same bytes?                      after a restart
//! VACUUM, opened anew ─► build ─► again ─► the same bytes?              after VACUUM
//! ```
mod memory_simulation;
mod builds_trial;

pub(crate) use builds_trial::{BuildsTrialArgs, run};
