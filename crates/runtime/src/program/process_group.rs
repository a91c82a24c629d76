//! A program and everything it started, ended together.

/// The process group of a program. Dropping it ends whatever of it still runs.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl ProcessGroup {
    /// The group that a just started child leads.
    pub(super) fn from_child(child: &tokio::process::Child) -> Self {
        let number = child.id().and_then(|id| i32::try_from(id).ok());
        Self { leader: number.and_then(rustix::process::Pid::from_raw) }
    }

    /// Waits until the leader has ended, and leaves it to be collected.
    ///
    /// As long as nobody collected it, its number, and so the group's, belongs to nobody else.
    pub(super) async fn wait_for_leader(&self) {
        use rustix::io::Errno;
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let Some(leader) = self.leader else { return };
        let wait = move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(leader), options), Err(Errno::INTR)) {}
        };
        // The only way to fail is a runtime that shuts down; then the drop below ends the group.
        drop(tokio::task::spawn_blocking(wait).await);
    }

    /// Ends all of it at once. Called before the leader is collected, never after.
    pub(super) fn kill(&mut self) {
        if let Some(leader) = self.leader.take() {
            // An error means that nobody is left.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

/// Without process groups, only the program itself is ended: by tokio, when its handle is dropped.
#[cfg(not(unix))]
impl ProcessGroup {
    pub(super) fn led_by(_child: &tokio::process::Child) -> Self {
        Self {}
    }

    pub(super) fn end(&mut self) {}
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
