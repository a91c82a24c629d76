//! The store that is meant, and every run of it, tenant by tenant, a page at a time.

use std::path::Path;
use std::sync::Arc;

use countersign_contracts::registry;
use countersign_runtime::clock::SystemClock;
use countersign_runtime::engine::{Engine, Opened};
use countersign_runtime::folder::Home;
use countersign_runtime::watch::Unwatched;
use countersign_store::{Head, RunFilter, Store, TenantId};

use crate::args::Site;
use crate::exit::Error;
use crate::house::NO_RUN;
use crate::place::Place;
use crate::settings::Settings;

const PAGE: usize = 500;

/// The tenants that are meant: the one that was named, or all there are.
pub(super) async fn tenants(
    store: &Arc<dyn Store>,
    named: Option<&str>,
) -> Result<Vec<TenantId>, Error> {
    match named {
        Some(named) => Ok(vec![TenantId::new(named)]),
        None => Ok(store.tenants().await?),
    }
}

/// The database that is meant. Nothing is made.
pub(super) fn place(site: &Site) -> Result<Place, Error> {
    let home = Home::find(Path::new("."))?;
    let folder = home.as_ref().map_or(Path::new("."), Home::workspace);
    let settings = Settings::read(folder, site, None)?;
    let place = match (settings.store()?, &home) {
        (Some(named), _) => Place::named(named)?,
        (None, Some(home)) => Place::File(home.database()),
        (None, None) => return Err(Error::Usage(NO_RUN.to_owned())),
    };
    if place.is_there() {
        Ok(place)
    } else {
        Err(Error::Usage(format!("no database at `{place}`")))
    }
}

/// An engine for the runs of one tenant, which does nothing by itself.
pub(super) fn engine(store: &Arc<dyn Store>, tenant: &TenantId) -> Engine {
    Engine::open(Opened {
        store: Arc::clone(store),
        clock: Arc::new(SystemClock),
        watch: Arc::new(Unwatched),
        shipped: Arc::new(registry()),
        workspace: None,
        tenant: tenant.clone(),
    })
}

/// The runs of a tenant, the one created last first.
pub(super) struct Pages {
    filter: RunFilter,
    ended: bool,
}

impl Pages {
    pub(super) fn of(tenant: &TenantId) -> Self {
        Self { filter: RunFilter::newest(tenant.clone(), PAGE), ended: false }
    }

    /// The next of them; none where there are no more.
    pub(super) async fn next(&mut self, store: &Arc<dyn Store>) -> Result<Vec<Head>, Error> {
        if self.ended {
            return Ok(Vec::new());
        }
        let page = store.runs(&self.filter).await?;
        self.filter.after = page.last().map(Head::cursor);
        self.ended = page.len() < PAGE;
        Ok(page)
    }
}
