//! A program that runs while it is used, and answers on its standard output.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;

use super::launch_program::spawn_child;
use super::process_group::ProcessGroup;
use super::{ProgramError, ProgramInvocation, STDERR_LIMIT};

/// A running program. Dropping it kills the program and everything that it started.
#[derive(Debug)]
pub struct ServiceProcess {
    // The group is dropped before the child: it must be killed before its leader is reaped.
    group: ProcessGroup,
    child: Child,
    stderr: Arc<Mutex<Vec<u8>>>,
    drain: JoinHandle<()>,
}

impl ServiceProcess {
    /// Starts a program without a time limit, and returns it with its standard input and output.
    /// `stdin` and `timeout` of the invocation are ignored.
    pub fn start(
        launch: &ProgramInvocation<'_>,
    ) -> Result<(Self, ChildStdin, ChildStdout), ProgramError> {
        let mut child = spawn_child(launch)?;
        let group = ProcessGroup::from_child(&child);
        let stdin = child.stdin.take().expect("standard input is a pipe");
        let stdout = child.stdout.take().expect("standard output is a pipe");
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let drain = tokio::spawn(drain_stderr(child.stderr.take(), Arc::clone(&stderr)));
        Ok((Self { group, child, stderr, drain }, stdin, stdout))
    }

    /// Returns what the program wrote to standard error, up to [`STDERR_LIMIT`] bytes.
    #[must_use]
    pub fn read_stderr(&self) -> String {
        let bytes = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns the process id of the program; `None` if it has ended.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }
}

impl Drop for ServiceProcess {
    fn drop(&mut self) {
        self.group.kill();
        self.drain.abort();
    }
}

/// Reads standard error to its end and keeps its beginning, so that a full pipe does not block the
/// program.
async fn drain_stderr(stream: Option<ChildStderr>, kept: Arc<Mutex<Vec<u8>>>) {
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; 4 * 1024];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let free = STDERR_LIMIT - kept.len();
        kept.extend_from_slice(&buffer[..count.min(free)]);
    }
}
