//! How a run was started, as far as memory needs it: its scope and its input.

use countersign_memory::MemoryScope;
use countersign_store::RunId;
use serde_json::Value;

use super::MemoryRecorderError;
use crate::engine::{Engine, EngineError};

/// The user of a run that does not record who started it.
const UNKNOWN_USER: &str = "somebody";

/// Maximum number of generations from a run up to its first ancestor.
const MAX_GENERATIONS: usize = 64;

/// The memory scope and the input of a run.
#[derive(Debug, Clone)]
pub struct RunMemoryOrigin {
    /// Scope of the run: the user is who started the first ancestor, the session is the first
    /// ancestor, or the first run of the conversation that it continues, the agent is the protocol.
    pub scope: MemoryScope,
    /// The input that the run was started with, if any.
    pub input: Option<Value>,
    /// Whether the run is never recorded and its prompts get no memory, because memory was disabled
    /// where it was started.
    pub memory_disabled: bool,
}

impl RunMemoryOrigin {
    /// Loads how a run of a protocol was started.
    pub(super) async fn load(
        engine: &Engine,
        run: &RunId,
        protocol: &str,
    ) -> Result<Self, MemoryRecorderError> {
        let missing = || EngineError::RunNotFound { run: run.id.clone(), version: None };
        let own = engine.load_start(run).await?.ok_or_else(missing)?;
        let (mut session, mut by, mut parent) = (run.clone(), own.by, own.parent);
        let mut continues = own.continues;
        for _ in 0..MAX_GENERATIONS {
            let Some(above) = parent.take() else { break };
            session = engine.run_id(above.run);
            // A child may have been imported without its parent.
            let Some(above) = engine.load_start(&session).await? else { break };
            (by, parent) = (above.by.or(by), above.parent);
            continues = above.continues;
        }
        let session = continues.map_or(session.id, |earlier| earlier.session);
        let user = by.filter(|by| !by.trim().is_empty()).unwrap_or_else(|| UNKNOWN_USER.to_owned());
        let tenant = engine.tenant().as_str();
        let scope = MemoryScope::new(tenant, user, protocol, session, run.id.as_str())?;
        Ok(Self { scope, input: own.input, memory_disabled: own.memory_disabled })
    }
}
