//! The memory of an engine, and what of its runs it has seen remembered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_memory::store::Memory;
use countersign_models::Embedder;
use countersign_store::{RunCursor, RunId};

use super::{MemoryRecorderError, RunMemoryOrigin};
use crate::engine::{Engine, LiveRun};
use crate::lru_cache::LruCache;

/// How many runs are known at most; any can be read again.
const MAX_RECORDED_RUNS: usize = 4_096;

/// The memory of an engine.
pub struct MemoryRecorder {
    memory: Arc<dyn Memory>,
    embedder: Option<Arc<dyn Embedder>>,
    recorded_runs: Mutex<LruCache<RunId, RecordedRun>>,
    first_use_claimed: AtomicBool,
    catch_up: Mutex<CatchUpState>,
}

/// How far the runs of before were caught up with by this process.
#[derive(Debug)]
enum CatchUpState {
    /// The next step begins after this run; with the newest where there is none.
    After(Option<RunCursor>),
    /// Somebody takes a step.
    InProgress,
    /// All were looked at.
    Done,
}

/// A step under way. Dropped before its end, it is to be taken again.
pub(super) struct CatchUpGuard<'r> {
    recorder: &'r MemoryRecorder,
    /// Where it begins.
    pub(super) after: Option<RunCursor>,
    next: Option<CatchUpState>,
}

impl CatchUpGuard<'_> {
    /// The step was taken, and the next one begins here; there is none where nothing is given.
    pub(super) fn finish(mut self, next: Option<RunCursor>) {
        self.next = Some(next.map_or(CatchUpState::Done, |next| CatchUpState::After(Some(next))));
    }
}

impl Drop for CatchUpGuard<'_> {
    fn drop(&mut self) {
        let again = || CatchUpState::After(self.after.clone());
        *lock(&self.recorder.catch_up) = self.next.take().unwrap_or_else(again);
    }
}

#[derive(Clone)]
struct RecordedRun {
    origin: Arc<RunMemoryOrigin>,
    /// Up to which version it was remembered by us; 0 where we have not looked.
    recorded_version: u64,
}

impl MemoryRecorder {
    pub(crate) fn new(memory: Arc<dyn Memory>) -> Self {
        let recorded_runs = Mutex::new(LruCache::new(MAX_RECORDED_RUNS));
        let catch_up = Mutex::new(CatchUpState::After(None));
        Self {
            memory,
            embedder: None,
            recorded_runs,
            first_use_claimed: AtomicBool::new(false),
            catch_up,
        }
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
    pub(super) fn claim_first_use(&self) -> bool {
        !self.first_use_claimed.swap(true, Ordering::SeqCst)
    }

    /// Begins a step through the runs of before; `Empty` where one is under way, or all were looked at.
    pub(super) fn begin_catch_up(&self) -> Option<CatchUpGuard<'_>> {
        let mut state = lock(&self.catch_up);
        match std::mem::replace(&mut *state, CatchUpState::InProgress) {
            CatchUpState::After(after) => Some(CatchUpGuard { recorder: self, after, next: None }),
            other => {
                *state = other;
                None
            }
        }
    }

    /// How a run began.
    pub(super) async fn load_origin(
        &self,
        engine: &Engine,
        run: &RunId,
        live: &LiveRun,
    ) -> Result<Arc<RunMemoryOrigin>, MemoryRecorderError> {
        let known = self.lock_recorded_runs().get(run).cloned();
        if let Some(known) = known {
            return Ok(known.origin);
        }
        let beginning = Arc::new(RunMemoryOrigin::load(engine, run, &live.protocol.name).await?);
        let known = RecordedRun { origin: Arc::clone(&beginning), recorded_version: 0 };
        self.lock_recorded_runs().insert(run.clone(), known);
        Ok(beginning)
    }

    /// Up to which version a run was remembered by us.
    pub(super) fn recorded_version(&self, run: &RunId) -> u64 {
        self.lock_recorded_runs().get(run).map_or(0, |known| known.recorded_version)
    }

    /// Notes up to which version a run is remembered.
    pub(super) fn mark_recorded(&self, run: &RunId, version: u64) {
        if let Some(known) = self.lock_recorded_runs().get(run) {
            known.recorded_version = known.recorded_version.max(version);
        }
    }

    fn lock_recorded_runs(&self) -> MutexGuard<'_, LruCache<RunId, RecordedRun>> {
        lock(&self.recorded_runs)
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind it is put in whole or not at all, so a panic elsewhere leaves it usable.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
