//! Opens the selected store and pages through its runs, tenant by tenant.

use std::path::Path;
use std::sync::Arc;

use countersign_runtime::clock::SystemClock;
use countersign_runtime::engine::{Engine, EngineConfig};
use countersign_runtime::folder::EngineHome;
use countersign_runtime::run_observer::NoopRunObserver;
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_store::{RunFilter, RunHead, Store, TenantId};

use crate::args::StoreArgs;
use crate::context::NO_RUN_MESSAGE;
use crate::exit::CliError;
use crate::settings::CliSettings;
use crate::store_location::StoreLocation;

const PAGE_SIZE: usize = 500;

/// Returns the named tenant, or all tenants.
pub(super) async fn list_tenants(
    store: &Arc<dyn Store>,
    named: Option<&str>,
) -> Result<Vec<TenantId>, CliError> {
    match named {
        Some(named) => Ok(vec![TenantId::new(named)]),
        None => Ok(store.list_tenants().await?),
    }
}

/// Resolves the location of the selected database. Creates nothing.
pub(super) fn resolve_location(site: &StoreArgs) -> Result<StoreLocation, CliError> {
    let home = EngineHome::find(Path::new("."))?;
    let folder = home.as_ref().map_or(Path::new("."), EngineHome::workspace);
    let settings = CliSettings::load(folder, site, None)?;
    let location = match (settings.resolve_store()?, &home) {
        (Some(named), _) => StoreLocation::parse(named)?,
        (None, Some(home)) => StoreLocation::File(home.database_path()),
        (None, None) => return Err(CliError::Usage(NO_RUN_MESSAGE.to_owned())),
    };
    if location.exists() {
        Ok(location)
    } else {
        Err(CliError::Usage(format!("no database at `{location}`")))
    }
}

/// Opens an engine for the runs of one tenant, without background work.
pub(super) fn open_engine(store: &Arc<dyn Store>, tenant: &TenantId) -> Engine {
    Engine::open(EngineConfig {
        store: Arc::clone(store),
        clock: Arc::new(SystemClock),
        observer: Arc::new(NoopRunObserver),
        shipped_contracts: Arc::new(load_shipped_contracts()),
        workspace: None,
        tenant: tenant.clone(),
    })
}

/// Pages through the runs of a tenant, most recently created first.
pub(super) struct RunPages {
    filter: RunFilter,
    exhausted: bool,
}

impl RunPages {
    pub(super) fn new(tenant: &TenantId) -> Self {
        Self { filter: RunFilter::newest(tenant.clone(), PAGE_SIZE), exhausted: false }
    }

    /// Returns the next page; empty if there are no more runs.
    pub(super) async fn next_page(
        &mut self,
        store: &Arc<dyn Store>,
    ) -> Result<Vec<RunHead>, CliError> {
        if self.exhausted {
            return Ok(Vec::new());
        }
        let page = store.list_runs(&self.filter).await?;
        self.filter.after = page.last().map(RunHead::to_cursor);
        self.exhausted = page.len() < PAGE_SIZE;
        Ok(page)
    }
}
