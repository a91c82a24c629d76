//! An observer that forwards the notifications of a tenant's runs to the hub and to another
//! observer.

use std::sync::Arc;

use countersign_run::{RunEvent, RunState};
use countersign_runtime::run_observer::RunObserver;
use countersign_store::{RunId, TenantId};

use super::RunHub;

/// Publishes the changes of a tenant's runs to the hub.
pub struct RunHubPublisher {
    tenant: TenantId,
    hub: Arc<RunHub>,
    inner: Arc<dyn RunObserver>,
}

impl RunHubPublisher {
    /// Creates the observer for a tenant; it notifies `inner` first.
    #[must_use]
    pub fn new(tenant: TenantId, hub: Arc<RunHub>, inner: Arc<dyn RunObserver>) -> Self {
        Self { tenant, hub, inner }
    }

    fn run_id(&self, id: &str) -> RunId {
        RunId::new(self.tenant.clone(), id)
    }
}

impl RunObserver for RunHubPublisher {
    fn on_commit(&self, state: &RunState, events: &[RunEvent]) {
        self.inner.on_commit(state, events);
        self.hub.publish_commit(&self.run_id(&state.run), state);
    }

    fn on_model_text(&self, state: &RunState, order: &str, text: &str) {
        self.inner.on_model_text(state, order, text);
        self.hub.publish_output(&self.run_id(&state.run), state.version, order, text);
    }

    fn on_model_done(&self, state: &RunState, order: &str) {
        self.inner.on_model_done(state, order);
        self.hub.finish_output(&self.run_id(&state.run), order);
    }

    fn on_warning(&self, run: &str, message: &str) {
        self.inner.on_warning(run, message);
    }
}
