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

use super::Captured;
use super::group::Group;
use super::lookup::lookup;

/// How much of standard output is kept.
pub const STDOUT_LIMIT: usize = 1024 * 1024;

/// How much of standard error is kept.
pub const STDERR_LIMIT: usize = 16 * 1024;

/// How long a process that left its group may hold a pipe open after the program has ended.
const AFTER: Duration = Duration::from_millis(500);

/// A program to be started.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// The file and its first arguments.
    pub command: &'a [String],
    /// Arguments behind those.
    pub args: &'a [String],
    /// The folder it works in.
    pub folder: &'a Path,
    /// Variables of our environment that it may see, by name.
    pub inherits: &'a [String],
    /// Variables that it gets from us.
    pub variables: &'a [(&'a str, &'a str)],
    /// What it gets on standard input.
    pub input: &'a [u8],
    /// How long it may take.
    pub limit: Duration,
}

/// A program that has ended by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// What it wrote to standard output.
    pub stdout: Captured,
    /// What it wrote to standard error.
    pub stderr: Captured,
}

/// Why a program did not come to its own end.
#[derive(Debug, Error)]
pub enum ProgramError {
    /// The policy declares no command.
    #[error("the command is empty, and a file was expected")]
    Empty,
    /// There is no such file, or it may not be run.
    #[error("no program `{command}` is there to run")]
    Missing {
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
        stderr: Captured,
    },
    /// How it ended is not known.
    #[error("its end was not seen: {source}")]
    Lost {
        /// The system's words.
        source: io::Error,
    },
}

/// Runs a program to its end. Dropping the future ends the program.
pub async fn launch(launch: Launch<'_>) -> Result<Finished, ProgramError> {
    let (name, first) = launch.command.split_first().ok_or(ProgramError::Empty)?;
    let file = lookup(name, launch.folder)
        .ok_or_else(|| ProgramError::Missing { command: name.clone() })?;
    let mut command = Command::new(file);
    command
        .args(first)
        .args(launch.args)
        .current_dir(launch.folder)
        .env_clear()
        .envs(launch.inherits.iter().filter_map(|name| Some((name, env::var_os(name)?))))
        .envs(launch.variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let child = command
        .spawn()
        .map_err(|source| ProgramError::NotStarted { command: name.clone(), source })?;
    see_through(child, launch.input, launch.limit).await
}

async fn see_through(
    mut child: Child,
    input: &[u8],
    limit: Duration,
) -> Result<Finished, ProgramError> {
    let mut group = Group::led_by(&child);
    let (mut stdout, mut stderr) = (Captured::default(), Captured::default());
    let (input_pipe, stdout_pipe, stderr_pipe) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let in_time = {
        let talk = async {
            tokio::join!(
                feed(input_pipe, input),
                stdout.drain(stdout_pipe, STDOUT_LIMIT),
                stderr.drain(stderr_pipe, STDERR_LIMIT),
            )
        };
        tokio::pin!(talk);
        let mut talked = false;
        let ended = async {
            let leader = leader_ended(&group, &mut child);
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
        group.end();
        if !talked {
            // With the group gone the pipes close, unless somebody left it: then we do not wait.
            drop(timeout(AFTER, talk).await);
        }
        in_time
    };
    if !in_time {
        // Where there are no groups, this is what ends it; elsewhere it has ended already.
        drop(child.start_kill());
    }
    let status = child.wait().await.map_err(|source| ProgramError::Lost { source })?;
    if in_time {
        Ok(Finished { status, stdout, stderr })
    } else {
        Err(ProgramError::TimedOut { limit, stderr })
    }
}

#[cfg(unix)]
async fn leader_ended(group: &Group, _child: &mut Child) {
    group.leader_ended().await;
}

#[cfg(not(unix))]
async fn leader_ended(_group: &Group, child: &mut Child) {
    drop(child.wait().await);
}

async fn feed(pipe: Option<ChildStdin>, input: &[u8]) {
    let Some(mut pipe) = pipe else { return };
    // A program that does not read its input is free not to.
    drop(pipe.write_all(input).await);
    drop(pipe.shutdown().await);
}
