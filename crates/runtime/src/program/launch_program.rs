//! Starts a program, writes its input, captures its output, and waits for its end.

use std::env;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use thiserror::Error;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::timeout;

use super::CapturedOutput;
use super::find_executable::find_executable;
use super::process_group::ProcessGroup;

/// Maximum captured size of standard output, in bytes.
pub const STDOUT_LIMIT: usize = 1024 * 1024;

/// Maximum captured size of standard error, in bytes.
pub const STDERR_LIMIT: usize = 16 * 1024;

/// How long a process that left its group may keep a pipe open after the program has ended.
const PIPE_DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// A program to start, with its input and limits.
#[derive(Debug, Clone, Copy)]
pub struct ProgramInvocation<'a> {
    /// The executable and its first arguments.
    pub command: &'a [String],
    /// Further arguments, after those of `command`.
    pub args: &'a [String],
    /// The working folder of the process.
    pub working_folder: &'a Path,
    /// Names of environment variables that are passed on.
    pub inherited_env: &'a [String],
    /// Additional environment variables, as name and value.
    pub env: &'a [(&'a str, &'a str)],
    /// Bytes that are written to standard input.
    pub stdin: &'a [u8],
    /// Maximum run time; the program is killed afterwards.
    pub timeout: Duration,
}

/// The output of a program that ended by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramOutput {
    /// Exit status of the program.
    pub status: ExitStatus,
    /// Captured standard output, at most [`STDOUT_LIMIT`] bytes.
    pub stdout: CapturedOutput,
    /// Captured standard error, at most [`STDERR_LIMIT`] bytes.
    pub stderr: CapturedOutput,
}

/// Why a program did not end by itself.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The policy declares an empty command.
    #[error("the command is empty; expected a program")]
    EmptyCommand,
    /// The file does not exist or is not executable.
    #[error("program `{command}` does not exist or is not executable")]
    NotFound {
        /// The command that was not found.
        command: String,
    },
    /// The operating system did not start the program.
    #[error("`{command}` did not start: {source}")]
    NotStarted {
        /// The command that failed to start.
        command: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The program exceeded its time limit and was killed with everything that it started.
    #[error("it was stopped after its time limit of {limit:?}")]
    TimedOut {
        /// The time limit that was exceeded.
        limit: Duration,
        /// Standard error captured until then.
        stderr: CapturedOutput,
    },
    /// The exit status could not be determined.
    #[error("its exit status is unknown: {source}")]
    ExitUnknown {
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Runs a program until it ends. Dropping the future kills the program.
pub async fn launch_program(launch: ProgramInvocation<'_>) -> Result<ProgramOutput, ProgramError> {
    launch_program_with_limit(launch, STDOUT_LIMIT).await
}

/// Runs a program until it ends, and captures at most `stdout_limit` bytes of its standard output
/// instead of [`STDOUT_LIMIT`].
pub async fn launch_program_with_limit(
    launch: ProgramInvocation<'_>,
    stdout_limit: usize,
) -> Result<ProgramOutput, ProgramError> {
    let child = spawn_child(&launch)?;
    supervise_child(child, launch.stdin, launch.timeout, stdout_limit).await
}

/// Starts the process of a program, as the leader of its own group.
pub(super) fn spawn_child(launch: &ProgramInvocation<'_>) -> Result<Child, ProgramError> {
    let (name, first) = launch.command.split_first().ok_or(ProgramError::EmptyCommand)?;
    let file = find_executable(name, launch.working_folder)
        .ok_or_else(|| ProgramError::NotFound { command: name.clone() })?;
    let mut command = Command::new(file);
    command
        .args(first)
        .args(launch.args)
        .current_dir(launch.working_folder)
        .env_clear()
        .envs(launch.inherited_env.iter().filter_map(|name| Some((name, env::var_os(name)?))))
        .envs(launch.env.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    command.spawn().map_err(|source| ProgramError::NotStarted { command: name.clone(), source })
}

async fn supervise_child(
    mut child: Child,
    input: &[u8],
    limit: Duration,
    stdout_limit: usize,
) -> Result<ProgramOutput, ProgramError> {
    let mut group = ProcessGroup::from_child(&child);
    let (mut stdout, mut stderr) = (CapturedOutput::default(), CapturedOutput::default());
    let (input_pipe, stdout_pipe, stderr_pipe) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let in_time = {
        let talk = async {
            tokio::join!(
                write_stdin(input_pipe, input),
                stdout.drain(stdout_pipe, stdout_limit),
                stderr.drain(stderr_pipe, STDERR_LIMIT),
            )
        };
        tokio::pin!(talk);
        let mut talked = false;
        let ended = async {
            let leader = wait_for_leader(&group, &mut child);
            tokio::pin!(leader);
            loop {
                tokio::select! {
                    () = &mut leader => break,
                    // Read the pipes while the program runs, or it would block forever on a full
                    // pipe.
                    _ = &mut talk, if !talked => talked = true,
                }
            }
        };
        let in_time = timeout(limit, ended).await.is_ok();
        group.kill();
        if !talked {
            // The pipes close with the group, unless a process left it; do not wait for that one.
            drop(timeout(PIPE_DRAIN_TIMEOUT, talk).await);
        }
        in_time
    };
    if !in_time {
        // On platforms without process groups this kills the program; elsewhere it has already
        // ended.
        drop(child.start_kill());
    }
    let status = child.wait().await.map_err(|source| ProgramError::ExitUnknown { source })?;
    if in_time {
        Ok(ProgramOutput { status, stdout, stderr })
    } else {
        Err(ProgramError::TimedOut { limit, stderr })
    }
}

#[cfg(unix)]
async fn wait_for_leader(group: &ProcessGroup, _child: &mut Child) {
    group.wait_for_leader().await;
}

#[cfg(not(unix))]
async fn wait_for_leader(_group: &ProcessGroup, child: &mut Child) {
    drop(child.wait().await);
}

async fn write_stdin(pipe: Option<ChildStdin>, input: &[u8]) {
    let Some(mut pipe) = pipe else { return };
    // A program need not read its input.
    drop(pipe.write_all(input).await);
    drop(pipe.shutdown().await);
}
