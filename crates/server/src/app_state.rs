//! The state that all requests share: one store, one memory, and for each tenant an engine, a
//! driver and a workspace.
//!
//! Tenant `default` works in the server's own workspace. Every other tenant has a folder below
//! `.countersign/tenants`, so that no tenant sees the files of another. Authentication is in
//! [`access`](crate::access).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_contract::contract::ContractRegistry;
use countersign_memory::store::Memory;
use countersign_models::{Embedder, ModelSettings};
use countersign_run::{IdentitySource, InputSender};
use countersign_runtime::channel::ChannelSet;
use countersign_runtime::clock::{Clock, SystemClock};
use countersign_runtime::document::DocumentReader;
use countersign_runtime::driver::{CachedModelResolver, Driver, ModelResolver, WorkerHeartbeat};
use countersign_runtime::effect::{NoopRetrieverFactory, RetrieverFactory};
use countersign_runtime::engine::generate_run_name;
use countersign_runtime::folder::{EngineHome, FolderError, find_protocol_folder};
use countersign_runtime::run_observer::{NoopRunObserver, RunObserver};
use countersign_runtime::trust::ActionGuard;
use countersign_runtime::worker::DriverProvider;
use countersign_runtime::{Runtime, RuntimeBuildError, RuntimeBuilder};
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_store::{Store, TenantId};
use thiserror::Error;

use crate::access::AccessRole;
use crate::access::is_valid_tenant_name;
use crate::live::{RunHub, RunHubPublisher};
use countersign_view::protocol_catalog::{ProtocolCatalog, SHIPPED_DATA, load_shipped_permissions};

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
    /// Receives the notifications of tenant `default` and the warnings of the server.
    pub watch: Arc<dyn RunObserver>,
    /// Resolves model names to models.
    pub models: Arc<dyn ModelResolver>,
    /// Creates retrievers for the sources that protocols declare.
    pub sources: Arc<dyn RetrieverFactory>,
    /// Reads the text of documents; by default in this process, which suits trusted files only.
    pub document_reader: DocumentReader,
    /// Decides which programs, hosts and sources protocols may use on this machine.
    pub guard: ActionGuard,
    /// The channels that people are told through; each names the tenants that may use it.
    pub channels: Arc<ChannelSet>,
    /// The contracts that ship with the program.
    pub contracts: Arc<ContractRegistry>,
    /// The engine's own folder, and the workspace of tenant `default`.
    pub home: EngineHome,
    /// The protocol folder of the workspace; `None` if there is none.
    pub protocol_folder: Option<PathBuf>,
    /// The model that is used instead of the models that protocols name; `None` if protocols
    /// decide.
    pub model_override: Option<String>,
    /// The user name of callers without a key.
    pub default_user: String,
    /// How the server knows that the default user is who they are: the operating system, or a claim.
    pub default_sender: InputSender,
    /// The name of this machine, as shown to people.
    pub host: String,
}

impl ServerDeps {
    /// Creates dependencies with defaults: the system clock, models without API keys, the shipped
    /// contracts, the protocol folder of the workspace, no memory, no further kinds of sources, and
    /// a guard that permits what the shipped protocols need. Callers without a key act as user
    /// `default`. Set the fields that should differ.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, home: EngineHome) -> Self {
        let workspace = home.workspace().to_owned();
        Self {
            store,
            memory: None,
            memory_disabled: false,
            embedder: None,
            clock: Arc::new(SystemClock),
            watch: Arc::new(NoopRunObserver),
            models: Arc::new(CachedModelResolver::new(ModelSettings::default(), workspace.clone())),
            sources: Arc::new(NoopRetrieverFactory),
            document_reader: DocumentReader::in_process(),
            protocol_folder: find_protocol_folder(&workspace),
            guard: ActionGuard::new(workspace, load_shipped_permissions),
            channels: Arc::default(),
            contracts: Arc::new(load_shipped_contracts()),
            home,
            model_override: None,
            default_user: "local".to_owned(),
            default_sender: InputSender {
                identity: IdentitySource::Claim,
                principal: None,
                groups: Vec::new(),
                roles: AccessRole::Admin.included_names(),
            },
            host: "localhost".to_owned(),
        }
    }
}

/// Why the runtime of a tenant cannot be opened.
#[derive(Debug, Error)]
pub enum TenantRuntimeError {
    /// The engine's folder of the tenant cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The runtime of the tenant cannot be built.
    #[error(transparent)]
    Build(#[from] RuntimeBuildError),
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
    tenants: Mutex<BTreeMap<TenantId, Arc<Runtime>>>,
}

impl DriverProvider for AppState {
    fn get_driver(&self, tenant: &TenantId) -> Result<Arc<Driver>, String> {
        let runtime = self.open_tenant(tenant).map_err(|error| error.to_string())?;
        Ok(Arc::clone(&runtime.driver))
    }

    fn list_drivers(&self) -> Vec<Arc<Driver>> {
        let tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        tenants.values().map(|runtime| Arc::clone(&runtime.driver)).collect()
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
    pub fn find_tenant(&self, tenant: &TenantId) -> Option<Arc<Runtime>> {
        let tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        tenants.get(tenant).map(Arc::clone)
    }

    /// Returns the runtime of a tenant, and opens it on first use.
    pub fn open_tenant(&self, tenant: &TenantId) -> Result<Arc<Runtime>, TenantRuntimeError> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = tenants.get(tenant) {
            return Ok(Arc::clone(runtime));
        }
        if tenants.len() >= MAX_IDLE_TENANTS {
            // A runtime whose driver has no other owner has no work in progress, and can be opened
            // again later.
            let idle = |runtime: &Arc<Runtime>| {
                Arc::strong_count(runtime) == 1 && Arc::strong_count(&runtime.driver) == 1
            };
            tenants.retain(|tenant, runtime| *tenant == TenantId::default() || !idle(runtime));
        }
        let runtime = Arc::new(self.build_tenant_runtime(tenant)?);
        tenants.insert(tenant.clone(), Arc::clone(&runtime));
        Ok(runtime)
    }

    /// Returns every open tenant runtime.
    #[must_use]
    pub fn list_tenants(&self) -> Vec<Arc<Runtime>> {
        let tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        tenants.values().map(Arc::clone).collect()
    }

    fn build_tenant_runtime(&self, tenant: &TenantId) -> Result<Runtime, TenantRuntimeError> {
        let deps = &self.deps;
        let is_default = *tenant == TenantId::default();
        let home = if is_default { deps.home.clone() } else { self.create_tenant_home(tenant)? };
        let observer: Arc<dyn RunObserver> =
            if is_default { Arc::clone(&deps.watch) } else { Arc::new(NoopRunObserver) };
        let guard = deps.guard.clone();
        let guard = if is_default { guard } else { guard.for_tenant(home.workspace().to_owned()) };
        let hub = Arc::clone(&self.hub);
        let builder = RuntimeBuilder::from_home(Arc::clone(&deps.store), home)
            .with_tenant(tenant.clone())
            .with_clock(Arc::clone(&deps.clock))
            .with_observer(Arc::new(RunHubPublisher::new(tenant.clone(), hub, observer)))
            .with_contracts(Arc::clone(&deps.contracts))
            .with_models(Arc::clone(&deps.models))
            .with_sources(Arc::clone(&deps.sources))
            .with_document_reader(deps.document_reader.clone())
            .with_guard(guard)
            .with_channels(Arc::clone(&deps.channels))
            .with_protocol_folder(deps.protocol_folder.clone())
            .with_data_folder(deps.home.folder().join(SHIPPED_DATA))
            .with_worker(self.worker.clone())
            .with_heartbeat(self.heartbeat.clone())
            .with_store_retry(STORE_RETRY_MS);
        let builder = match &deps.memory {
            Some(memory) => builder.with_memory(Arc::clone(memory)),
            None if deps.memory_disabled => builder.without_memory(),
            None => builder,
        };
        let builder = match &deps.embedder {
            Some(embedder) => builder.with_embedder(Arc::clone(embedder)),
            None => builder,
        };
        Ok(builder.build()?)
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
