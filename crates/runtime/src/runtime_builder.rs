//! Assembles a running engine from its parts. The command line, the server and programs that embed
//! Countersign all use this one builder.
//!
//! ```text
//! RuntimeBuilder ──► Engine: decides inputs, stores the results
//!       │              ▲
//!       └────────────► Driver: performs the actions that runs request
//! ```

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use countersign_contract::contract::ContractRegistry;
use countersign_memory::store::Memory;
use countersign_models::{ChatModel, Embedder, ModelSettings};
use countersign_protocol::{Protocol, ProtocolBundle};
use countersign_run::{InputKind, RunEvent, RunStart, RunState, RunWait};
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_store::{Store, StoreError, TenantId};
use serde_json::Value;
use thiserror::Error;

use crate::channel::ChannelSet;
use crate::clock::{Clock, SystemClock};
use crate::document::DocumentReader;
use crate::driver::{
    CachedModelResolver, Driver, EffectExecutor, IdleReason, ModelResolver, WorkerHeartbeat,
};
use crate::effect::{EffectJournal, EffectJournalError, RetrieverFactory, sweep_journal};
use crate::engine::{Engine, EngineConfig, EngineError, InputOutcome, generate_run_name};
use crate::folder::{
    EngineHome, FolderError, ProtocolLoadError, hide_protocol, load_protocol, read_protocol_folder,
};
use crate::run_observer::{NoopRunObserver, RunObserver};
use crate::trust::ActionGuard;
use crate::workspace::{Workspace, WorkspaceError};

/// The shipped contracts, which most protocols need: the document's own contract is one of them by
/// default. Compiled once, on first use.
static SHIPPED_CONTRACTS: LazyLock<Arc<ContractRegistry>> =
    LazyLock::new(|| Arc::new(load_shipped_contracts()));

/// Why a runtime cannot be built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RuntimeBuildError {
    /// The folder that the runtime works in cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The workspace of the runtime cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The effect journal cannot be opened.
    #[error(transparent)]
    Journal(#[from] EffectJournalError),
    /// The store of the runs cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a runtime does with memory.
#[derive(Clone)]
enum MemoryChoice {
    /// There is none now; its runs are caught up with when there is one.
    Absent,
    /// Its runs are never remembered.
    Disabled,
    /// It records its runs here and adds memories to prompts.
    Recorded(Arc<dyn Memory>),
}

/// Assembles an [`Engine`], a [`Driver`] or both.
///
/// Only the store and the folder are required. By default the builder uses the system clock, models
/// without API keys, the shipped contracts, no memory, and a guard that permits no programs, hosts
/// or sources.
#[derive(Clone)]
pub struct RuntimeBuilder {
    home: EngineHome,
    store: Arc<dyn Store>,
    tenant: TenantId,
    clock: Arc<dyn Clock>,
    observer: Arc<dyn RunObserver>,
    contracts: Option<Arc<ContractRegistry>>,
    memory: MemoryChoice,
    embedder: Option<Arc<dyn Embedder>>,
    models: Arc<dyn ModelResolver>,
    /// What checks the models of new runs; nothing does if absent.
    model_check: Option<Arc<dyn ModelResolver>>,
    model_name: Option<String>,
    sources: Option<Arc<dyn RetrieverFactory>>,
    documents: DocumentReader,
    guard: ActionGuard,
    protocol_folder: Option<PathBuf>,
    data_folder: Option<PathBuf>,
    worker: String,
    heartbeat: Option<Arc<WorkerHeartbeat>>,
    store_retry_ms: Option<i64>,
    channels: Arc<ChannelSet>,
}

impl RuntimeBuilder {
    /// Starts a builder over a store. Runs read and write files in `folder`; the engine's own files
    /// are in `.countersign` directly in it, whatever the folders above it contain.
    pub fn new(store: Arc<dyn Store>, folder: &Path) -> Result<Self, RuntimeBuildError> {
        Ok(Self::from_home(store, EngineHome::create(folder)?))
    }

    /// Starts a builder over a store for an engine home that exists.
    #[must_use]
    pub fn from_home(store: Arc<dyn Store>, home: EngineHome) -> Self {
        let folder = home.workspace().to_owned();
        Self {
            store,
            tenant: TenantId::default(),
            clock: Arc::new(SystemClock),
            observer: Arc::new(NoopRunObserver),
            contracts: None,
            memory: MemoryChoice::Absent,
            embedder: None,
            models: Arc::new(CachedModelResolver::new(ModelSettings::default(), folder.clone())),
            model_check: None,
            model_name: None,
            sources: None,
            documents: DocumentReader::in_process(),
            guard: ActionGuard::new(folder, |_| Vec::new()),
            protocol_folder: None,
            data_folder: None,
            worker: format!("runtime-{}-{}", std::process::id(), generate_run_name()),
            heartbeat: None,
            store_retry_ms: None,
            channels: Arc::default(),
            home,
        }
    }

    /// Sets the tenant that owns the runs.
    #[must_use]
    pub fn with_tenant(self, tenant: TenantId) -> Self {
        Self { tenant, ..self }
    }

    /// Sets the source of the current time.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Sets who is notified after each commit.
    #[must_use]
    pub fn with_observer(self, observer: Arc<dyn RunObserver>) -> Self {
        Self { observer, ..self }
    }

    /// Sets the contracts that protocols can name in addition to their own, instead of the shipped
    /// ones.
    #[must_use]
    pub fn with_contracts(self, contracts: Arc<ContractRegistry>) -> Self {
        Self { contracts: Some(contracts), ..self }
    }

    /// Adds a memory: runs are recorded in it, and their prompts contain memories.
    #[must_use]
    pub fn with_memory(self, memory: Arc<dyn Memory>) -> Self {
        Self { memory: MemoryChoice::Recorded(memory), ..self }
    }

    /// Disables memory on purpose: runs started here are never remembered.
    #[must_use]
    pub fn without_memory(self) -> Self {
        Self { memory: MemoryChoice::Disabled, ..self }
    }

    /// Adds an embedder that computes vectors for the memory.
    #[must_use]
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder: Some(embedder), ..self }
    }

    /// Sets how model names are resolved. A run whose model cannot be resolved does not start.
    #[must_use]
    pub fn with_models(self, models: Arc<dyn ModelResolver>) -> Self {
        let model_check = Some(Arc::clone(&models));
        Self { models, model_check, model_name: None, ..self }
    }

    /// Sets what checks the models of new runs, if another process performs their calls.
    #[must_use]
    pub fn with_model_check(self, models: Arc<dyn ModelResolver>) -> Self {
        Self { model_check: Some(models), ..self }
    }

    /// Uses one model for every step, whatever the protocol names. Runs that [`Runtime::start`]
    /// starts record its name.
    #[must_use]
    pub fn with_model(self, model: impl ChatModel + 'static) -> Self {
        let model_name = Some(model.name().to_owned());
        Self {
            models: Arc::new(SingleModel(Arc::new(model))),
            model_check: None,
            model_name,
            ..self
        }
    }

    /// Adds the kinds of sources that protocols can retrieve from.
    #[must_use]
    pub fn with_sources(self, sources: Arc<dyn RetrieverFactory>) -> Self {
        Self { sources: Some(sources), ..self }
    }

    /// Sets how the text of documents is read. By default this process reads them, which suits
    /// trusted files only: a hostile one can use up its memory. See [`DocumentReader`].
    #[must_use]
    pub fn with_document_reader(self, documents: DocumentReader) -> Self {
        Self { documents, ..self }
    }

    /// Sets which programs, hosts and sources protocols may use.
    #[must_use]
    pub fn with_guard(self, guard: ActionGuard) -> Self {
        Self { guard, ..self }
    }

    /// Sets the channels that people are told through.
    #[must_use]
    pub fn with_channels(self, channels: Arc<ChannelSet>) -> Self {
        Self { channels, ..self }
    }

    /// Hides a protocol folder from the files that runs can read and write.
    #[must_use]
    pub fn with_protocol_folder(self, folder: Option<PathBuf>) -> Self {
        Self { protocol_folder: folder, ..self }
    }

    /// Sets a folder with the data of protocols; see [`EffectExecutor::with_data_folder`].
    #[must_use]
    pub fn with_data_folder(self, folder: PathBuf) -> Self {
        Self { data_folder: Some(folder), ..self }
    }

    /// Sets the worker name in leases; it must be unique among all workers.
    #[must_use]
    pub fn with_worker(self, worker: impl Into<String>) -> Self {
        Self { worker: worker.into(), ..self }
    }

    /// Adds the heartbeat by which other processes on this machine recognize the worker.
    #[must_use]
    pub fn with_heartbeat(self, heartbeat: Option<Arc<WorkerHeartbeat>>) -> Self {
        Self { heartbeat, ..self }
    }

    /// Sets how long a result is retried while the store is unavailable, in milliseconds.
    #[must_use]
    pub fn with_store_retry(self, window_ms: i64) -> Self {
        Self { store_retry_ms: Some(window_ms), ..self }
    }

    /// Opens the workspace, with the protocol folder hidden.
    pub fn open_workspace(&self) -> Result<Workspace, RuntimeBuildError> {
        let workspace =
            Workspace::open(self.home.workspace())?.with_document_reader(self.documents.clone());
        Ok(match &self.protocol_folder {
            Some(folder) => hide_protocol(workspace, folder)?,
            None => workspace,
        })
    }

    /// Returns the workspace of an engine, so that the engine and its driver share one.
    fn workspace_of(&self, engine: &Engine) -> Result<Workspace, RuntimeBuildError> {
        match engine.workspace() {
            Some(workspace) => Ok(workspace.clone().with_document_reader(self.documents.clone())),
            None => self.open_workspace(),
        }
    }

    /// Builds an engine alone, for programs that read runs or submit inputs.
    pub fn build_engine(&self) -> Result<Arc<Engine>, RuntimeBuildError> {
        let engine = Engine::open(EngineConfig {
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            observer: Arc::clone(&self.observer),
            shipped_contracts: Arc::clone(self.contracts.as_ref().unwrap_or(&SHIPPED_CONTRACTS)),
            workspace: Some(self.open_workspace()?),
            tenant: self.tenant.clone(),
        })
        .with_channels(Arc::clone(&self.channels));
        let engine = match &self.memory {
            MemoryChoice::Absent => engine,
            MemoryChoice::Disabled => engine.without_memory(),
            MemoryChoice::Recorded(memory) => engine.with_memory(Arc::clone(memory)),
        };
        let engine = match &self.model_check {
            Some(models) => engine.with_models(Arc::clone(models)),
            None => engine,
        };
        Ok(Arc::new(match &self.embedder {
            Some(embedder) => engine.with_embedder(Arc::clone(embedder)),
            None => engine,
        }))
    }

    /// Builds a driver for an engine. Inside an async runtime, it also removes the journal entries
    /// of effects that have ended, in the background.
    pub fn build_driver(&self, engine: Arc<Engine>) -> Result<Driver, RuntimeBuildError> {
        let journal = EffectJournal::open(&self.home.effects_path())?;
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (engine, journal) = (Arc::clone(&engine), journal.clone());
            runtime.spawn(async move {
                if let Err(error) = sweep_journal(&engine, &journal).await {
                    let message =
                        format!("cannot remove the journal entries of finished effects: {error}");
                    engine.observer().on_warning("any", &message);
                }
            });
        }
        let folder = self.home.workspace();
        let workspace = self.workspace_of(&engine)?;
        let mut executor = EffectExecutor::new(workspace, self.guard.clone(), journal, folder);
        if let Some(sources) = &self.sources {
            executor = executor.with_retriever_factory(Arc::clone(sources));
        }
        if let Some(folder) = &self.data_folder {
            executor = executor.with_data_folder(folder.clone());
        }
        let mut driver =
            Driver::new(engine, Arc::clone(&self.models), executor, self.worker.clone());
        if let Some(window_ms) = self.store_retry_ms {
            driver = driver.with_store_retry(window_ms);
        }
        Ok(match &self.heartbeat {
            Some(heartbeat) => driver.with_heartbeat(Arc::clone(heartbeat)),
            None => driver,
        })
    }

    /// Builds the engine and its driver.
    pub fn build(self) -> Result<Runtime, RuntimeBuildError> {
        let engine = self.build_engine()?;
        let driver = Arc::new(self.build_driver(Arc::clone(&engine))?);
        let workspace = self.workspace_of(&engine)?;
        Ok(Runtime { engine, driver, workspace, model_name: self.model_name })
    }
}

/// An engine with the driver that performs its actions.
pub struct Runtime {
    /// Decides inputs and stores the results.
    pub engine: Arc<Engine>,
    /// Performs the actions of runs.
    pub driver: Arc<Driver>,
    /// The folder that runs read and write.
    pub workspace: Workspace,
    /// Model of the runs that start here; the protocol decides if absent.
    model_name: Option<String>,
}

impl Runtime {
    /// Loads a protocol from its files. Warnings are dropped;
    /// [`load_protocol`] returns them.
    pub fn load_protocol(
        &self,
        bundle: ProtocolBundle,
    ) -> Result<Arc<Protocol>, ProtocolLoadError> {
        let (protocol, _) = load_protocol(bundle, self.engine.shipped_contracts())
            .map_err(|faults| ProtocolLoadError::Invalid(faults.into()))?;
        Ok(protocol)
    }

    /// Loads a protocol from its folder. If the folder is inside the workspace, hide it from runs
    /// with [`RuntimeBuilder::with_protocol_folder`].
    pub fn load_protocol_folder(&self, folder: &Path) -> Result<Arc<Protocol>, ProtocolLoadError> {
        self.load_protocol(read_protocol_folder(folder)?)
    }

    /// Starts a run of the protocol's default workflow and returns its id. Nothing is performed
    /// until [`drive`](Self::drive) is called.
    pub async fn start(
        &self,
        protocol: &Arc<Protocol>,
        input: Option<Value>,
    ) -> Result<String, EngineError> {
        let (digest, workflow) = (protocol.digest.clone(), protocol.default_workflow.clone());
        let model = self.model_name.clone();
        let start = RunStart { protocol: digest, workflow, input, model, ..RunStart::default() };
        self.engine.start_run(protocol, start, None).await
    }

    /// Works on a run until it ends or waits for something; returns why it stopped.
    pub async fn drive(&self, run: &str) -> Result<IdleReason, EngineError> {
        self.driver.drive(run).await
    }

    /// Returns the newest state of a run.
    pub async fn get_state(&self, run: &str) -> Result<Arc<RunState>, EngineError> {
        Ok(self.engine.get_run(run).await?.state)
    }

    /// Returns the events of a run, oldest first.
    pub async fn list_events(&self, run: &str) -> Result<Vec<RunEvent>, EngineError> {
        let log = self.engine.read_log(run).await?;
        let events =
            log.iter().map(|entry| entry.decode_events(run)).collect::<Result<Vec<_>, _>>();
        Ok(events.map_err(|source| EngineError::corrupt(run, source))?.concat())
    }

    /// Answers a question on behalf of `by`. The answer is stored; call [`drive`](Self::drive) to
    /// continue the run.
    pub async fn answer_wait(
        &self,
        run: &str,
        wait: &str,
        value: Value,
        by: &str,
    ) -> Result<InputOutcome, EngineError> {
        let (wait, by) = (wait.to_owned(), by.to_owned());
        self.engine.submit_input(run, InputKind::Answered { wait, value, by }, None).await
    }

    /// Approves what `wait` shows, on behalf of `by`. If the subject has changed since `wait` was
    /// read, the decision is rejected. The decision is stored; call [`drive`](Self::drive) to
    /// continue the run.
    pub async fn approve_wait(
        &self,
        run: &str,
        wait: &RunWait,
        by: &str,
        note: Option<&str>,
    ) -> Result<InputOutcome, EngineError> {
        self.decide_approval(run, wait, true, by, note).await
    }

    /// Denies what `wait` shows, on behalf of `by`. The decision is stored; call
    /// [`drive`](Self::drive) to continue the run.
    pub async fn deny_wait(
        &self,
        run: &str,
        wait: &RunWait,
        by: &str,
        note: Option<&str>,
    ) -> Result<InputOutcome, EngineError> {
        self.decide_approval(run, wait, false, by, note).await
    }

    async fn decide_approval(
        &self,
        run: &str,
        wait: &RunWait,
        approve: bool,
        by: &str,
        note: Option<&str>,
    ) -> Result<InputOutcome, EngineError> {
        let decision = wait.decide(approve, by, note.map(str::to_owned));
        self.engine.submit_input(run, decision, None).await
    }
}

/// Resolves every name to the same model.
struct SingleModel(Arc<dyn ChatModel>);

impl ModelResolver for SingleModel {
    fn resolve_model(&self, _name: &str) -> Result<Option<Arc<dyn ChatModel>>, String> {
        Ok(Some(Arc::clone(&self.0)))
    }
}
