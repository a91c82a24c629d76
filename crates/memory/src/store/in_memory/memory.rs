//! The reference's face: one lock round its state.

use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_core::run::Time;

use super::super::memory::Reply;
use super::super::shared::Shared;
use super::super::shelves::Answer;
use super::super::{Erased, Misplaced, Trace, Whom};
use super::state::State;

/// Keeps memory as long as it lives.
#[derive(Debug, Default)]
pub struct InMemory {
    state: Mutex<State>,
}

impl InMemory {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<'a, T: Send + 'a>(
        &'a self,
        work: impl FnOnce(&mut State) -> Answer<T> + Send + 'a,
    ) -> Reply<'a, T> {
        Box::pin(async move { work(&mut self.lock()) })
    }
}

impl Shared for InMemory {
    type Shelves<'s> = State;

    const LINES_AT_ONCE: usize = usize::MAX;

    fn read<T: Send + 'static>(
        &self,
        question: impl Fn(&State) -> Answer<T> + Send + Sync + 'static,
    ) -> Reply<'_, T> {
        self.with(move |state| question(state))
    }

    fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&mut State) -> Answer<T> + Send + Sync + 'static,
    ) -> Reply<'_, T> {
        self.with(work)
    }

    fn would_forget(&self, whom: Whom) -> Reply<'_, Erased> {
        self.with(move |state| state.clone().forget(&whom, Time::default()))
    }

    fn forget(&self, whom: Whom, now: Time) -> Reply<'_, Erased> {
        self.with(move |state| state.forget(&whom, now))
    }

    fn traces(&self, needles: Vec<Vec<u8>>) -> Reply<'_, Vec<Trace>> {
        self.with(move |state| Ok(state.traces(&needles)))
    }

    fn misplaced(&self) -> Reply<'_, Vec<Misplaced>> {
        self.with(move |state| Ok(state.misplaced()))
    }
}
