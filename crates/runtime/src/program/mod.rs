//! Programs: the one place that starts processes.
//!
//! No shell, an empty environment but for what is named, a time limit, and an end for everything
//! the program started.

mod captured;
mod group;
mod lookup;
mod launch;

pub use captured::Captured;
pub use launch::{Finished, Launch, ProgramError, STDERR_LIMIT, STDOUT_LIMIT, launch};
