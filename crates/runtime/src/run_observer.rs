//! Watching runs: whoever shows progress is told what became true, after it was kept.

use countersign_core::run::{RunEvent, RunState};

/// Is told what happens. Nothing it does changes a run.
pub trait RunObserver: Send + Sync {
    /// A version was kept.
    fn on_commit(&self, state: &RunState, events: &[RunEvent]);

    /// A model is writing for an order of a run that stands like this; the text came since the last time. Whoever
    /// begins a run is not who drives it, so this may come before the version with the order was told.
    fn on_model_text(&self, state: &RunState, order: &str, text: &str);

    /// The model writes no more for the order: it is done, or nobody waits for it.
    fn on_model_done(&self, _state: &RunState, _order: &str) {}

    /// Something went wrong that holds nothing up; in one line.
    fn on_warning(&self, _run: &str, _message: &str) {}
}

/// Looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopRunObserver;

impl RunObserver for NoopRunObserver {
    fn on_commit(&self, _: &RunState, _: &[RunEvent]) {}

    fn on_model_text(&self, _: &RunState, _: &str, _: &str) {}
}
