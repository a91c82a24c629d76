//! The house behind the doors: one store, one memory, and for each tenant an engine, a driver and a folder of
//! work.
//!
//! The tenant `local` works in the folder of the house; every other one has a folder of its own below
//! `.countersign/tenants`, so that no file of one is seen by another. Not here: who may come in.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::contract::Registry;
use countersign_memory::store::Memory;
use countersign_models::Embedder;
use countersign_runtime::clock::Clock;
use countersign_runtime::driver::{Driver, Hands, Models, Presence};
use countersign_runtime::effect::{Journal, JournalError, SourceKinds, sweep_journal};
use countersign_runtime::engine::{Engine, Opened, fresh_name};
use countersign_runtime::folder::{FolderError, Home, hide_protocol};
use countersign_runtime::trust::ActionGuard;
use countersign_runtime::watch::{Unwatched, Watch};
use countersign_runtime::worker::Crew;
use countersign_runtime::workspace::{Workspace, WorkspaceError};
use countersign_store::{Store, TenantId};
use thiserror::Error;

use crate::access::is_tenant;
use crate::catalog::{Catalog, SHIPPED_DATA};
use crate::live::{Hub, Told};

/// How long a result is offered to a store that is away, in milliseconds: what a model said is dear.
const PATIENCE: i64 = 10 * 60 * 1000;

/// Desks beyond which those of tenants that nobody asks for are put away.
const MAX_DESKS: usize = 1_024;

/// What a house is furnished with.
pub struct Furniture {
    /// Where runs are kept.
    pub store: Arc<dyn Store>,
    /// What is remembered, where anything is.
    pub memory: Option<Arc<dyn Memory>>,
    /// Whether memory was turned off, so that what is started here is never remembered.
    pub unremembered: bool,
    /// Who makes vectors for it, where somebody does.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Who else is told of the runs of tenant `local`.
    pub watch: Arc<dyn Watch>,
    /// Which model answers to which name.
    pub models: Arc<dyn Models>,
    /// What sources there can be.
    pub sources: Arc<dyn SourceKinds>,
    /// What protocols may do here.
    pub guard: ActionGuard,
    /// The contracts that ship.
    pub contracts: Arc<Registry>,
    /// The engine's own folder, and the folder of work.
    pub home: Home,
    /// The folder of the protocol that is meant, where there is one.
    pub protocol: Option<PathBuf>,
    /// The model that is asked, whatever protocols say.
    pub model: Option<String>,
    /// Who acts where no key says it.
    pub user: String,
    /// The name of this machine, for people.
    pub host: String,
}

/// Why a tenant has no desk.
#[derive(Debug, Error)]
pub enum HouseError {
    /// Its folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Its files cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// Its notes about effects cannot be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Its name is none that a folder can have.
    #[error(
        "tenant `{tenant}` can have no folder of work here: its name is none that a folder can have"
    )]
    Name {
        /// Whose.
        tenant: TenantId,
    },
    /// The folder for it cannot be made.
    #[error("the folder of tenant `{tenant}` cannot be made: {source}")]
    NoFolder {
        /// Whose.
        tenant: TenantId,
        /// What the system said.
        source: std::io::Error,
    },
}

/// The house.
pub struct House {
    furniture: Furniture,
    catalog: Catalog,
    hub: Arc<Hub>,
    worker: String,
    presence: Option<Arc<Presence>>,
    desks: Mutex<BTreeMap<TenantId, Arc<Desk>>>,
}

/// Where one tenant's runs are worked on.
pub struct Desk {
    /// Decides and keeps.
    pub engine: Arc<Engine>,
    /// Does what runs order.
    pub driver: Arc<Driver>,
    /// The folder of work.
    pub workspace: Workspace,
}

impl Crew for House {
    fn driver(&self, tenant: &TenantId) -> Result<Arc<Driver>, String> {
        let desk = self.desk(tenant).map_err(|error| error.to_string())?;
        Ok(Arc::clone(&desk.driver))
    }

    fn drivers(&self) -> Vec<Arc<Driver>> {
        let desks = self.desks.lock().unwrap_or_else(PoisonError::into_inner);
        desks.values().map(|desk| Arc::clone(&desk.driver)).collect()
    }
}

impl House {
    /// A house with this furniture.
    #[must_use]
    pub fn open(furniture: Furniture) -> Self {
        let Furniture { protocol, home, contracts, .. } = &furniture;
        let catalog = Catalog::new(protocol.clone(), home.clone(), Arc::clone(contracts));
        let worker = format!("serve-{}-{}", std::process::id(), fresh_name());
        // Others cannot tell a dead process from a slow one without it, and wait for its leases.
        let presence = Presence::announce(&home.folder().join("workers"), &worker).ok();
        let (presence, hub, desks) = (presence.map(Arc::new), Arc::default(), Mutex::default());
        Self { furniture, catalog, hub, worker, presence, desks }
    }

    /// What its leases are known by.
    #[must_use]
    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// That it lives, for others on this machine; `None` where its folder cannot be written to.
    #[must_use]
    pub fn presence(&self) -> Option<&Arc<Presence>> {
        self.presence.as_ref()
    }

    /// What it is furnished with.
    #[must_use]
    pub fn furniture(&self) -> &Furniture {
        &self.furniture
    }

    /// The protocols it offers.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Who is told what happens in it.
    #[must_use]
    pub fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// The desk of a tenant, where it was put there.
    #[must_use]
    pub fn known_desk(&self, tenant: &TenantId) -> Option<Arc<Desk>> {
        let desks = self.desks.lock().unwrap_or_else(PoisonError::into_inner);
        desks.get(tenant).map(Arc::clone)
    }

    /// The desk of a tenant; it is put there when it is first asked for.
    pub fn desk(&self, tenant: &TenantId) -> Result<Arc<Desk>, HouseError> {
        let mut desks = self.desks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(desk) = desks.get(tenant) {
            return Ok(Arc::clone(desk));
        }
        if desks.len() >= MAX_DESKS {
            // One whose driver is in nobody's hands has nothing under way, and can be put there again.
            let idle = |desk: &Arc<Desk>| {
                Arc::strong_count(desk) == 1 && Arc::strong_count(&desk.driver) == 1
            };
            desks.retain(|tenant, desk| *tenant == TenantId::default() || !idle(desk));
        }
        let desk = Arc::new(self.furnish(tenant)?);
        desks.insert(tenant.clone(), Arc::clone(&desk));
        Ok(desk)
    }

    /// Every desk that was put there.
    #[must_use]
    pub fn desks(&self) -> Vec<Arc<Desk>> {
        let desks = self.desks.lock().unwrap_or_else(PoisonError::into_inner);
        desks.values().map(Arc::clone).collect()
    }

    fn furnish(&self, tenant: &TenantId) -> Result<Desk, HouseError> {
        let Furniture { store, memory, embedder, clock, models, sources, contracts, home, .. } =
            &self.furniture;
        let ours = *tenant == TenantId::default();
        let own = if ours { home.clone() } else { self.home_of(tenant)? };
        let watch =
            if ours { Arc::clone(&self.furniture.watch) } else { Arc::new(Unwatched) as Arc<_> };
        let workspace = Workspace::open(own.workspace())?;
        let workspace = match &self.furniture.protocol {
            Some(folder) => hide_protocol(workspace, folder)?,
            None => workspace,
        };
        let engine = Engine::open(Opened {
            store: Arc::clone(store),
            clock: Arc::clone(clock),
            watch: Arc::new(Told::new(tenant.clone(), Arc::clone(&self.hub), watch)),
            shipped: Arc::clone(contracts),
            workspace: Some(workspace.clone()),
            tenant: tenant.clone(),
        });
        let engine = match memory {
            Some(memory) => engine.with_memory(Arc::clone(memory)),
            None if self.furniture.unremembered => engine.without_memory(),
            None => engine,
        };
        let engine = match embedder {
            Some(embedder) => engine.with_embedder(Arc::clone(embedder)),
            None => engine,
        };
        let engine = Arc::new(engine);
        let journal = Journal::open(&own.effects())?;
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (engine, journal) = (Arc::clone(&engine), journal.clone());
            runtime.spawn(async move {
                if let Err(error) = sweep_journal(&engine, &journal).await {
                    let told = format!("notes of effects that are over stay: {error}");
                    engine.watch().warned("any", &told);
                }
            });
        }
        let guard = self.furniture.guard.clone();
        let guard = if ours { guard } else { guard.for_tenant(own.workspace().to_owned()) };
        let hands = Hands::new(workspace.clone(), guard, journal, own.workspace())
            .with_sources(Arc::clone(sources))
            .with_data(home.folder().join(SHIPPED_DATA));
        let driver =
            Driver::new(Arc::clone(&engine), Arc::clone(models), hands, self.worker.clone())
                .with_patience(PATIENCE);
        let driver = match &self.presence {
            Some(presence) => driver.present(Arc::clone(presence)),
            None => driver,
        };
        Ok(Desk { engine, driver: Arc::new(driver), workspace })
    }

    fn home_of(&self, tenant: &TenantId) -> Result<Home, HouseError> {
        // A store that others write to may have any name in it.
        if !is_tenant(tenant.as_str()) {
            return Err(HouseError::Name { tenant: tenant.clone() });
        }
        let folder = self.furniture.home.folder().join("tenants").join(tenant.as_str());
        countersign_runtime::private::create_folder(&folder)
            .map_err(|source| HouseError::NoFolder { tenant: tenant.clone(), source })?;
        Ok(Home::create(&folder)?)
    }
}
