//! Programs: the one place that starts processes.
//!
//! No shell, an empty environment but for what is named, a time limit, and an end for everything
//! the program started.

mod captured_output;
mod process_group;
mod find_executable;
mod launch_program;

pub use captured_output::CapturedOutput;
pub use launch_program::{
    ProgramError, ProgramInvocation, ProgramOutput, STDERR_LIMIT, STDOUT_LIMIT, launch_program,
};
