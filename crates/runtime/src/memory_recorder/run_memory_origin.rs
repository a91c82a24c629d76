//! How a run began: whose it is, and what it was started with.

use countersign_memory::MemoryScope;
use countersign_store::RunId;
use serde_json::Value;

use super::MemoryRecorderError;
use crate::engine::{Engine, EngineError};

/// Who started a run that does not say.
const UNKNOWN_USER: &str = "somebody";

/// How many generations a family has at most.
const MAX_GENERATIONS: usize = 64;

/// How a run began.
#[derive(Debug, Clone)]
pub struct RunMemoryOrigin {
    /// Its scope: the user is who started the family, the session is its first run, the agent is the
    /// protocol.
    pub scope: MemoryScope,
    /// What it was started with.
    pub input: Option<Value>,
    /// Whether it is never remembered, nor reminded: memory was turned off where it was started.
    pub memory_disabled: bool,
}

impl RunMemoryOrigin {
    /// Reads how a run of a protocol began.
    pub(super) async fn load(
        engine: &Engine,
        run: &RunId,
        protocol: &str,
    ) -> Result<Self, MemoryRecorderError> {
        let missing = || EngineError::RunNotFound { run: run.id.clone(), version: None };
        let own = engine.load_start(run).await?.ok_or_else(missing)?;
        let (mut session, mut by, mut parent) = (run.clone(), own.by, own.parent);
        for _ in 0..MAX_GENERATIONS {
            let Some(above) = parent.take() else { break };
            session = engine.run_id(above.run);
            // A child may have been brought here without its parent.
            let Some(above) = engine.load_start(&session).await? else { break };
            (by, parent) = (above.by.or(by), above.parent);
        }
        let user = by.filter(|by| !by.trim().is_empty()).unwrap_or_else(|| UNKNOWN_USER.to_owned());
        let tenant = engine.tenant().as_str();
        let scope = MemoryScope::new(tenant, user, protocol, session.id, run.id.as_str())?;
        Ok(Self { scope, input: own.input, memory_disabled: own.unremembered })
    }
}
