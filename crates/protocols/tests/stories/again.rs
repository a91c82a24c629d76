//! A story lived again: its inputs given to another run. Models, people, files and sources have answered
//! already, so nothing but the engine and a store takes part.

use std::sync::Arc;

use countersign_contracts::registry;
use countersign_core::protocol::Protocol;
use countersign_core::run::{Incoming, State};
use countersign_runtime::clock::SystemClock;
use countersign_runtime::engine::{Engine, Opened};
use countersign_runtime::watch::Unwatched;
use countersign_store::{Store, TenantId};

use super::story::record;

/// What came in for the run of a story.
pub(crate) struct Again {
    protocol: Arc<Protocol>,
    pub(crate) inputs: Vec<Incoming>,
    /// How it ended the first time.
    pub(crate) end: State,
}

impl Again {
    /// Tells a story once, to know what comes in.
    pub(crate) async fn of(protocol: &str, story: &str) -> Self {
        let (protocol, inputs, end) = record(protocol, story).await;
        Self { protocol, inputs, end }
    }

    /// An engine over a store.
    pub(crate) fn engine(store: Arc<dyn Store>) -> Engine {
        Engine::open(Opened {
            store,
            clock: Arc::new(SystemClock),
            watch: Arc::new(Unwatched),
            shipped: Arc::new(registry()),
            workspace: None,
            tenant: TenantId::default(),
        })
    }

    /// Gives all of it to a new run, and tells how that ends.
    pub(crate) async fn live(&self, engine: &Engine, run: &str) -> State {
        for input in &self.inputs {
            match input.clone() {
                Incoming::Start(start) => {
                    engine.start(run, &self.protocol, *start, None).await.unwrap();
                }
                what => {
                    engine.give(run, what, None).await.unwrap();
                }
            }
        }
        engine.look(run).await.unwrap().state.as_ref().clone()
    }
}
