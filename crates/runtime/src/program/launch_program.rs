//! Starts a program, feeds it, listens to it, and sees to its end.

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

/// How much of standard output is kept.
pub const STDOUT_LIMIT: usize = 1024 * 1024;

/// How much of standard error is kept.
pub const STDERR_LIMIT: usize = 16 * 1024;

/// How long a process that left its group may hold a pipe open after the program has ended.
const PIPE_DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// A program to be started.
#[derive(Debug, Clone, Copy)]
pub struct ProgramInvocation<'a> {
    /// The file and its first arguments.
    pub command: &'a [String],
    /// Arguments behind those.
    pub args: &'a [String],
    /// The folder it works in.
    pub working_folder: &'a Path,
    /// Variables of our environment that it may see, by name.
    pub inherited_env: &'a [String],
    /// Variables that it gets from us.
    pub env: &'a [(&'a str, &'a str)],
    /// What it gets on standard input.
    pub stdin: &'a [u8],
    /// How long it may take.
    pub timeout: Duration,
}

/// A program that has ended by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramOutput {
    /// How it ended.
    pub status: ExitStatus,
    /// What it wrote to standard output.
    pub stdout: CapturedOutput,
    /// What it wrote to standard error.
    pub stderr: CapturedOutput,
}

/// Why a program did not come to its own end.
#[derive(Debug, Error)]
pub enum ProgramError {
    /// The policy declares no command.
    #[error("the command is empty, and a file was expected")]
    EmptyCommand,
    /// There is no such file, or it may not be run.
    #[error("no program `{command}` is there to run")]
    NotFound {
        /// What was looked for.
        command: String,
    },
    /// The system did not start it.
    #[error("`{command}` did not start: {source}")]
    NotStarted {
        /// The file.
        command: String,
        /// Its own words.
        source: io::Error,
    },
    /// It took too long, and was ended with all it had started.
    #[error("it was ended after {limit:?}, its time limit")]
    TimedOut {
        /// The limit.
        limit: Duration,
        /// What it had written to standard error until then.
        stderr: CapturedOutput,
    },
    /// How it ended is not known.
    #[error("its end was not seen: {source}")]
    ExitUnknown {
        /// The system's words.
        source: io::Error,
    },
}

/// Runs a program to its end. Dropping the future ends the program.
pub async fn launch_program(launch: ProgramInvocation<'_>) -> Result<ProgramOutput, ProgramError> {
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
    let child = command
        .spawn()
        .map_err(|source| ProgramError::NotStarted { command: name.clone(), source })?;
    supervise_child(child, launch.stdin, launch.timeout).await
}

async fn supervise_child(
    mut child: Child,
    input: &[u8],
    limit: Duration,
) -> Result<ProgramOutput, ProgramError> {
    let mut group = ProcessGroup::from_child(&child);
    let (mut stdout, mut stderr) = (CapturedOutput::default(), CapturedOutput::default());
    let (input_pipe, stdout_pipe, stderr_pipe) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let in_time = {
        let talk = async {
            tokio::join!(
                write_stdin(input_pipe, input),
                stdout.drain(stdout_pipe, STDOUT_LIMIT),
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
                    // The pipes must be read while it runs, or it would wait for us for ever.
                    _ = &mut talk, if !talked => talked = true,
                }
            }
        };
        let in_time = timeout(limit, ended).await.is_ok();
        group.kill();
        if !talked {
            // With the group gone the pipes close, unless somebody left it: then we do not wait.
            drop(timeout(PIPE_DRAIN_TIMEOUT, talk).await);
        }
        in_time
    };
    if !in_time {
        // Where there are no groups, this is what ends it; elsewhere it has ended already.
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
async fn leader_ended(_group: &ProcessGroup, child: &mut Child) {
    drop(child.wait().await);
}

async fn write_stdin(pipe: Option<ChildStdin>, input: &[u8]) {
    let Some(mut pipe) = pipe else { return };
    // A program that does not read its input is free not to.
    drop(pipe.write_all(input).await);
    drop(pipe.shutdown().await);
}
