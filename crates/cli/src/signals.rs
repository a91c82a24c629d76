//! The signals that ask this process to stop: Ctrl-C, and termination by a supervisor.

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC, ctrl_c};

/// Receives signals from the time it is created, even if `recv` is called later. Therefore it is
/// created before the user is told how to stop the process. A signal that cannot be handled stops
/// the process directly.
pub(crate) struct TerminationSignals {
    #[cfg(unix)]
    interrupt: Option<Signal>,
    #[cfg(unix)]
    terminate: Option<Signal>,
    #[cfg(windows)]
    interrupt: Option<CtrlC>,
}

impl TerminationSignals {
    /// Starts to listen. Must be called within a Tokio runtime.
    pub(crate) fn listen() -> Self {
        #[cfg(unix)]
        {
            let hear = |kind| signal(kind).ok();
            let interrupt = hear(SignalKind::interrupt());
            Self { interrupt, terminate: hear(SignalKind::terminate()) }
        }
        #[cfg(windows)]
        Self { interrupt: ctrl_c().ok() }
    }

    /// Waits until the process is asked to stop. Each call waits for another signal.
    pub(crate) async fn recv(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            () = recv_signal(&mut self.interrupt) => {}
            () = recv_signal(&mut self.terminate) => {}
        }
        #[cfg(windows)]
        match &mut self.interrupt {
            Some(interrupt) => drop(interrupt.recv().await),
            None => std::future::pending().await,
        }
    }
}

#[cfg(unix)]
async fn recv_signal(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}
