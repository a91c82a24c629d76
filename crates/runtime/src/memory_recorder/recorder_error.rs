//! Why a run was not remembered, or a model not reminded.

use countersign_core::run::CorruptLogError;
use countersign_memory::MemoryScopeError;
use countersign_memory::compose::ComposeError;
use countersign_memory::policy::MemoryPolicyError;
use countersign_memory::render::RenderError;
use countersign_memory::store::{MemoryError, PacketRebuildError};
use countersign_store::StoreError;

use crate::engine::EngineError;

/// Why memory was not used. It is told, and the run goes on.
#[derive(Debug, thiserror::Error)]
pub enum MemoryRecorderError {
    /// The memory could not, or would not.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The run has no scope that memory takes.
    #[error(transparent)]
    Scope(#[from] MemoryScopeError),
    /// The run could not be read.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Its log could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its log is no log.
    #[error(transparent)]
    Corrupt(#[from] CorruptLogError),
    /// The protocol's policy is none.
    #[error(transparent)]
    Policy(#[from] MemoryPolicyError),
    /// No packet could be composed.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// A packet could not be written as text.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A build cannot be composed again.
    #[error(transparent)]
    Rebuild(#[from] PacketRebuildError),
    /// A build does not give the packet it gave.
    #[error("build `{id}` gives another packet now")]
    BuildMismatch {
        /// Which.
        id: String,
    },
}
