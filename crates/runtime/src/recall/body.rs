//! The memory of an engine, and what of its runs it has seen remembered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_memory::store::Memory;
use countersign_models::Embedder;
use countersign_store::{RunCursor, RunId};

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
    catch_up: Mutex<CatchUp>,
}

/// How far the runs of before were caught up with by this process.
#[derive(Debug)]
enum CatchUp {
    /// The next step begins after this run; with the newest where there is none.
    After(Option<RunCursor>),
    /// Somebody takes a step.
    UnderWay,
    /// All were looked at.
    Done,
}

/// A step under way. Dropped before its end, it is to be taken again.
pub(super) struct Progress<'r> {
    recall: &'r Recall,
    /// Where it begins.
    pub(super) after: Option<RunCursor>,
    next: Option<CatchUp>,
}

impl Progress<'_> {
    /// The step was taken, and the next one begins here; there is none where nothing is given.
    pub(super) fn end(mut self, next: Option<RunCursor>) {
        self.next = Some(next.map_or(CatchUp::Done, |next| CatchUp::After(Some(next))));
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        let again = || CatchUp::After(self.after.clone());
        *lock(&self.recall.catch_up) = self.next.take().unwrap_or_else(again);
    }
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
        let catch_up = Mutex::new(CatchUp::After(None));
        Self { memory, embedder: None, known, begun: AtomicBool::new(false), catch_up }
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

    /// Begins a step through the runs of before; `None` where one is under way, or all were looked at.
    pub(super) fn begin_catch_up(&self) -> Option<Progress<'_>> {
        let mut state = lock(&self.catch_up);
        match std::mem::replace(&mut *state, CatchUp::UnderWay) {
            CatchUp::After(after) => Some(Progress { recall: self, after, next: None }),
            other => {
                *state = other;
                None
            }
        }
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
        lock(&self.known)
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind it is put in whole or not at all, so a panic elsewhere leaves it usable.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
