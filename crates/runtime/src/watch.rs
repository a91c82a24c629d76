//! Watching runs: whoever shows progress is told what became true, after it was kept.

use countersign_core::run::{Event, State};

/// Is told what happens. Nothing it does changes a run.
pub trait Watch: Send + Sync {
    /// A version was kept.
    fn committed(&self, state: &State, events: &[Event]);

    /// A model is writing for an order of a run that stands like this; the text came since the last time. Whoever
    /// begins a run is not who drives it, so this may come before the version with the order was told.
    fn writing(&self, state: &State, order: &str, text: &str);

    /// The model writes no more for the order: it is done, or nobody waits for it.
    fn wrote(&self, _state: &State, _order: &str) {}

    /// Something went wrong that holds nothing up; in one line.
    fn warned(&self, _run: &str, _message: &str) {}
}

/// Looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn committed(&self, _: &State, _: &[Event]) {}

    fn writing(&self, _: &State, _: &str, _: &str) {}
}
