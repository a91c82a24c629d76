//! The memory of an engine, and what of its runs it has seen remembered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_memory::store::Memory;
use countersign_models::Embedder;
use countersign_store::RunId;

use super::{Beginning, RecallError};
use crate::engine::{Engine, Live};
use crate::recent::Recent;

/// How many runs are known at most; any can be read again.
const MOST_KNOWN: usize = 4_096;

/// The memory of an engine.
pub struct Recall {
    memory: Arc<dyn Memory>,
    embedder: Option<Arc<dyn Embedder>>,
    known: Mutex<Recent<RunId, Known>>,
    begun: AtomicBool,
}

#[derive(Clone)]
struct Known {
    beginning: Arc<Beginning>,
    /// Up to which version it was remembered by us; 0 where we have not looked.
    upto: u64,
}

impl Recall {
    pub(crate) fn new(memory: Arc<dyn Memory>) -> Self {
        let known = Mutex::new(Recent::new(MOST_KNOWN));
        Self { memory, embedder: None, known, begun: AtomicBool::new(false) }
    }

    /// The same with somebody who makes vectors.
    pub(crate) fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder: Some(embedder), ..self }
    }

    /// Who makes vectors, where somebody does.
    #[must_use]
    pub fn embedder(&self) -> Option<&Arc<dyn Embedder>> {
        self.embedder.as_ref()
    }

    /// Where it is kept.
    #[must_use]
    pub fn memory(&self) -> &Arc<dyn Memory> {
        &self.memory
    }

    /// Whether nobody has asked this before.
    pub(super) fn is_first(&self) -> bool {
        !self.begun.swap(true, Ordering::SeqCst)
    }

    /// How a run began.
    pub(super) async fn beginning(
        &self,
        engine: &Engine,
        run: &RunId,
        live: &Live,
    ) -> Result<Arc<Beginning>, RecallError> {
        let known = self.lock().get(run).cloned();
        if let Some(known) = known {
            return Ok(known.beginning);
        }
        let beginning = Arc::new(Beginning::of(engine, run, &live.protocol.name).await?);
        let known = Known { beginning: Arc::clone(&beginning), upto: 0 };
        self.lock().insert(run.clone(), known);
        Ok(beginning)
    }

    /// Up to which version a run was remembered by us.
    pub(super) fn upto(&self, run: &RunId) -> u64 {
        self.lock().get(run).map_or(0, |known| known.upto)
    }

    /// Notes up to which version a run is remembered.
    pub(super) fn note(&self, run: &RunId, version: u64) {
        if let Some(known) = self.lock().get(run) {
            known.upto = known.upto.max(version);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Recent<RunId, Known>> {
        // What is behind it is put in whole or not at all, so a panic elsewhere leaves it usable.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
