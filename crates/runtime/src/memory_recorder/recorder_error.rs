//! Why a run was not recorded, or a prompt got no memory.

use countersign_memory::MemoryScopeError;
use countersign_memory::compose::ComposeError;
use countersign_memory::policy::MemoryPolicyError;
use countersign_memory::render::RenderError;
use countersign_memory::store::{MemoryError, PacketRebuildError};
use countersign_run::CorruptLogError;
use countersign_store::StoreError;

use crate::engine::EngineError;

/// Why memory was not used. The engine reports a warning, and the run continues.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryRecorderError {
    /// The memory returned an error or refused.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The run has no valid memory scope.
    #[error(transparent)]
    Scope(#[from] MemoryScopeError),
    /// The run could not be read.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The log of the run could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log of the run is corrupt.
    #[error(transparent)]
    Corrupt(#[from] CorruptLogError),
    /// The memory policy of the protocol is invalid.
    #[error(transparent)]
    Policy(#[from] MemoryPolicyError),
    /// The packet could not be composed.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// The packet could not be rendered as text.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A build cannot be composed again.
    #[error(transparent)]
    Rebuild(#[from] PacketRebuildError),
    /// A build no longer gives the same packet.
    #[error("build `{id}` now produces a different packet")]
    BuildMismatch {
        /// Id of the build.
        id: String,
    },
}
