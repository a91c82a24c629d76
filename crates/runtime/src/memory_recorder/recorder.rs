//! The memory of an engine, and which versions of its runs are recorded.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_memory::store::Memory;
use countersign_models::Embedder;
use countersign_store::{RunCursor, RunId};

use super::{MemoryRecorderError, RunMemoryOrigin};
use crate::engine::{Engine, LiveRun};
use crate::lru_cache::LruCache;

/// Maximum number of runs in the cache; any run can be read again.
const MAX_RECORDED_RUNS: usize = 4_096;

/// The memory of an engine, with the progress of recording.
pub struct MemoryRecorder {
    memory: Arc<dyn Memory>,
    embedder: Option<Arc<dyn Embedder>>,
    recorded_runs: Mutex<LruCache<RunId, RecordedRun>>,
    first_use_claimed: AtomicBool,
    catch_up: Mutex<CatchUpState>,
}

/// How far this process has caught up with earlier runs.
#[derive(Debug)]
enum CatchUpState {
    /// The next step starts after this run, or with the newest one if absent.
    After(Option<RunCursor>),
    /// A step is in progress.
    InProgress,
    /// All runs are checked.
    Done,
}

/// A step in progress. If it is dropped before `finish`, the step is repeated.
pub(super) struct CatchUpGuard<'r> {
    recorder: &'r MemoryRecorder,
    /// The cursor where the step starts.
    pub(super) after: Option<RunCursor>,
    next: Option<CatchUpState>,
}

impl CatchUpGuard<'_> {
    /// Finishes the step; the next one starts at `next`. `None` means that all runs are checked.
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
    /// The version up to which this process recorded the run; 0 if it has not checked yet.
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

    /// Adds an embedder that computes vectors.
    pub(crate) fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder: Some(embedder), ..self }
    }

    /// Returns the embedder, if there is one.
    #[must_use]
    pub fn embedder(&self) -> Option<&Arc<dyn Embedder>> {
        self.embedder.as_ref()
    }

    /// Returns the underlying memory.
    #[must_use]
    pub fn memory(&self) -> &Arc<dyn Memory> {
        &self.memory
    }

    /// Returns true on the first call only.
    pub(super) fn claim_first_use(&self) -> bool {
        !self.first_use_claimed.swap(true, Ordering::SeqCst)
    }

    /// Begins a step through earlier runs. Returns `None` if a step is in progress, or all runs are
    /// checked.
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

    /// Returns how a run was started.
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

    /// Returns the version up to which this process recorded a run.
    pub(super) fn recorded_version(&self, run: &RunId) -> u64 {
        self.lock_recorded_runs().get(run).map_or(0, |known| known.recorded_version)
    }

    /// Notes the version up to which a run is recorded.
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
    // Values behind the lock are replaced as a whole, so a panic in another thread leaves them
    // usable.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
