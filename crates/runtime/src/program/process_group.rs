//! Ends a program together with everything that it started.

/// The process group of a program. Dropping it kills all processes that still run.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl ProcessGroup {
    /// Returns the group that a newly started child leads.
    pub(super) fn from_child(child: &tokio::process::Child) -> Self {
        let number = child.id().and_then(|id| i32::try_from(id).ok());
        Self { leader: number.and_then(rustix::process::Pid::from_raw) }
    }

    /// Waits until the leader has ended, without reaping it.
    ///
    /// Until the leader is reaped, the system does not reuse its process id, which is also the
    /// group id.
    pub(super) async fn wait_for_leader(&self) {
        use rustix::io::Errno;
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let Some(leader) = self.leader else { return };
        let wait = move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(leader), options), Err(Errno::INTR)) {}
        };
        // This fails only when the runtime shuts down; then dropping the group kills it.
        drop(tokio::task::spawn_blocking(wait).await);
    }

    /// Kills the whole group. It must be called before the leader is reaped, never after.
    pub(super) fn kill(&mut self) {
        if let Some(leader) = self.leader.take() {
            // An error means that no process is left.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

/// Without process groups, only the program itself is killed: by tokio, when its handle is dropped.
#[cfg(not(unix))]
impl ProcessGroup {
    pub(super) fn from_child(_child: &tokio::process::Child) -> Self {
        Self {}
    }

    pub(super) fn kill(&mut self) {}
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
