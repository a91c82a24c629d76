//! A tenant's watch: tells the hub, and whoever else wants to know.

use std::sync::Arc;

use countersign_core::run::{Event, State};
use countersign_runtime::watch::Watch;
use countersign_store::{RunId, TenantId};

use super::Hub;

/// Tells the hub what happens in the runs of a tenant.
pub struct Told {
    tenant: TenantId,
    hub: Arc<Hub>,
    inner: Arc<dyn Watch>,
}

impl Told {
    /// For a tenant; `inner` is told first.
    #[must_use]
    pub fn new(tenant: TenantId, hub: Arc<Hub>, inner: Arc<dyn Watch>) -> Self {
        Self { tenant, hub, inner }
    }

    fn run(&self, id: &str) -> RunId {
        RunId::new(self.tenant.clone(), id)
    }
}

impl Watch for Told {
    fn committed(&self, state: &State, events: &[Event]) {
        self.inner.committed(state, events);
        self.hub.committed(&self.run(&state.run), state);
    }

    fn writing(&self, state: &State, order: &str, text: &str) {
        self.inner.writing(state, order, text);
        self.hub.writing(&self.run(&state.run), state.version, order, text);
    }

    fn wrote(&self, state: &State, order: &str) {
        self.inner.wrote(state, order);
        self.hub.wrote(&self.run(&state.run), order);
    }

    fn warned(&self, run: &str, message: &str) {
        self.inner.warned(run, message);
    }
}
