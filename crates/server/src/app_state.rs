//! The house behind the doors: one store, one memory, and for each tenant an engine, a driver and a folder of
//! work.
//!
//! The tenant `local` works in the folder of the house; every other one has a folder of its own below
//! `.countersign/tenants`, so that no file of one is seen by another. Not here: who may come in.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::contract::ContractRegistry;
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

/// How long a result is offered to a store that is away, in milliseconds: what a model said is dear.
const STORE_RETRY_MS: i64 = 10 * 60 * 1000;

/// Desks beyond which those of tenants that nobody asks for are put away.
const MAX_IDLE_TENANTS: usize = 1_024;

/// What a house is furnished with.
pub struct ServerDeps {
    /// Where runs are kept.
    pub store: Arc<dyn Store>,
    /// What is remembered, where anything is.
    pub memory: Option<Arc<dyn Memory>>,
    /// Whether memory was turned off, so that what is started here is never remembered.
    pub memory_disabled: bool,
    /// Who makes vectors for it, where somebody does.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Who else is told of the runs of tenant `local`.
    pub watch: Arc<dyn RunObserver>,
    /// Which model answers to which name.
    pub models: Arc<dyn ModelResolver>,
    /// What sources there can be.
    pub sources: Arc<dyn RetrieverFactory>,
    /// What protocols may do here.
    pub guard: ActionGuard,
    /// The contracts that ship.
    pub contracts: Arc<ContractRegistry>,
    /// The engine's own folder, and the folder of work.
    pub home: EngineHome,
    /// The folder of the protocol that is meant, where there is one.
    pub protocol_folder: Option<PathBuf>,
    /// The model that is asked, whatever protocols say.
    pub model_override: Option<String>,
    /// Who acts where no key says it.
    pub default_user: String,
    /// The name of this machine, for people.
    pub host: String,
}

/// Why a tenant has no desk.
#[derive(Debug, Error)]
pub enum TenantRuntimeError {
    /// Its folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Its files cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// Its notes about effects cannot be kept.
    #[error(transparent)]
    Journal(#[from] EffectJournalError),
    /// Its name is none that a folder can have.
    #[error(
        "tenant `{tenant}` can have no folder of work here: its name is none that a folder can have"
    )]
    InvalidTenantName {
        /// Whose.
        tenant: TenantId,
    },
    /// The folder for it cannot be made.
    #[error("the folder of tenant `{tenant}` cannot be made: {source}")]
    CreateFolder {
        /// Whose.
        tenant: TenantId,
        /// What the system said.
        source: std::io::Error,
    },
}

/// The house.
pub struct AppState {
    deps: ServerDeps,
    catalog: ProtocolCatalog,
    hub: Arc<RunHub>,
    worker: String,
    heartbeat: Option<Arc<WorkerHeartbeat>>,
    tenants: Mutex<BTreeMap<TenantId, Arc<TenantRuntime>>>,
}

/// Where one tenant's runs are worked on.
pub struct TenantRuntime {
    /// Decides and keeps.
    pub engine: Arc<Engine>,
    /// Does what runs order.
    pub driver: Arc<Driver>,
    /// The folder of work.
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
    /// A house with this furniture.
    #[must_use]
    pub fn open(deps: ServerDeps) -> Self {
        let ServerDeps { protocol_folder: protocol, home, contracts, .. } = &deps;
        let catalog = ProtocolCatalog::new(protocol.clone(), home.clone(), Arc::clone(contracts));
        let worker = format!("serve-{}-{}", std::process::id(), generate_run_name());
        // Others cannot tell a dead process from a slow one without it, and wait for its leases.
        let presence = WorkerHeartbeat::announce(&home.folder().join("workers"), &worker).ok();
        let (heartbeat, hub, tenants) = (presence.map(Arc::new), Arc::default(), Mutex::default());
        Self { deps, catalog, hub, worker, heartbeat, tenants }
    }

    /// What its leases are known by.
    #[must_use]
    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// That it lives, for others on this machine; `Empty` where its folder cannot be written to.
    #[must_use]
    pub fn heartbeat(&self) -> Option<&Arc<WorkerHeartbeat>> {
        self.heartbeat.as_ref()
    }

    /// What it is furnished with.
    #[must_use]
    pub fn deps(&self) -> &ServerDeps {
        &self.deps
    }

    /// The protocols it offers.
    #[must_use]
    pub fn catalog(&self) -> &ProtocolCatalog {
        &self.catalog
    }

    /// Who is told what happens in it.
    #[must_use]
    pub fn hub(&self) -> &Arc<RunHub> {
        &self.hub
    }

    /// The desk of a tenant, where it was put there.
    #[must_use]
    pub fn find_tenant(&self, tenant: &TenantId) -> Option<Arc<TenantRuntime>> {
        let desks = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        desks.get(tenant).map(Arc::clone)
    }

    /// The desk of a tenant; it is put there when it is first asked for.
    pub fn open_tenant(&self, tenant: &TenantId) -> Result<Arc<TenantRuntime>, TenantRuntimeError> {
        let mut desks = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(desk) = desks.get(tenant) {
            return Ok(Arc::clone(desk));
        }
        if desks.len() >= MAX_IDLE_TENANTS {
            // One whose driver is in nobody's hands has nothing under way, and can be put there again.
            let idle = |desk: &Arc<TenantRuntime>| {
                Arc::strong_count(desk) == 1 && Arc::strong_count(&desk.driver) == 1
            };
            desks.retain(|tenant, desk| *tenant == TenantId::default() || !idle(desk));
        }
        let desk = Arc::new(self.build_tenant_runtime(tenant)?);
        desks.insert(tenant.clone(), Arc::clone(&desk));
        Ok(desk)
    }

    /// Every desk that was put there.
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
                    let told = format!("notes of effects that are over stay: {error}");
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
        // A store that others write to may have any name in it.
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
