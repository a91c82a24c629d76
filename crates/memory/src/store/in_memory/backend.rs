//! The in-memory backend: one lock around its rows.

use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_contract::Timestamp;

use super::super::memory::MemoryFuture;
use super::super::row_store::MemoryResult;
use super::super::transactional_store::TransactionalStore;
use super::super::{EraseReport, EraseTarget, ResidueMatch, ScopeViolation};
use super::transaction::InMemoryRows;

/// A memory that lasts as long as the process.
#[derive(Debug, Default)]
pub struct EphemeralMemory {
    state: Mutex<InMemoryRows>,
}

impl EphemeralMemory {
    /// Creates an empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, InMemoryRows> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_rows<'a, T: Send + 'a>(
        &'a self,
        work: impl FnOnce(&mut InMemoryRows) -> MemoryResult<T> + Send + 'a,
    ) -> MemoryFuture<'a, T> {
        Box::pin(async move { work(&mut self.lock()) })
    }
}

impl TransactionalStore for EphemeralMemory {
    type Transaction<'s> = InMemoryRows;

    const IMPORT_BATCH: usize = usize::MAX;

    fn read<T: Send + 'static>(
        &self,
        question: impl Fn(&InMemoryRows) -> MemoryResult<T> + Send + Sync + 'static,
    ) -> MemoryFuture<'_, T> {
        self.with_rows(move |state| question(state))
    }

    fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&mut InMemoryRows) -> MemoryResult<T> + Send + Sync + 'static,
    ) -> MemoryFuture<'_, T> {
        self.with_rows(work)
    }

    fn preview_forget(&self, whom: EraseTarget) -> MemoryFuture<'_, EraseReport> {
        self.with_rows(move |state| state.clone().forget(&whom, Timestamp::default()))
    }

    fn forget(&self, whom: EraseTarget, now: Timestamp) -> MemoryFuture<'_, EraseReport> {
        self.with_rows(move |state| state.forget(&whom, now))
    }

    fn scan_residue(&self, needles: Vec<Vec<u8>>) -> MemoryFuture<'_, Vec<ResidueMatch>> {
        self.with_rows(move |state| Ok(state.scan_residue(&needles)))
    }

    fn find_scope_violations(&self) -> MemoryFuture<'_, Vec<ScopeViolation>> {
        self.with_rows(move |state| Ok(state.find_scope_violations()))
    }
}
