//! Observing runs: callbacks that report progress after each change is committed.

use countersign_run::{RunEvent, RunState};

/// Receives progress notifications. An observer cannot change a run.
pub trait RunObserver: Send + Sync {
    /// Called after a version is committed, with the new state and the events of that version.
    fn on_commit(&self, state: &RunState, events: &[RunEvent]);

    /// Called while a model streams its reply for an action; `text` is what arrived since the last
    /// call.
    ///
    /// The process that starts a run is not always the one that drives it, so this call can come
    /// before `on_commit` reports the version that created the action.
    fn on_model_text(&self, state: &RunState, order: &str, text: &str);

    /// Called when the model stops streaming for an action, either because it is done or because
    /// the result is no longer needed.
    fn on_model_done(&self, _state: &RunState, _order: &str) {}

    /// Reports a problem that does not block the run, as a single line.
    fn on_warning(&self, _run: &str, _message: &str) {}
}

/// An observer that ignores every notification.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopRunObserver;

impl RunObserver for NoopRunObserver {
    fn on_commit(&self, _: &RunState, _: &[RunEvent]) {}

    fn on_model_text(&self, _: &RunState, _: &str, _: &str) {}
}
