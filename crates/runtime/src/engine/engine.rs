//! The engine type: its components, and the runs it caches in memory.
//!
//! Any number of engines may work on one store; each run still has a single history. The memory
//! cache is only an optimization: the store rejects decisions that are based on an older version.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_contract::contract::ContractRegistry;
use countersign_memory::store::Memory;
use countersign_models::Embedder;
use countersign_protocol::{GateCheck, PresentationFormat, Protocol};
use countersign_run::{FileProbe, InputKind, RunInput, RunInputs, record_file_facts};
use countersign_store::{RunId, Store, TenantId};
use tokio::task::spawn_blocking;

use super::{EngineError, LiveRun, PinnedProtocol};
use crate::channel::ChannelSet;
use crate::clock::Clock;
use crate::driver::ModelResolver;
use crate::lru_cache::LruCache;
use crate::memory_recorder::MemoryRecorder;
use crate::run_observer::RunObserver;
use crate::workspace::Workspace;

/// Maximum number of runs in the memory cache; any run can be loaded again.
const MAX_LIVE_RUNS: usize = 4_096;

/// Maximum number of compiled protocols in the cache; any protocol can be compiled again from the
/// store.
const MAX_CACHED_PROTOCOLS: usize = 256;

/// Maximum size of a file that an approval shows, in bytes. A larger file has no digest, so its
/// content is not signed.
const MAX_SIGNED_FILE_BYTES: u64 = 64 << 20;

/// Decides inputs and stores the results, for the runs of one tenant.
pub struct Engine {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    observer: Arc<dyn RunObserver>,
    shipped_contracts: Arc<ContractRegistry>,
    workspace: Option<Workspace>,
    tenant: TenantId,
    memory_recorder: Option<MemoryRecorder>,
    memory_disabled: bool,
    models: Option<Arc<dyn ModelResolver>>,
    channels: Arc<ChannelSet>,
    protocols: Mutex<LruCache<String, Arc<Protocol>>>,
    live_runs: Mutex<LruCache<RunId, Arc<LiveRun>>>,
}

/// The components of an engine.
pub struct EngineConfig {
    /// The store of the runs.
    pub store: Arc<dyn Store>,
    /// The source of the current time.
    pub clock: Arc<dyn Clock>,
    /// Receives a notification after each commit.
    pub observer: Arc<dyn RunObserver>,
    /// The contracts that are shipped with the program.
    pub shipped_contracts: Arc<ContractRegistry>,
    /// The workspace that file gates check; without one, every file counts as missing.
    pub workspace: Option<Workspace>,
    /// The tenant that owns the runs.
    pub tenant: TenantId,
}

impl Engine {
    /// Creates an engine over a store, without a memory.
    #[must_use]
    pub fn open(opened: EngineConfig) -> Self {
        let EngineConfig { store, clock, observer, shipped_contracts, workspace, tenant } = opened;
        let (memory_recorder, memory_disabled) = (None, false);
        let channels = Arc::default();
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
            models: None,
            channels,
            protocols,
            live_runs,
        }
    }

    /// Adds a memory: the engine records runs in it and adds memories to prompts.
    #[must_use]
    pub fn with_memory(self, memory: Arc<dyn Memory>) -> Self {
        Self { memory_recorder: Some(MemoryRecorder::new(memory)), ..self }
    }

    /// Disables memory on purpose: runs started here record that choice, and no engine remembers
    /// them. An engine whose memory is merely unavailable records nothing, and its runs are caught
    /// up later.
    #[must_use]
    pub fn without_memory(self) -> Self {
        Self { memory_recorder: None, memory_disabled: true, ..self }
    }

    /// Adds an embedder that computes vectors for the memory, if there is a memory. Policies decide
    /// whether vectors are used.
    #[must_use]
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        Self {
            memory_recorder: self.memory_recorder.map(|recall| recall.with_embedder(embedder)),
            ..self
        }
    }

    /// Checks the models of new runs with this resolver: a run whose model cannot be used does not
    /// start.
    #[must_use]
    pub fn with_models(self, models: Arc<dyn ModelResolver>) -> Self {
        Self { models: Some(models), ..self }
    }

    /// Returns the resolver that checks models, if there is one.
    pub(super) fn models(&self) -> Option<&Arc<dyn ModelResolver>> {
        self.models.as_ref()
    }

    /// Sets the channels that people are told through: runs started here are subscribed to them, and
    /// deliveries of all runs go through them.
    #[must_use]
    pub fn with_channels(self, channels: Arc<ChannelSet>) -> Self {
        Self { channels, ..self }
    }

    /// Returns the channels that people are told through.
    #[must_use]
    pub fn channels(&self) -> &Arc<ChannelSet> {
        &self.channels
    }

    /// Returns the tenant that owns the runs of this engine.
    pub(crate) fn tenant_name(&self) -> &str {
        self.tenant.as_str()
    }

    /// Returns the memory recorder, if the engine has a memory.
    #[must_use]
    pub fn memory_recorder(&self) -> Option<&MemoryRecorder> {
        self.memory_recorder.as_ref()
    }

    /// Returns whether memory was disabled on purpose.
    pub(super) fn is_memory_disabled(&self) -> bool {
        self.memory_disabled
    }

    /// Returns the store of the runs.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns the clock of the engine.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Returns the observer that is notified of commits.
    #[must_use]
    pub fn observer(&self) -> &Arc<dyn RunObserver> {
        &self.observer
    }

    /// Returns the workspace, if the engine has one.
    #[must_use]
    pub fn workspace(&self) -> Option<&Workspace> {
        self.workspace.as_ref()
    }

    /// Returns the full id of a run of this engine's tenant.
    #[must_use]
    pub fn run_id(&self, id: impl Into<String>) -> RunId {
        RunId::new(self.tenant.clone(), id)
    }

    /// Returns the contracts that are shipped with the program.
    #[must_use]
    pub fn shipped_contracts(&self) -> &ContractRegistry {
        &self.shipped_contracts
    }

    /// Returns the tenant that owns the runs.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    /// Returns a run as this engine last saw it.
    pub(crate) async fn get_live_run(&self, run: &RunId) -> Result<Arc<LiveRun>, EngineError> {
        if let Some(live) = self.find_cached_run(run) {
            return Ok(live);
        }
        let live = Arc::new(self.load_version(&run.id, None).await?);
        self.cache_run(run, Arc::clone(&live));
        Ok(live)
    }

    /// Returns a run as the store has it now. The cached run is used if it is current.
    pub(crate) async fn refresh_live_run(&self, run: &RunId) -> Result<Arc<LiveRun>, EngineError> {
        if let Some(known) = self.find_cached_run(run)
            && !self.is_stale(run, &known).await?
        {
            return Ok(known);
        }
        self.evict_run(run);
        self.get_live_run(run).await
    }

    /// Returns whether the store has another version than the cached one.
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

    /// Caches a run, unless a later version is cached.
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

    /// Loads the protocol that a run is pinned to.
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

    /// Returns a protocol whose files are in the store, if this engine has it cached.
    pub(super) fn find_cached_protocol(&self, digest: &str) -> Option<Arc<Protocol>> {
        lock(&self.protocols).get(&digest.to_owned()).cloned()
    }

    pub(super) fn cache_protocol(&self, protocol: &Arc<Protocol>) {
        lock(&self.protocols).insert(protocol.digest.clone(), Arc::clone(protocol));
    }

    /// Records in an input which files exist, of those that gates of the workflow check, and the
    /// digests of those that its approvals show.
    pub(super) async fn record_files(&self, live: &LiveRun, input: &mut RunInput) {
        input.files.clear();
        input.file_digests.clear();
        let workflow = match &input.payload {
            InputKind::Start(start) => &start.workflow,
            _ => &live.state.workflow,
        };
        let ways = live.protocol.workflows.get(workflow).map(|workflow| &workflow.transitions);
        let checks = ways.into_iter().flatten().filter_map(|way| Some(&way.gate.as_ref()?.check));
        let inputs = RunInputs::for_run(&live.state);
        let (mut paths, mut unknown) = (BTreeSet::new(), false);
        for check in checks {
            match check {
                GateCheck::FileExists { path } => {
                    paths.insert(inputs.resolve_path(path));
                }
                GateCheck::FileExistsTemplate { .. } => unknown = true,
                GateCheck::Manual { present, .. } => {
                    unknown |= present
                        .iter()
                        .any(|part| part.format.is_some_and(PresentationFormat::is_file));
                }
                GateCheck::Expression(_) | GateCheck::Status { .. } => {}
            }
        }
        // The content of a file that is copied under an approval is a part of what is signed.
        let policy = &live.protocol.policy;
        if policy.has_approvals_of("copy") {
            let workflow = live.protocol.workflows.get(workflow);
            let phases = workflow.into_iter().flat_map(|workflow| &workflow.phases);
            unknown |= phases.into_iter().any(|phase| phase.work.copies_files());
        }
        // Most workflows have no such gate, and need neither a workspace nor another thread.
        if paths.is_empty() && !unknown {
            return;
        }
        let (protocol, state) = (Arc::clone(&live.protocol), Arc::clone(&live.state));
        let workspace = self
            .workspace
            .as_ref()
            .map(|files| files.with_policy(&protocol.policy).with_run(&live.state));
        let mut seen = input.clone();
        let looked = spawn_blocking(move || {
            let probe = WorkspaceProbe(workspace);
            seen.files.extend(paths.into_iter().map(|path| {
                let there = probe.exists(&path);
                (path, there)
            }));
            // The paths are known only once the input is decided.
            if unknown {
                record_file_facts(&protocol, &state, &mut seen, &probe);
            }
            (seen.files, seen.file_digests)
        });
        // If the thread was aborted, no file counts as present: the gates stay closed.
        (input.files, input.file_digests) = looked.await.unwrap_or_default();
    }
}

/// Looks at the files of the workspace that the policy of a protocol shows; without a workspace
/// there is no file.
struct WorkspaceProbe(Option<Workspace>);

impl FileProbe for WorkspaceProbe {
    fn exists(&self, path: &str) -> bool {
        self.0.as_ref().is_some_and(|workspace| workspace.exists(path).unwrap_or(false))
    }

    fn digest(&self, path: &str) -> Option<String> {
        self.0.as_ref()?.digest_file(path, MAX_SIGNED_FILE_BYTES).ok()?
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    // Values behind the lock are replaced as a whole, so a panic in another thread leaves them
    // usable.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
