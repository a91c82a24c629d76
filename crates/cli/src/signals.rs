//! What asks this process to end: Ctrl-C, and the word of whatever supervises processes.

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC, ctrl_c};

/// Hears it from the moment that this is made, whenever somebody comes to ask. So it is made before anybody is
/// told how to end the process. What the system lets nobody hear ends the process by itself.
pub(crate) struct TerminationSignals {
    #[cfg(unix)]
    interrupt: Option<Signal>,
    #[cfg(unix)]
    terminate: Option<Signal>,
    #[cfg(windows)]
    interrupt: Option<CtrlC>,
}

impl TerminationSignals {
    /// Listens from now on. A runtime must be there.
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

    /// Until the process is asked to end, once more each time.
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
