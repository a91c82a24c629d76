//! The state that all requests share: one store, one memory, and for each tenant an engine, a
//! driver and a workspace.
//!
//! Tenant `local` works in the server's own workspace. Every other tenant has a folder below
//! `.countersign/tenants`, so that no tenant sees the files of another. Authentication is in
//! [`access`](crate::access).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_contract::contract::ContractRegistry;
use countersign_memory::store::Memory;
use countersign_models::Embedder;
use countersign_runtime::clock::Clock;
use countersign_runtime::driver::{Driver, EffectExecutor, ModelResolver, WorkerHeartbeat};
use countersign_runtime::effect::{
    EffectJournal, EffectJournalError, RetrieverFactory, sweep_journal,
};
use countersign_runtime::engine::{Engine, EngineConfig, generate_run_name};
use countersign_runtime::folder::{EngineHome, FolderError, hide_protocol};
use countersign_runtime::run_observer::{NoopRunObserver, RunObserver};
use countersign_runtime::trust::ActionGuard;
use countersign_runtime::worker::DriverProvider;
use countersign_runtime::workspace::{Workspace, WorkspaceError};
use countersign_store::{Store, TenantId};
use thiserror::Error;

use crate::access::is_valid_tenant_name;
use crate::live::{RunHub, RunHubPublisher};
use crate::protocol_catalog::{ProtocolCatalog, SHIPPED_DATA};

/// How long the driver retries to save a result while the store is unavailable, in milliseconds.
/// Model replies are expensive, so it waits for minutes.
const STORE_RETRY_MS: i64 = 10 * 60 * 1000;

/// Number of open tenant runtimes above which idle ones are dropped.
const MAX_IDLE_TENANTS: usize = 1_024;

/// The dependencies of a server, provided by the program that starts it.
pub struct ServerDeps {
    /// Stores the runs of all tenants.
    pub store: Arc<dyn Store>,
    /// Stores memory; `None` if the server has no memory.
    pub memory: Option<Arc<dyn Memory>>,
    /// Whether memory was switched off, so that runs started here never record memory.
    pub memory_disabled: bool,
    /// Computes vectors for memory; `None` if memory ranks by words alone.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// The source of the current time.
    pub clock: Arc<dyn Clock>,
    /// Receives the notifications of tenant `local` and the warnings of the server.
    pub watch: Arc<dyn RunObserver>,
    /// Resolves model names to models.
    pub models: Arc<dyn ModelResolver>,
    /// Creates retrievers for the sources that protocols declare.
    pub sources: Arc<dyn RetrieverFactory>,
    /// Decides which programs, hosts and sources protocols may use on this machine.
    pub guard: ActionGuard,
    /// The contracts that ship with the program.
    pub contracts: Arc<ContractRegistry>,
    /// The engine's own folder, and the workspace of tenant `local`.
    pub home: EngineHome,
    /// The protocol folder of the workspace; `None` if there is none.
    pub protocol_folder: Option<PathBuf>,
    /// The model that is used instead of the models that protocols name; `None` if protocols
    /// decide.
    pub model_override: Option<String>,
    /// The user name of callers without a key.
    pub default_user: String,
    /// The name of this machine, as shown to people.
    pub host: String,
}

/// Why the runtime of a tenant cannot be opened.
#[derive(Debug, Error)]
pub enum TenantRuntimeError {
    /// The engine's folder of the tenant cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The workspace of the tenant cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The effect journal of the tenant cannot be opened.
    #[error(transparent)]
    Journal(#[from] EffectJournalError),
    /// The tenant name cannot be used as a folder name.
    #[error("cannot create a workspace for tenant `{tenant}`: the name is not a valid folder name")]
    InvalidTenantName {
        /// The tenant with the invalid name.
        tenant: TenantId,
    },
    /// The tenant's folder cannot be created.
    #[error("cannot create the folder of tenant `{tenant}`: {source}")]
    CreateFolder {
        /// The tenant whose folder is missing.
        tenant: TenantId,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// The shared state of a server: its dependencies and the open tenant runtimes.
pub struct AppState {
    deps: ServerDeps,
    catalog: ProtocolCatalog,
    hub: Arc<RunHub>,
    worker: String,
    heartbeat: Option<Arc<WorkerHeartbeat>>,
    tenants: Mutex<BTreeMap<TenantId, Arc<TenantRuntime>>>,
}

/// Everything that works on the runs of one tenant.
pub struct TenantRuntime {
    /// Loads runs, decides inputs and saves events.
    pub engine: Arc<Engine>,
    /// Performs the actions of runs.
    pub driver: Arc<Driver>,
    /// The folder that runs of this tenant read and write.
    pub workspace: Workspace,
}

impl DriverProvider for AppState {
    fn get_driver(&self, tenant: &TenantId) -> Result<Arc<Driver>, String> {
        let desk = self.open_tenant(tenant).map_err(|error| error.to_string())?;
        Ok(Arc::clone(&desk.driver))
    }

    fn list_drivers(&self) -> Vec<Arc<Driver>> {
        let desks = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        desks.values().map(|desk| Arc::clone(&desk.driver)).collect()
    }
}

impl AppState {
    /// Creates the state and announces this process as a worker.
    #[must_use]
    pub fn open(deps: ServerDeps) -> Self {
        let ServerDeps { protocol_folder: protocol, home, contracts, .. } = &deps;
        let catalog = ProtocolCatalog::new(protocol.clone(), home.clone(), Arc::clone(contracts));
        let worker = format!("serve-{}-{}", std::process::id(), generate_run_name());
        // Without a heartbeat, other processes cannot tell a dead process from a slow one, and wait
        // until its leases expire.
        let presence = WorkerHeartbeat::announce(&home.folder().join("workers"), &worker).ok();
        let (heartbeat, hub, tenants) = (presence.map(Arc::new), Arc::default(), Mutex::default());
        Self { deps, catalog, hub, worker, heartbeat, tenants }
    }

    /// The worker name in the leases of this process.
    #[must_use]
    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// The heartbeat for other processes on this machine; `None` if the folder is not writable.
    #[must_use]
    pub fn heartbeat(&self) -> Option<&Arc<WorkerHeartbeat>> {
        self.heartbeat.as_ref()
    }

    /// The dependencies that the server was created with.
    #[must_use]
    pub fn deps(&self) -> &ServerDeps {
        &self.deps
    }

    /// The protocols that runs can be started from.
    #[must_use]
    pub fn catalog(&self) -> &ProtocolCatalog {
        &self.catalog
    }

    /// Publishes changes of runs to subscribers.
    #[must_use]
    pub fn hub(&self) -> &Arc<RunHub> {
        &self.hub
    }

    /// Returns the runtime of a tenant if it is open.
    #[must_use]
    pub fn find_tenant(&self, tenant: &TenantId) -> Option<Arc<TenantRuntime>> {
        let desks = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        desks.get(tenant).map(Arc::clone)
    }

    /// Returns the runtime of a tenant, and opens it on first use.
    pub fn open_tenant(&self, tenant: &TenantId) -> Result<Arc<TenantRuntime>, TenantRuntimeError> {
        let mut desks = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(desk) = desks.get(tenant) {
            return Ok(Arc::clone(desk));
        }
        if desks.len() >= MAX_IDLE_TENANTS {
            // A runtime whose driver has no other owner has no work in progress, and can be opened
            // again later.
            let idle = |desk: &Arc<TenantRuntime>| {
                Arc::strong_count(desk) == 1 && Arc::strong_count(&desk.driver) == 1
            };
            desks.retain(|tenant, desk| *tenant == TenantId::default() || !idle(desk));
        }
        let desk = Arc::new(self.build_tenant_runtime(tenant)?);
        desks.insert(tenant.clone(), Arc::clone(&desk));
        Ok(desk)
    }

    /// Returns every open tenant runtime.
    #[must_use]
    pub fn list_tenants(&self) -> Vec<Arc<TenantRuntime>> {
        let desks = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        desks.values().map(Arc::clone).collect()
    }

    fn build_tenant_runtime(&self, tenant: &TenantId) -> Result<TenantRuntime, TenantRuntimeError> {
        let ServerDeps { store, memory, embedder, clock, models, sources, contracts, home, .. } =
            &self.deps;
        let ours = *tenant == TenantId::default();
        let own = if ours { home.clone() } else { self.create_tenant_home(tenant)? };
        let watch =
            if ours { Arc::clone(&self.deps.watch) } else { Arc::new(NoopRunObserver) as Arc<_> };
        let workspace = Workspace::open(own.workspace())?;
        let workspace = match &self.deps.protocol_folder {
            Some(folder) => hide_protocol(workspace, folder)?,
            None => workspace,
        };
        let engine = Engine::open(EngineConfig {
            store: Arc::clone(store),
            clock: Arc::clone(clock),
            observer: Arc::new(RunHubPublisher::new(tenant.clone(), Arc::clone(&self.hub), watch)),
            shipped_contracts: Arc::clone(contracts),
            workspace: Some(workspace.clone()),
            tenant: tenant.clone(),
        });
        let engine = match memory {
            Some(memory) => engine.with_memory(Arc::clone(memory)),
            None if self.deps.memory_disabled => engine.without_memory(),
            None => engine,
        };
        let engine = match embedder {
            Some(embedder) => engine.with_embedder(Arc::clone(embedder)),
            None => engine,
        };
        let engine = Arc::new(engine);
        let journal = EffectJournal::open(&own.effects_path())?;
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (engine, journal) = (Arc::clone(&engine), journal.clone());
            runtime.spawn(async move {
                if let Err(error) = sweep_journal(&engine, &journal).await {
                    let told =
                        format!("cannot remove the journal entries of finished effects: {error}");
                    engine.observer().on_warning("any", &told);
                }
            });
        }
        let guard = self.deps.guard.clone();
        let guard = if ours { guard } else { guard.for_tenant(own.workspace().to_owned()) };
        let hands = EffectExecutor::new(workspace.clone(), guard, journal, own.workspace())
            .with_retriever_factory(Arc::clone(sources))
            .with_data_folder(home.folder().join(SHIPPED_DATA));
        let driver =
            Driver::new(Arc::clone(&engine), Arc::clone(models), hands, self.worker.clone())
                .with_store_retry(STORE_RETRY_MS);
        let driver = match &self.heartbeat {
            Some(presence) => driver.with_heartbeat(Arc::clone(presence)),
            None => driver,
        };
        Ok(TenantRuntime { engine, driver: Arc::new(driver), workspace })
    }

    fn create_tenant_home(&self, tenant: &TenantId) -> Result<EngineHome, TenantRuntimeError> {
        // Other programs may write any tenant name into a shared store.
        if !is_valid_tenant_name(tenant.as_str()) {
            return Err(TenantRuntimeError::InvalidTenantName { tenant: tenant.clone() });
        }
        let folder = self.deps.home.folder().join("tenants").join(tenant.as_str());
        countersign_runtime::private_files::create_folder(&folder).map_err(|source| {
            TenantRuntimeError::CreateFolder { tenant: tenant.clone(), source }
        })?;
        Ok(EngineHome::create(&folder)?)
    }
}
