//! Programs: the only module that starts processes.
//!
//! A program runs without a shell, with an empty environment except for named variables, and with a
//! time limit or, as a [`ServiceProcess`], for as long as it is used. When it ends, everything that it
//! started is killed.

mod captured_output;
mod process_group;
mod find_executable;
mod launch_program;
mod service_process;

pub use captured_output::CapturedOutput;
pub use launch_program::{
    ProgramError, ProgramInvocation, ProgramOutput, STDERR_LIMIT, STDOUT_LIMIT, launch_program,
    launch_program_with_limit,
};
pub use service_process::ServiceProcess;
