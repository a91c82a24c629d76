//! What asks this process to end: Ctrl-C, and the word of whatever supervises processes.

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC, ctrl_c};

/// Hears it from the moment that this is made, whenever somebody comes to ask. So it is made before anybody is
/// told how to end the process. Where the system lets nothing be heard, it ends the process by itself.
pub(crate) struct Signals {
    #[cfg(unix)]
    both: Option<(Signal, Signal)>,
    #[cfg(windows)]
    interrupt: Option<CtrlC>,
}

impl Signals {
    /// Listens from now on. A runtime must be there.
    pub(crate) fn listen() -> Self {
        #[cfg(unix)]
        {
            let both = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
            let both = match both {
                (Ok(interrupt), Ok(terminate)) => Some((interrupt, terminate)),
                _ => None,
            };
            Self { both }
        }
        #[cfg(windows)]
        Self { interrupt: ctrl_c().ok() }
    }

    /// Until the process is asked to end, once more each time.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        if let Some((interrupt, terminate)) = &mut self.both {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
        #[cfg(windows)]
        if let Some(interrupt) = &mut self.interrupt {
            interrupt.recv().await;
            return;
        }
        std::future::pending::<()>().await;
    }
}
