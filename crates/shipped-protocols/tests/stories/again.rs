//! A story lived again: its inputs given to another run. Models, people, files and sources have answered
//! already, so nothing but the engine and a store takes part.

use std::sync::Arc;

use countersign_protocol::Protocol;
use countersign_run::{InputKind, RunState};
use countersign_runtime::clock::SystemClock;
use countersign_runtime::engine::{Engine, EngineConfig};
use countersign_runtime::run_observer::NoopRunObserver;
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_store::{Store, TenantId};

use super::story::record;

/// What came in for the run of a story.
pub(crate) struct Again {
    protocol: Arc<Protocol>,
    pub(crate) inputs: Vec<InputKind>,
    /// How it ended the first time.
    pub(crate) end: RunState,
}

impl Again {
    /// Tells a story once, to know what comes in.
    pub(crate) async fn of(protocol: &str, story: &str) -> Self {
        let (protocol, inputs, end) = record(protocol, story).await;
        Self { protocol, inputs, end }
    }

    /// An engine over a store.
    pub(crate) fn engine(store: Arc<dyn Store>) -> Engine {
        Engine::open(EngineConfig {
            store,
            clock: Arc::new(SystemClock),
            observer: Arc::new(NoopRunObserver),
            shipped_contracts: Arc::new(load_shipped_contracts()),
            workspace: None,
            tenant: TenantId::default(),
        })
    }

    /// Gives all of it to a new run, and tells how that ends.
    pub(crate) async fn live(&self, engine: &Engine, run: &str) -> RunState {
        for input in &self.inputs {
            match input.clone() {
                InputKind::Start(start) => {
                    engine.start_named_run(run, &self.protocol, *start, None).await.unwrap();
                }
                what => {
                    engine.submit_input(run, what, None).await.unwrap();
                }
            }
        }
        engine.get_run(run).await.unwrap().state.as_ref().clone()
    }
}
