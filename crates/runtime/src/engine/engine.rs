//! The engine itself: what it is made of, and the runs it has in memory.
//!
//! Any number of engines may work on one store; each run has one history all the same. What is in
//! memory is never the truth, only a way not to read it again: the store refuses what was decided on
//! something older.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::contract::ContractRegistry;
use countersign_core::protocol::{GateCheck, Protocol};
use countersign_core::run::{InputKind, RunInput, record_file_presence};
use countersign_memory::store::Memory;
use countersign_models::Embedder;
use countersign_store::{RunId, Store, TenantId};
use tokio::task::spawn_blocking;

use super::{EngineError, LiveRun, PinnedProtocol};
use crate::clock::Clock;
use crate::lru_cache::LruCache;
use crate::memory_recorder::MemoryRecorder;
use crate::run_observer::RunObserver;
use crate::workspace::Workspace;

/// How many runs are kept in memory at most; any can be loaded again.
const MAX_LIVE_RUNS: usize = 4_096;

/// How many protocols are kept compiled at most; any can be compiled again from the store.
const MAX_CACHED_PROTOCOLS: usize = 256;

/// Decides inputs and keeps what comes of them.
pub struct Engine {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    observer: Arc<dyn RunObserver>,
    shipped_contracts: Arc<ContractRegistry>,
    workspace: Option<Workspace>,
    tenant: TenantId,
    memory_recorder: Option<MemoryRecorder>,
    memory_disabled: bool,
    protocols: Mutex<LruCache<String, Arc<Protocol>>>,
    live_runs: Mutex<LruCache<RunId, Arc<LiveRun>>>,
}

/// What an engine is made of.
pub struct EngineConfig {
    /// Where runs are kept.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Who is told what became true.
    pub observer: Arc<dyn RunObserver>,
    /// The contracts that ship.
    pub shipped_contracts: Arc<ContractRegistry>,
    /// Where files are; without one, no file is there.
    pub workspace: Option<Workspace>,
    /// Whose runs.
    pub tenant: TenantId,
}

impl Engine {
    /// An engine over a store.
    #[must_use]
    pub fn open(opened: EngineConfig) -> Self {
        let EngineConfig { store, clock, observer, shipped_contracts, workspace, tenant } = opened;
        let (memory_recorder, memory_disabled) = (None, false);
        let protocols = Mutex::new(LruCache::new(MAX_CACHED_PROTOCOLS));
        let live_runs = Mutex::new(LruCache::new(MAX_LIVE_RUNS));
        Self {
            store,
            clock,
            observer,
            shipped_contracts,
            workspace,
            tenant,
            memory_recorder,
            memory_disabled,
            protocols,
            live_runs,
        }
    }

    /// The same engine, with a memory: runs are remembered, and models reminded.
    #[must_use]
    pub fn with_memory(self, memory: Arc<dyn Memory>) -> Self {
        Self { memory_recorder: Some(MemoryRecorder::new(memory)), ..self }
    }

    /// The same engine, without a memory on purpose: what is started here says so, and is never remembered,
    /// also not by another engine. One that has none because it is away says nothing, and is caught up.
    #[must_use]
    pub fn without_memory(self) -> Self {
        Self { memory_recorder: None, memory_disabled: true, ..self }
    }

    /// The same engine, with somebody who makes vectors for its memory, where it has one. Policies say
    /// whether they count.
    #[must_use]
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        Self {
            memory_recorder: self.memory_recorder.map(|recall| recall.with_embedder(embedder)),
            ..self
        }
    }

    /// Its memory, where it has one.
    #[must_use]
    pub fn memory_recorder(&self) -> Option<&MemoryRecorder> {
        self.memory_recorder.as_ref()
    }

    /// Whether memory was turned off here.
    pub(super) fn is_memory_disabled(&self) -> bool {
        self.memory_disabled
    }

    /// The store below.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The clock it goes by.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Who is told.
    #[must_use]
    pub fn observer(&self) -> &Arc<dyn RunObserver> {
        &self.observer
    }

    /// Where files are.
    #[must_use]
    pub fn workspace(&self) -> Option<&Workspace> {
        self.workspace.as_ref()
    }

    /// A run of this engine's tenant.
    #[must_use]
    pub fn run_id(&self, id: impl Into<String>) -> RunId {
        RunId::new(self.tenant.clone(), id)
    }

    /// The contracts that ship.
    #[must_use]
    pub fn shipped_contracts(&self) -> &ContractRegistry {
        &self.shipped_contracts
    }

    /// Whose runs.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    /// A run as it was when this engine last saw it.
    pub(crate) async fn get_live_run(&self, run: &RunId) -> Result<Arc<LiveRun>, EngineError> {
        if let Some(live) = self.find_cached_run(run) {
            return Ok(live);
        }
        let live = Arc::new(self.load_version(&run.id, None).await?);
        self.cache_run(run, Arc::clone(&live));
        Ok(live)
    }

    /// A run as the store has it now. What is in memory is taken where it is just that.
    pub(crate) async fn refresh_live_run(&self, run: &RunId) -> Result<Arc<LiveRun>, EngineError> {
        if let Some(known) = self.find_cached_run(run)
            && !self.is_stale(run, &known).await?
        {
            return Ok(known);
        }
        self.evict_run(run);
        self.get_live_run(run).await
    }

    /// Whether the store has something else than what is in memory.
    pub(super) async fn is_stale(&self, run: &RunId, live: &LiveRun) -> Result<bool, EngineError> {
        let head = self.store.load_head(run).await?;
        let same = |head: countersign_store::RunHead| {
            head.version == live.state.version && head.hash == live.hash && head.pruned.is_none()
        };
        Ok(!head.is_some_and(same))
    }

    fn find_cached_run(&self, run: &RunId) -> Option<Arc<LiveRun>> {
        lock(&self.live_runs).get(run).cloned()
    }

    /// Keeps a run in memory, unless a later version of it is there.
    pub(super) fn cache_run(&self, run: &RunId, live: Arc<LiveRun>) {
        let mut known = lock(&self.live_runs);
        if known.get(run).is_some_and(|other| other.state.version > live.state.version) {
            return;
        }
        known.insert(run.clone(), live);
    }

    pub(crate) fn evict_run(&self, run: &RunId) {
        lock(&self.live_runs).remove(run);
    }

    /// The protocol a run is pinned to.
    pub(crate) async fn load_protocol(
        &self,
        run: &RunId,
        digest: &str,
    ) -> Result<Arc<Protocol>, EngineError> {
        if let Some(known) = self.find_cached_protocol(digest) {
            return Ok(known);
        }
        let fault = |why: String| EngineError::ProtocolUnavailable {
            run: run.id.clone(),
            digest: digest.to_owned(),
            reason: why,
        };
        let text = self.store.load_protocol(&run.tenant, digest).await?;
        let text = text.ok_or_else(|| fault("its files are not in the store".to_owned()))?;
        let pinned: PinnedProtocol =
            serde_json::from_str(&text).map_err(|error| fault(error.to_string()))?;
        let protocol = Arc::new(pinned.into_protocol(&self.shipped_contracts).map_err(fault)?);
        self.cache_protocol(&protocol);
        Ok(protocol)
    }

    /// A protocol whose files are in the store, where this engine had it in hand before.
    pub(super) fn find_cached_protocol(&self, digest: &str) -> Option<Arc<Protocol>> {
        lock(&self.protocols).get(&digest.to_owned()).cloned()
    }

    pub(super) fn cache_protocol(&self, protocol: &Arc<Protocol>) {
        lock(&self.protocols).insert(protocol.digest.clone(), Arc::clone(protocol));
    }

    /// Names in an input which files are there, of those that gates of the workflow ask for.
    pub(super) async fn record_files(&self, live: &LiveRun, input: &mut RunInput) {
        input.files.clear();
        let workflow = match &input.what {
            InputKind::Start(start) => &start.workflow,
            _ => &live.state.workflow,
        };
        let ways = live.protocol.workflows.get(workflow).map(|workflow| &workflow.transitions);
        let checks = ways.into_iter().flatten().filter_map(|way| Some(&way.gate.as_ref()?.check));
        let (mut paths, mut unknown) = (BTreeSet::new(), false);
        for check in checks {
            match check {
                GateCheck::FileExists { path } => drop(paths.insert(path.clone())),
                GateCheck::FileExistsTemplate { .. } => unknown = true,
                _ => {}
            }
        }
        // Most workflows have no such gate, and need neither a workspace nor another thread.
        if paths.is_empty() && !unknown {
            return;
        }
        let (protocol, state) = (Arc::clone(&live.protocol), Arc::clone(&live.state));
        let workspace = self.workspace.as_ref().map(|files| files.with_policy(&protocol.policy));
        let mut seen = input.clone();
        let looked = spawn_blocking(move || {
            let exists = |path: &str| {
                workspace.as_ref().is_some_and(|workspace| workspace.exists(path).unwrap_or(false))
            };
            seen.files.extend(paths.into_iter().map(|path| {
                let there = exists(&path);
                (path, there)
            }));
            // Which those are is known only once the input is decided.
            if unknown {
                record_file_presence(&protocol, &state, &mut seen, exists);
            }
            seen.files
        });
        // A thread that broke off saw nothing: the gates stay closed.
        input.files = looked.await.unwrap_or_default();
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind it is put in whole or not at all, so a panic elsewhere leaves it usable.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
